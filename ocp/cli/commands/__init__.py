"""The commands: run, walk, study, compare, list, papers, verify, view, model, app, completion."""
