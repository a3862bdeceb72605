"""Files of C3D: markers, analog channels, force plates."""
