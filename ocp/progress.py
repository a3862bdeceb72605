"""What long work is doing, said to whoever listens; by default nobody does."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


def say(words: str) -> None:
    """Tell the listener what is done from now on, as "builds graphs"."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(words)


@contextmanager
def listen(listener: Callable[[str], None] | None) -> Iterator[None]:
    """Hand everything that is said inside to a listener."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)
