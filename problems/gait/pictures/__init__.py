"""Pictures and films of a walk."""
