"""The commands: run, study, compare, verify, view, list, completion."""
