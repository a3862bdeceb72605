"""Interior point as a solver Backend: options, iterates that it shows, and its Answer."""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ocp.interior_point.condensed_systems import Condensed
from ocp.interior_point.interior_point import Search
from ocp.interior_point.interior_point import Settings as SearchSettings
from ocp.interior_point.iterate import Point, residuals
from ocp.interior_point.kernels.native_kernels import fastest_engine
from ocp.interior_point.restoration import make_restoration
from ocp.interior_point.scaled_program import Patterns, Program, bound_roles
from ocp.interior_point.system_and_initial_point import (
    ProgramStage,
    initial_point,
    initial_variables,
    with_least_squares_multipliers,
)
from ocp.solvers.casadi_plugins import WARM
from ocp.solvers.nlp import NLP, Options
from ocp.solvers.solver_backend import Answer, Backend, See, Settings, Start

NAME = "structured"
COLD: dict[str, float | str] = {
    "mu_strategy": "adaptive",
    "tol": 1e-8,
    "max_iter": 3000,
    "max_wall_time": 1e20,
    "mu_init": 0.1,
    "mu_min": np.inf,
    "acceptable_tol": 1e-6,
    "bound_push": 1e-2,
    "bound_frac": 1e-2,
}
STRATEGIES = "adaptive", "monotone"
DONE = "Solve_Succeeded"
ACCEPTABLE = "Solved_To_Acceptable_Level"
STUCK = ("Restoration_Failed", "Search_Direction_Becomes_Too_Small", "Maximum_Iterations_Exceeded")


def check(options: Options) -> None:
    """Raise ValueError for an unknown option, and for a value that it cannot have."""
    for name, value in options.items():
        if name not in COLD:
            raise ValueError(f"it knows {', '.join(COLD)}, not {name}")
        if name == "mu_strategy":
            if value not in STRATEGIES:
                raise ValueError(f"expected {' or '.join(STRATEGIES)}, got {value!r}")
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"expected a number, got {value!r}")
        if not (value > 0 or (name == "max_iter" and value == 0)):
            raise ValueError(f"expected a positive number, got {value!r}")


def prepare(nlp: NLP, solver: Settings, start: Start, see: See) -> Callable[[], Answer]:
    """Return the interior point's solver of an NLP.

    Patterns and the basis of eliminated rows are kept with the NLP, except while a search uses
    them. Raises Unsuited for a program whose core is too large for dense factors, if there is no
    compiler for sparse ones.
    """
    options = COLD | (WARM[NAME] if start.warm else {}) | dict(solver.options)
    roles = (each.tobytes() for each in bound_roles(nlp))
    key = NAME, solver.hessian, fastest_engine(), *roles, *map(id, nlp.functions)
    ready = nlp.made.pop(key, None)
    condensed = ready[0] if ready else Condensed(Patterns(nlp, solver.hessian, fastest_engine()))
    program = Program(nlp, np.array(start.x, dtype=float).ravel(), condensed.patterns)
    pushed = options["bound_push"] >= options["mu_init"]  # away from bounds as it is
    settings = SearchSettings(
        adaptive=options["mu_strategy"] == "adaptive",
        tol=options["tol"],
        max_iter=int(options["max_iter"]),
        max_wall_time=options["max_wall_time"],
        mu_init=options["mu_init"],
        mu_min=options["mu_min"],
        near=start.warm and not pushed,
    )

    v = initial_variables(program, start, options)
    stage = ProgramStage(program, condensed, program.derivatives(v).entries)

    def solve() -> Answer:
        began = time.perf_counter()

        def show(point: Point) -> bool:
            return see(point.f / program.f_scale, program.iterate(point.v, point.y, point.z))

        def remaining_settings() -> SearchSettings:
            spent = time.perf_counter() - began
            return replace(
                settings,
                max_iter=settings.max_iter - search.count,
                max_wall_time=settings.max_wall_time - spent,
            )

        search = Search(
            stage,
            settings,
            show,
            make_restoration(stage, show, remaining_settings),
            renew=lambda point: with_least_squares_multipliers(stage, point),
            follow=program.with_slacks_at_rows,
        )
        try:
            mu = 0.0 if pushed else settings.mu_init
            result = search.search_from(initial_point(stage, start, v, mu))
        finally:
            search.restore = None  # it refers to the search, and both would stay in memory
            nlp.keep(key, (condensed, nlp.functions))
        point, status = result.point, result.status
        if status in STUCK and residuals(point).error(0.0) <= options["acceptable_tol"]:
            status = ACCEPTABLE
        return Answer(
            iterate=program.iterate(point.v, point.y, point.z),
            status=status,
            success=status in (DONE, ACCEPTABLE),
            iterations=search.count,
            calls={name: (each.calls, each.seconds) for name, each in program.evaluators.items()},
        )

    return solve


BACKEND = Backend(
    name=NAME, prepare=prepare, check=check, hessians=("exact", "gauss-newton"), shared=tuple(COLD)
)
