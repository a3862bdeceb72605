"""Models of OpenSim's files (.osim), of versions 1 to 4, read by Python's own XML."""
