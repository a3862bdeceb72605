"""An interior point of ours whose linear systems have a small dense core, on numpy alone."""
