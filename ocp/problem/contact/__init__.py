"""Contact with the ground: feet, unscheduled contacts, force laws, reactions."""
