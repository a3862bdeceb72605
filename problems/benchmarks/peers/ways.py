"""The settings that every system is tried with, from coarse to fine."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ocp.problems.benchmarks.peers.tasks import ROBOTS

FATROP = (10, 15, 20, 30, 40)  # intervals of its meshes
SECONDS = 0.5  # that each function of a robot is timed for


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Settings of a `system` for a `task`, of which one, named `key`, takes several `sizes`."""

    task: str
    system: str
    name: str
    key: str
    sizes: tuple[Any, ...]
    settings: dict[str, Any] = field(default_factory=dict)

    def rows(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield every size and the settings with it."""
        yield from ((size, self.settings | {self.key: size}) for size in self.sizes)


def _way(task: str, system: str, name: str, key: str, *sizes: int, **settings: Any) -> Way:
    return Way(task=task, system=system, name=name, key=key, sizes=sizes, settings=settings)


def _two_links() -> Iterator[Way]:
    way = partial(_way, "two_link_time")
    meshes = (20, 30, 40, 50, 60, 80, 100)
    yield way("ocp", "Radau, order 3", "intervals", 12, *meshes, method="radau", order=3)
    yield way("ocp", "Hermite-Simpson", "intervals", *meshes, method="hermite-simpson")
    yield way("ocp", "cubic spline", "points", 22, 42, 102, method="spline")
    yield way("ocp", "free knots, degree 5", "points", 24, method="spline", degree=5, knots="free")
    yield way("ocp", "four arcs, degree 7", "points", 8, 10, 12, method="arcs", degree=7)
    yield way(
        "ocp",
        "free intervals, constant torques",
        "intervals",
        *(4, 5, 6),
        method="radau",
        order=6,
        lengths="free",
        controls="constant",
        derivatives="ad",
    )
    yield way("rockit", "shooting", "intervals", 25, 50, 60, 75, 100, 200, method="shooting")
    yield way("rockit", "collocation", "intervals", 25, 50, 75, 100, method="collocation")
    yield way("rockit", "free grid", "intervals", 4, 6, 8, method="shooting", free=True, steps=10)
    yield way("moco", "Hermite-Simpson", "intervals", 25, 50, 100, 200, scheme="hermite-simpson")
    yield way(
        "moco",
        "Hermite-Simpson, controls free within",
        "intervals",
        *(25, 30, 40, 50, 100),
        scheme="hermite-simpson",
        straight=False,
    )
    yield way(
        "moco",
        "Radau, order 3, controls free within",
        "intervals",
        *(20, 25, 30, 40, 50, 100),
        scheme="legendre-gauss-radau-3",
        straight=False,
    )
    yield way(
        "moco", "implicit dynamics", "intervals", 50, scheme="hermite-simpson", mode="implicit"
    )
    yield way("moco", "trapezoidal", "intervals", 50, 100, 200, scheme="trapezoidal")
    yield way("drake", "SNOPT", "samples", 21, 41, 81, 161, 241, solver="snopt")
    yield way("drake", "SNOPT, free steps", "samples", 6, 11, 21, 41, solver="snopt", equal=False)
    yield way("drake", "IPOPT", "samples", 11, 21, 41, solver="ipopt")


def _cart_pole() -> Iterator[Way]:
    way, fatrop = partial(_way, "cart_pole"), {"method": "radau", "plugin": "fatrop"}
    yield way("ocp", "spline, degree 5", "points", 30, 40, 60, method="spline", degree=5)
    yield way("ocp", "Radau, order 3", "intervals", 10, 15, 20, 30, 40, method="radau", order=3)
    yield way("ocp", "Hermite-Simpson", "intervals", 20, 40, 80, method="hermite-simpson")
    yield way("rockit", "shooting", "intervals", 25, 50, 100, 200, method="shooting")
    yield way("rockit", "collocation", "intervals", 25, 50, 100, method="collocation")
    yield way("moco", "Hermite-Simpson", "intervals", 25, 50, scheme="hermite-simpson")
    yield way(
        "moco",
        "Radau, order 3, controls free within",
        "intervals",
        *(15, 25, 50),
        scheme="legendre-gauss-radau-3",
        straight=False,
    )
    yield way("drake", "SNOPT", "samples", 21, 41, 81, solver="snopt")
    yield way("drake", "IPOPT", "samples", 21, 41, 81, 161, solver="ipopt")
    yield way("ocp", "Radau, order 3, fatrop", "intervals", *FATROP, order=3, **fatrop)
    yield way("crocoddyl", "BoxFDDP, end penalised", "nodes", 25, 50, 100, 200, solver="fddp")
    yield way("crocoddyl", "CSQP", "nodes", 25, 50, 100, solver="csqp")


def _ur5() -> Iterator[Way]:
    way = partial(_way, "ur5_effort")
    yield way("ocp", "spline, degree 5", "points", 12, 20, method="spline", degree=5)
    yield way("ocp", "Radau, order 5", "intervals", 5, 10, method="radau", order=5)
    yield way("ocp", "Hermite-Simpson", "intervals", 10, 20, 40, method="hermite-simpson")
    yield way("drake", "SNOPT", "samples", 6, 11, 21, 41, solver="snopt")
    yield way("drake", "IPOPT", "samples", 6, 11, 21, 41, solver="ipopt")
    yield way("crocoddyl", "BoxFDDP, end penalised", "nodes", 25, 50, 100, solver="fddp")
    yield way("crocoddyl", "CSQP", "nodes", 25, 50, solver="csqp")


def _dynamics() -> Iterator[Way]:
    variants = (
        ("ocp", "virtual machine", {}),
        ("ocp", "compiled", {"compiled": True}),
        ("pinocchio", "analytical derivatives", {}),
        ("drake", "automatic derivatives", {}),
    )
    for robot, (file, base) in ROBOTS.items():
        for system, name, settings in variants:
            yield Way(
                task=robot,
                system=system,
                name=name,
                key="seconds",
                sizes=(SECONDS,),
                settings={"robot": file, "base": base} | settings,
            )


WAYS = (*_two_links(), *_cart_pole(), *_ur5(), *_dynamics())
