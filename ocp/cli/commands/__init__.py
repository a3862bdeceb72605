"""The commands: run, study, compare, list, papers, verify, view, app, completion."""
