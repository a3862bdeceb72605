"""Open parameters of a problem and derivatives by them."""
