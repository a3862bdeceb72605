"""Reports and pictures of a lift."""
