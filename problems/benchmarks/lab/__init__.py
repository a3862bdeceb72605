"""A gait laboratory's files, analysed by this package and by other programs."""
