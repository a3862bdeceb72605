"""Progress messages of long work, for a listener; by default there is none."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


def say(words: str) -> None:
    """Tell the listener what begins, as "builds graphs"."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(words)


@contextmanager
def listen(listener: Callable[[str], None] | None) -> Iterator[None]:
    """Send progress messages within a `with` block to a listener."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)
