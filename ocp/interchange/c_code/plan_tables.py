"""Tables of a prepared plan for its motions in C: patterns, scales, bounds, fronts and basis."""

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

import casadi as ca
import numpy as np

from ocp.codegen.c_source import c_array, c_number, with_dense_outputs
from ocp.interior_point.sparse_systems import Augmented, FrontPlan
from ocp.mechanics.values.parameters import is_open
from ocp.motion.basis import Array
from ocp.motion.spline import BSpline
from ocp.problem.phases.phase_problems import refuse_phases
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.solvers.nlp import graph_of
from ocp.solving.plan import Plan, on_virtual_kernels
from ocp.solving.real_time import Line, Running, begin_steps, values_at_solution
from ocp.solving.real_time_newton import Interior
from ocp.transcription.variables.layout import duration_at, free_duration

FRONT = ("child", "next", "pivots", "width", "wide", "own", "beside", "runs", "run_count")
STORED = ("square", "rest", "left", "waited", "entries")
WIDE, TALL = 36, 52  # vectors of variables and of rows that a search in C works on


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgram:
    """Plan on CasADi's own graphs, its first guess, values of its parameters at the first point,
    what steps share, that point, the factorisation, and functions by their names in C, whose rows
    and slopes of f are dense."""

    plan: Plan
    guess: Array
    values: Array
    run: Running
    first: Interior
    system: Augmented
    functions: Mapping[str, ca.Function]

    @property
    def basis(self) -> BSpline:
        """The basis of the motion."""
        return cast(BSpline, self.problem.motion)

    @property
    def problem(self) -> Problem:
        """The problem on the basis of the program."""
        return self.plan.transcribed.parts[0].layout.problem


def step_program(plan: Plan, former: Solution) -> StepProgram:
    """Return the program of a plan's steps from a solution.

    Raises:
        ValueError: the plan is none whose steps have a word in C.
    """
    refuse_phases("export_c", plan.problem, "write each phase")
    virtual = on_virtual_kernels(plan)
    (part,) = virtual.transcribed.parts
    problem = part.layout.problem
    if not isinstance(problem.motion, BSpline) or problem.motion.moving:
        raise ValueError("export_c: expected a plan on a BSpline whose knots are given")
    if problem.tree.balls:
        raise ValueError("export_c: no word for balls in the motion of a plan")
    if is_open(list(part.statement.duration)):
        raise ValueError("export_c: expected a duration, or bounds of it, that are numbers")
    run, first = begin_steps(virtual.transcribed, plan.solver.hessian, former)
    system = run.core.stage.system
    if not isinstance(system, Augmented):
        raise ValueError(
            "export_c: factors of a plan are planned by compiled code, and no C compiler is found"
        )
    nlp = run.core.program.nlp
    return StepProgram(
        plan=virtual,
        guess=np.asarray(virtual.transcribed.guess, dtype=float),
        values=values_at_solution(virtual.transcribed, former),
        run=run,
        first=first,
        system=system,
        functions={
            "constraints": with_dense_outputs(graph_of(nlp.constraints), (0,)),
            "gradient": with_dense_outputs(nlp.gradient, (1,)),
            "jacobian": with_dense_outputs(nlp.jacobian, (0,)),
            "hessian": run.core.program.patterns.hessian,
            "bounds": run.bounds.evaluate.function,
        },
    )


def plan_tables(program: StepProgram) -> str:
    """Return the C text of sizes and constant tables that steps and searches work on."""
    core, first = program.run.core, program.first
    scaled, bounds = core.program, program.run.bounds
    patterns, shift = scaled.patterns, program.run.shift
    kept = np.arange(program.functions["jacobian"].nnz_out(1))[patterns.kept]
    basis, problem = program.basis, program.problem
    lines = {"row_line": shift.rows, "variable_line": shift.variables}
    through = basis.through(lambda s, order: np.eye(len(s)))
    timed = free_duration(problem)
    duration = duration_at(program.plan.transcribed.parts[0].layout, core.variables(first))
    whole = {
        "moving": patterns.moving, "fixed": patterns.fixed, "order": patterns.order,
        "kept": kept, "curved": patterns.hessian_kept, "entry_row": scaled.jacobian.rows,
        "entry_column": scaled.jacobian.columns, "given": bounds.given,
        "open_row": bounds.rows, "row_source": bounds.row_source,
        "variable_source": bounds.source,
        "entry_i": program.system.row - 1, "entry_j": program.system.column - 1,
    }  # fmt: skip
    numbers = {
        "first_scale": scaled.scales, "knot": basis.knot_vector, "guess_x": program.guess,
        "abscissa": basis.nodes, "through": through.ravel(), "first_values": program.values,
        "first_x": core.variables(first), "first_v": first.v, "first_y": first.y,
        "first_z_lower": first.z_lower, "first_z_upper": first.z_upper,
        "least_value": program.run.least, "most_value": program.run.most,
        "closed_lower": bounds.lower, "closed_upper": bounds.upper,
        "closed_g_lower": bounds.closed[0], "closed_g_upper": bounds.closed[1],
        "constant": bounds.constant, "factor": bounds.factor,
    }  # fmt: skip
    return "".join(
        [
            _constants(
                {
                    **sizes_of(program),
                    "OPEN_ROWS": len(bounds.rows),
                    "DEGREE": basis.degree,
                    "OPEN_VARIABLES": len(bounds.variables),
                    "GIVEN": len(bounds.given),
                    "FREE": bounds.layout.free,
                    "TIMED": int(timed),
                    "FIXED": len(patterns.fixed),
                    **{f"{name.upper()}S": len(each) for name, each in lines.items()},
                    **_places(program.system),
                }
            ),
            f"static const double first_objective_scale = {c_number(scaled.f_scale)};\n",
            f"static const double DURATION = {c_number(duration)};\n",
            f"static const double SHORTEST = {c_number(float(problem.duration[0]))};\n",
            *(_whole_numbers(name, each) for name, each in whole.items()),
            _whole_numbers("open_variable", bounds.variables),
            *(c_array(name, each.tolist()) for name, each in numbers.items()),
            *(_line_table(name, each) for name, each in lines.items()),
            _front_tables(program.system.front_plan(), program.system),
        ]
    )


def sizes_of(program: StepProgram) -> dict[str, int]:
    """Return the sizes of a state of the steps by their names in C."""
    scaled, functions = program.run.core.program, program.functions
    nlp, system = scaled.nlp, program.system
    work = [
        max(each)
        for each in zip(
            *((f.sz_arg(), f.sz_res(), f.sz_iw(), f.sz_w()) for f in functions.values())
        )
    ]
    longest = max(
        (len(each.s) for each in (*program.run.shift.rows, *program.run.shift.variables)), default=0
    )
    return {
        "COORDINATES": program.problem.tree.dof, "POINTS": program.basis.points,
        "PARAMETERS": len(program.plan.parameters),
        "WHOLE": len(nlp.lower), "CONSTRAINTS": len(nlp.g_lower), "VARIABLES": scaled.variables,
        "SIZE": scaled.size, "ROWS": scaled.rows, "EQUALITIES": scaled.equalities,
        "KEPT": len(scaled.jacobian.rows), "CURVED": len(scaled.curvature.rows),
        "UNKNOWNS": system.unknowns, "ENTRIES": len(system.row), "FACTORS": len(system.factors),
        "SEARCH": WIDE * scaled.size + TALL * scaled.rows,
        "ROOM": system.front_plan().sizes["room"], "SIDES": functions["bounds"].size1_out(0),
        "RAW": max(functions["jacobian"].nnz_out(1), functions["hessian"].nnz_out(0), longest),
        **dict(zip(("ARGUMENTS", "RESULTS", "WHOLE_WORK", "WORK"), work)),
    }  # fmt: skip


def _places(system: Augmented) -> dict[str, int]:
    """Return the beginning of each part of the entries of a system."""
    names = (None, "AT_DIAGONAL", "AT_JACOBIAN", "AT_SLACKS", "AT_ROWS")
    return {name: part.start for name, part in zip(names, system.parts) if name}


def _front_tables(plan: FrontPlan, system: Augmented) -> str:
    sizes = plan.sizes
    records = [
        "{" + ", ".join(f".{name} = {value}" for name, value in zip((*FRONT, *STORED), line)) + "}"
        for line in plan.fronts.tolist()
    ]
    runs = ["{" + ", ".join(map(str, line)) + "}" for line in plan.runs.tolist()]
    return "".join(
        [
            f"static Front plan_front[] = {{{_wrap(records)}}};\n",
            f"static Run plan_run[] = {{{_wrap(runs or ['{0}'])}}};\n",
            f"static int plan_list[] = {{{_wrap(map(str, plan.rows.tolist()))}}};\n",
            f"static char plan_dual[] = {{{_wrap(map(str, system.dual.tolist()))}}};\n",
            f"static int plan_entry[] = {{{_wrap(map(str, plan.entries.tolist()))}}};\n",
            f"static int64_t plan_place[] = {{{_wrap(map(str, plan.places.tolist()))}}};\n",
            "static const Plan plan = {\n"
            f"    .pattern = {{.n = {system.unknowns}, .entries = {len(system.row)}}},\n"
            f"    .fronts = {sizes['fronts']}, .most_pivots = {sizes['most_pivots']},\n"
            f"    .most_wide = {sizes['most_wide']}, .size = {sizes['stored']},\n"
            f"    .pile = {sizes['pile']}, .front = plan_front, .run = plan_run,\n"
            "    .list = plan_list, .dual = plan_dual,\n"
            "    .entry = plan_entry, .place = plan_place};\n",
        ]
    )


def _line_table(name: str, lines: Iterable[Line]) -> str:
    lines = [*lines]
    parts = [
        _whole_numbers(f"{name}_places{k}", each.places)
        + c_array(f"{name}_instants{k}", each.s.tolist())
        for k, each in enumerate(lines)
    ]
    records = [
        f"{{{name}_places{k}, {name}_instants{k}, {len(each.s)}}}" for k, each in enumerate(lines)
    ]
    return "".join(parts) + f"static const Line {name}[] = {{{_wrap(records or ['{0}'])}}};\n"


def _constants(sizes: Mapping[str, int]) -> str:
    """Return the C text of whole constants."""
    return "enum {\n" + "".join(f"    {name} = {size},\n" for name, size in sizes.items()) + "};\n"


def _whole_numbers(name: str, values: Array) -> str:
    """Return the definition of a constant array of whole numbers, of one zero without any."""
    numbers = _wrap(map(str, values.tolist())) or "0"
    return f"static const int {name}[] = {{{numbers}}};\n"


def _wrap(words: Iterable[str]) -> str:
    return textwrap.fill(", ".join(words), 100)
