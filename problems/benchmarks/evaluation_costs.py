"""Costs of evaluating a program's derivatives, and the share of the kernels.

    python -m problems.benchmarks.evaluation_costs [--of effort,walk,lifting] [--kernels auto]
        [--old DIRECTORY]

In milliseconds of processor time, medians of functions evaluated by turns in one run. With the
directory of an older checkout, whose functions are made there by the same Python and loaded here,
its times beside, of compiled kernels unless ours are on the virtual machine. Its gait is that of
effort alone where it knows no other.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import casadi as ca

from ocp import Problem, Transcription
from ocp.problems import gait, lifting
from ocp.problems.benchmarks.derivative_costs import microseconds
from ocp.transcription import KERNELS, TranscribedPhase, map_function, transcribe_phase

LONGEST = 1800  # s that another checkout may take
PARTS = ("jacobian", "hessian", "gradient")
STATED = {"effort": gait.effort_step, "walk": gait.problem, "lifting": lifting.TASK.problem}
ELSEWHERE = """
import sys
name, compiled, folder = sys.argv[1], sys.argv[2] == "True", sys.argv[3]
try:
    from ocp.transcription import Transcription, transcribe_phase
    from ocp.problems import gait, lifting
    stated = {"effort": gait.effort_step, "walk": gait.problem,
              "lifting": lambda: lifting.TASK.problem()}[name]()
except ImportError:  # of the first house, whose only gait is that of effort
    from ocp.transcribe import Transcription, transcribe_phase
    from problems.gait import problem
    stated = problem()
nlp = transcribe(stated, Transcription(compiled=compiled)).nlp
for part, function in (("jacobian", nlp.jacobian), ("hessian", nlp.hessian("exact")),
                       ("gradient", nlp.gradient)):
    function.save(f"{folder}/{part}.casadi")
"""


def wholes(made: TranscribedPhase) -> dict[str, ca.Function]:
    """Return {derivative: its Function} of a program, as its solver is given them."""
    nlp: Any = made.nlp
    return {"jacobian": nlp.jacobian, "hessian": nlp.hessian("exact"), "gradient": nlp.gradient}


def kernels(made: TranscribedPhase, kind: str) -> dict[str, list[ca.Function]]:
    """Return {derivative: the kernels of it, each mapped over its instants} of a program."""
    rows, terms = made.groups, made.objective_blocks
    kept = {
        "jacobian": [(each.kernel.jacobian, each.s) for each in rows],
        "hessian": [(each.kernel.hessian("exact")[0], each.s) for each in (*terms, *rows)],
        "gradient": [(each.kernel.jacobian, each.s) for each in terms],
    }
    return {
        part: [
            map_function(function, len(s), assembled=kind == "assembled")
            for function, s in each
            if function.nnz_out()
        ]
        for part, each in kept.items()
    }


def elsewhere(directory: Path, name: str, compiled: bool) -> dict[str, ca.Function]:
    """Return {derivative: its Function} as a checkout in another directory makes it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", ELSEWHERE, name, str(compiled), folder]
        environment = _environment(directory)
        subprocess.run(command, cwd=directory, env=environment, check=True, timeout=LONGEST)
        return {part: ca.Function.load(f"{folder}/{part}.casadi") for part in PARTS}


def _environment(directory: Path) -> Mapping[str, str]:
    return os.environ | {"PYTHONPATH": str(directory)}


def costs(problem: Problem, old: Mapping[str, ca.Function], kind: str) -> Iterator[list]:
    """Yield [derivative, kernels, whole, old whole or None] of a problem's program (ms)."""
    made = transcribe_phase(problem, Transcription(kernels=kind))
    ours, parts = wholes(made), kernels(made, made.kernels())
    for part in PARTS:
        functions = [ours[part], *([old[part]] if old else []), *parts[part]]
        times = [each / 1000 for each in microseconds(functions)]
        first = 2 if old else 1
        yield [part, sum(times[first:]), times[0], times[1] if old else None]


def shown(name: str, lines: Sequence[list]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield f"{name:10} kernels (ms)  whole (ms)  whole / kernels  old (ms)  whole / old"
    for part, own, whole, old in lines:
        beside = "" if old is None else f"{old:10.3f}{whole / old:13.2f}"
        yield f"{part:10}{own:13.3f}{whole:12.3f}{whole / own:17.2f}{beside}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--of", default=",".join(STATED), help="problems, separated by commas")
    parser.add_argument("--kernels", default="auto", choices=KERNELS, help="what evaluates them")
    parser.add_argument("--old", type=Path, help="the directory of an older checkout")
    given = parser.parse_args(arguments)
    for name in given.of.split(","):
        if name not in STATED:
            parser.error(f"of: expected some of {', '.join(STATED)}, got {name!r}")
        old = elsewhere(given.old, name, given.kernels != "virtual") if given.old else {}
        lines = list(costs(STATED[name](), old, given.kernels))
        print("\n".join(shown(name, lines)), flush=True)


if __name__ == "__main__":
    main()
