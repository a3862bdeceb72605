"""Models of URDF: reader and writer."""
