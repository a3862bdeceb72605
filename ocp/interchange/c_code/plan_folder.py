"""Search and steps in real time of a prepared plan as a folder of C99: source, tables, a check."""

from pathlib import Path
from string import Template

import numpy as np

from ocp.codegen.c_source import c_array, casadi_source
from ocp.interchange.c_code.plan_tables import (
    StepProgram,
    plan_tables,
    sizes_of,
    step_program,
)
from ocp.solution.solution import Solution
from ocp.solvers import fronts
from ocp.solving.plan import Plan
from ocp.solving.real_time import take_step
from ocp.storage.atomic_files import bytes_of
from ocp.version import VERSION

OWN, FRONTS = Path(__file__).with_name("real_time"), Path(fronts.__file__).parent
HEADERS = {
    FRONTS: ("fronts.h", "kernels.h", "factor.h"),
    OWN: ("newton_steps.h", "filter_search.h"),
}  # as they are
SEED, MOVES = 20062, 12  # of a folder's check
SHIFTED = 0.02  # share of a parameter's range, or of its size, and of the duration that passes
TOLERANCE = 1e-11  # of variables: compilers order sums differently
MET = 1e-6  # largest violation of a bound where a search has ended: bounds are relaxed by 1e-8


def plan_files(plan: Plan, former: Solution, name: str) -> dict[str, str]:
    """Return the files {name: text} of a plan's search, and of its steps from a solution, whose
    names begin with `name`."""
    program = step_program(plan, former)
    known = ", ".join(f"{each.name} ({each.unit or '1'})" for each in plan.parameters) or "none"
    rows = ", ".join(joint.name for joint in plan.problem.tree.moving)
    words = {
        **{word: str(max(1, size)) for word, size in sizes_of(program).items()},
        "PARAMETERS": str(len(plan.parameters)),
        "name": name,
        "upper": name.upper(),
        "version": VERSION,
        "parameters": known.replace("*/", "* /"),
        "coordinates": rows.replace("*/", "* /"),
        **_moves(program, former),
    }
    open_files = {"plan.c": f"{name}.c", "plan.h": f"{name}.h", "main.c": "main.c"}
    open_files |= {"check.c": "check.c"}
    return {
        "tables.h": plan_tables(program),
        "functions.c": casadi_source(program.functions, name),
        **{
            each: bytes_of(folder / each).decode()
            for folder, names in HEADERS.items()
            for each in names
        },
        **{
            file: Template(bytes_of(OWN / each).decode()).substitute(words)
            for each, file in open_files.items()
        },
    }


def _moves(program: StepProgram, former: Solution) -> dict[str, str]:
    """Return the moves of a folder's check and the variables after each, as C text."""
    random, plan = np.random.default_rng(SEED), program.plan
    own = np.array([each.value for each in plan.parameters])
    ends = np.array([(each.lower, each.upper) for each in plan.parameters]).reshape(-1, 2)
    ranges = np.where(np.isfinite(ends).all(axis=1), ends[:, 1] - ends[:, 0], np.abs(own))
    values, variables, passed = [], [], []
    for number in range(MOVES):
        moved = own + SHIFTED * ranges * random.uniform(-1.0, 1.0, len(own))
        values.append(np.clip(moved, ends[:, 0], ends[:, 1]))
        passed.append(SHIFTED * former.duration * (number % 3 == 2))
        turn = plan.transcribed, plan.solver.hessian, former, values[-1], passed[-1]
        variables.append(take_step(*turn).x)
    arrays = {
        "own": program.values,
        "values": np.ravel(values),
        "passed": np.array(passed),
        "x": np.ravel(variables),
    }
    return {
        "arrays": "".join(c_array(name, each.tolist()) for name, each in arrays.items()),
        "steps": str(MOVES),
        "tolerance": repr(TOLERANCE),
        "met": repr(MET),
    }
