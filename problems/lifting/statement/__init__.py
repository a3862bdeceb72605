"""Statement of a lift: body, box, constraints, objective."""
