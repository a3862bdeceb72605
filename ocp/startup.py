"""Signals and memory of the command line: nothing of it happens in a program of the user's own."""

import gc
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

COMMAND = "ocp"
ENTRY = "from ocp.cli.main import command"  # in the script that installers write for it
SELDOM = 5_000  # new objects after which a command collects garbage


def _is_command() -> bool:
    """Tell whether this interpreter was started as the command line.

    That is `python -m ocp`, `python -m ocp.problems.NAME`, or the script `ocp` of the installation.
    """
    if sys.argv[:1] == ["-m"]:  # as long as Python looks for the module
        module = sys.orig_argv[-len(sys.argv)].removeprefix("-m")
        return module.partition(".")[0] == COMMAND
    script = Path(sys.argv[0]) if sys.argv else Path()
    if script.name != COMMAND or not script.is_file():
        return False
    return ENTRY in script.read_text(encoding="utf-8", errors="replace")


AS_COMMAND = _is_command()


def end_in_silence() -> None:
    """Let Ctrl-C end a program that still loads at once: there is nothing to tell of it yet.

    Nothing changes where somebody else hears the signal.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Let Python collect garbage seldom: records and graphs that a command makes last, and half of
    the time that goes by while they are looked through again and again is saved."""
    before = gc.get_threshold()
    gc.set_threshold(SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def hear_interrupts() -> None:
    """Make Ctrl-C a KeyboardInterrupt again, if `end_in_silence` changed that."""
    if AS_COMMAND and signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
