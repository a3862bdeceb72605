"""Variables of the program: layout, bounds, units, sharing, free knots."""
