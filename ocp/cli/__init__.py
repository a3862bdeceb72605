"""The command line: run a task, study it, compare solvers on it."""
