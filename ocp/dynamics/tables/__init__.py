"""Dynamics tabulated over configurations and interpolated by splines."""
