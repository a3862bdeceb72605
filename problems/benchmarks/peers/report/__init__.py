"""Tables and pictures of the comparison with peers."""
