"""Signals and garbage collection of the command line; programs of users are left alone."""

import gc
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

COMMAND = "ocp"
ENTRY = "from ocp.cli.main import command"  # a line of the script that installers write
RARELY = 5_000  # new objects after which a command collects garbage


def _is_command() -> bool:
    """Tell whether this interpreter was started as the command line.

    That is `python -m ocp`, `python -m ocp.problems.NAME`, or the script `ocp` of the installation.
    """
    if sys.argv[:1] == ["-m"]:  # while Python looks for the module
        module = sys.orig_argv[-len(sys.argv)].removeprefix("-m")
        return module.partition(".")[0] == COMMAND
    script = Path(sys.argv[0]) if sys.argv else Path()
    if script.name != COMMAND or not script.is_file():
        return False
    return ENTRY in script.read_text(encoding="utf-8", errors="replace")


AS_COMMAND = _is_command()


def end_in_silence() -> None:
    """Let Ctrl-C end a program at once while it loads, unless it has a handler of its own."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def collect_rarely() -> Iterator[None]:
    """Collect garbage rarely within a `with` block.

    A command's records and graphs last, and searching them again and again doubles its time.
    """
    before = gc.get_threshold()
    gc.set_threshold(RARELY, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def hear_interrupts() -> None:
    """Make Ctrl-C a KeyboardInterrupt again, if `end_in_silence` changed that."""
    if AS_COMMAND and signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
