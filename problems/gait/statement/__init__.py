"""Statement of a step: contact schedule, constraints, objective."""
