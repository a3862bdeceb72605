"""Bodies in pictures: stick figures, solids, scenery, animation, viewer."""
