"""Requirements of error messages."""

import re

import pytest


def refused(message):
    """Expect a ValueError whose message starts so."""
    return pytest.raises(ValueError, match="^" + re.escape(message))
