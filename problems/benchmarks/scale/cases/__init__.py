"""Systems and programs of the growth tables."""
