"""What stands at the very start of the house's own programs, before anything else loads."""

import gc
import signal
import sys
from itertools import pairwise

PROGRAMS = ("ocp", "problems")
SELDOM = 5_000  # objects more than before, and rubbish is looked for; with more memory grows


def is_program() -> bool:
    """Tell whether this interpreter was started to run a program of the house.

    `ocp ...`, `python -m ocp ...`, `python -m ocp.problems.NAME`, `python -m problems.NAME`.
    """
    words = sys.orig_argv[1:]
    module = next((name for flag, name in pairwise(words) if flag == "-m"), "")
    script = words[0].rpartition("/")[2] if words else ""
    return module.partition(".")[0] in PROGRAMS or (not module and script in PROGRAMS)


def end_in_silence() -> None:
    """Let Ctrl-C end a program that still loads at once: there is nothing to tell of it yet.

    Nothing changes where somebody else hears the signal.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def collect_seldom() -> None:
    """Let Python look for rubbish seldom: records and graphs that a program makes last, and half of
    the time that goes by while they are looked through again and again is saved."""
    gc.set_threshold(SELDOM, *gc.get_threshold()[1:])


def hear_interrupts() -> None:
    """Make Ctrl-C a KeyboardInterrupt again, if `end_in_silence` changed that."""
    if is_program() and signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
