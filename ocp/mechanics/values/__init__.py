"""Numbers of a model: parameters, validation, units, types."""
