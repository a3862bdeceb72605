"""The interior point as a Backend of the house: options, iterates that are shown, the Answer."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ocp.interior_point.interior_point import Search
from ocp.interior_point.interior_point import Settings as SearchSettings
from ocp.interior_point.iterate import Point, residuals
from ocp.interior_point.kernels.compiled_products import fastest_engine
from ocp.interior_point.linear_system import Stated, begin, with_least
from ocp.interior_point.program import Program
from ocp.interior_point.restoration import restoration
from ocp.solvers.backend import Answer, Backend, See, Settings, Start
from ocp.solvers.nlp import NLP, Iterate
from ocp.solvers.plugins import WARM

NAME = "structured"
COLD: dict[str, float] = {
    "tol": 1e-8,
    "max_iter": 3000,
    "max_wall_time": 1e20,
    "mu_init": 0.1,
    "mu_min": np.inf,
    "acceptable_tol": 1e-6,
    "bound_push": 1e-2,
    "bound_frac": 1e-2,
}
DONE = "Solve_Succeeded"
ACCEPTABLE = "Solved_To_Acceptable_Level"
STUCK = ("Restoration_Failed", "Search_Direction_Becomes_Too_Small", "Maximum_Iterations_Exceeded")


def check(options: Mapping[str, Any]) -> None:
    """Raise ValueError for an option that it does not know, and for what is no positive number."""
    for name, value in options.items():
        if name not in COLD:
            raise ValueError(f"it knows {', '.join(COLD)}, not {name}")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"expected a number, got {value!r}")
        if not (value > 0 or (name == "max_iter" and value == 0)):
            raise ValueError(f"expected a positive number, got {value!r}")


def prepare(nlp: NLP, solver: Settings, start: Start, see: See) -> Callable[[], Answer]:
    """Return what solves an NLP by the interior point.

    That raises ValueError where the program has no core small enough for dense factors.
    """
    given = COLD | (WARM[NAME] if start.warm else {}) | dict(solver.options)
    products = fastest_engine()
    program = Program(nlp, solver.hessian, np.array(start.x, dtype=float).ravel(), products)
    settings = SearchSettings(
        tol=given["tol"],
        max_iter=int(given["max_iter"]),
        max_wall_time=given["max_wall_time"],
        mu_init=given["mu_init"],
        mu_min=given["mu_min"],
    )

    def run() -> Answer:
        stated = Stated(program, products)
        began = time.perf_counter()

        def show(point: Point) -> bool:
            return see(point.f / program.f_scale, told(program, point))

        def left() -> SearchSettings:
            spent = time.perf_counter() - began
            return replace(
                settings,
                max_iter=settings.max_iter - search.count,
                max_wall_time=settings.max_wall_time - spent,
            )

        search = Search(
            stated,
            settings,
            show,
            restoration(stated, show, left),
            renew=lambda point: with_least(stated, point),
        )
        try:
            ending = search.run(begin(stated, start, given))
        finally:
            search.restore = None  # it knows the search, and both would stay in memory
        point, status = ending.point, ending.status
        if status in STUCK and residuals(point).error(0.0) <= given["acceptable_tol"]:
            status = ACCEPTABLE
        return Answer(
            iterate=told(program, point),
            status=status,
            success=status in (DONE, ACCEPTABLE),
            iterations=search.count,
            calls={name: (each.calls, each.seconds) for name, each in program.evaluated.items()},
        )

    return run


def told(program: Program, point: Point) -> Iterate:
    """Return a point as an Iterate of the NLP."""
    return program.iterate(point.v, point.y, point.z)


BACKEND = Backend(
    name=NAME,
    prepare=prepare,
    check=check,
    hessians=("exact", "gauss-newton"),
    shared=tuple(COLD),
)
