"""Models of MJCF, compiled by MuJoCo."""
