"""Arms of serial links."""
