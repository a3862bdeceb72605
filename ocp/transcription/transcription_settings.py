"""Settings of a transcription: method, dynamics, derivatives and kernels; sizes of the programs
that they make, estimated before these are built.

A warning where building takes long, an error where no memory holds the program.
"""

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from math import prod

from ocp.dynamics import Formulation, derivatives_of, formulation_of
from ocp.mechanics.values.validation import positive_integer
from ocp.problem.statement import Problem
from ocp.spelling import suggest_fields, suggestion
from ocp.transcription.kernels.kernel_backends import ASSEMBLED, COMPILED, VIRTUAL
from ocp.transcription.row_requests import Request
from ocp.transcription.transcription_methods import METHODS, Method, Spline, method_of, on_its_mesh
from ocp.transcription.variables.layout import Layout

# Measured on minimum-time arms of 1000 to 4000 points and Radau of order 9 to 40: what building
# takes grows with unknowns times rows
BYTES, SECONDS = 16.0, 2e-7
# These arms have two joints; a spline's basis is one for all of them: 0.67 GB and 15 s by a walk of
# 38 coordinates on 88 points, where this makes it 0.7 and 14
MEASURED_JOINTS = 2
# On a mesh rows know one interval's unknowns; with factors so many times as much is held: 0.25 GB
# and 1 s by a planar walk on 51 intervals, where this makes it 0.36 and 6
FILLED = 4.0
# Measured on chains of 50 to 100 joints, whose dynamics' second derivatives grow with the squared
# depths of all joints, and on functions of 2000 to 10,000 rows: up to a first iteration
DEPTH_SECONDS, ROW_SECONDS = 1.2e-4, 1e-4
MOST_BYTES, MOST_SECONDS = 2e9, 30.0  # of what is built without a word
BEYOND = 1.5  # times the memory there is: an estimate that is refused, since it may be too high
FAR_BEYOND = 10.0  # the same of one that does not know the rows
PER_INTERVAL = ("nodes", "order")  # settings of methods: instants on each interval
KERNELS = "auto", ASSEMBLED, COMPILED, VIRTUAL


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Transcription:
    """How a problem becomes an NLP.

    `method`: a Method, as Spline(), HermiteSimpson(), Radau() or Integrated(), or its name.

    `dynamics`: a Formulation or its name; "auto" is newton_euler, for flexible links book.

    `derivatives` of the torques, where not left to the solver always of kernels of one instant,
    assembled sparsely and handed to the solver:

    - "recursive": by the formulation's own recursion, as the composite one in the ground frame
    - "published": the first ones by the recursion published with it
    - "ad": by automatic differentiation
    - "solver": all left to the solver's front end, for comparison
    - "auto": recursive where the formulation has one, else ad, and for four coordinates and fewer

    `kernels`: what evaluates these

    - "assembled": machine code that is made here, on x86-64 and AArch64, of all functions
    - "compiled": machine code, where the system has a C compiler
    - "virtual": CasADi's virtual machine, by so many `threads`
    - "auto": assembled where that can be had and pays, but for one or two coordinates

    What cannot be had is left to the virtual machine, and the Solution's statistics say why. Raises
    ValueError naming what is wrong.
    """

    method: Method = field(default_factory=Spline)
    dynamics: Formulation | str = "auto"
    derivatives: str = "auto"
    kernels: str = "auto"
    threads: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.method, str):
            if self.method not in METHODS:
                raise ValueError(
                    f"method: expected one of {', '.join(METHODS)}, got {self.method!r}"
                    f"{suggestion(self.method, METHODS)}"
                )
            object.__setattr__(self, "method", METHODS[self.method]())
        if not isinstance(self.method, Method):
            raise ValueError(f"method: expected a Method or its name, got {self.method!r}")
        object.__setattr__(self, "dynamics", formulation_of(self.dynamics))
        if self.kernels not in KERNELS:
            raise ValueError(
                f"kernels: expected one of {', '.join(KERNELS)}, got {self.kernels!r}"
                f"{suggestion(self.kernels, KERNELS)}"
            )
        object.__setattr__(self, "threads", positive_integer("threads", self.threads))
        derivatives_of(self.dynamics, self.derivatives)  # refuses what no tree could change
        if self.kernels in ("assembled", "compiled") and self.derivatives == "solver":
            raise ValueError(
                f"kernels {self.kernels!r}: a solver cannot differentiate machine code; "
                "use derivatives 'recursive' or 'ad'"
            )


def transcription_of(settings: Mapping) -> Transcription:
    """Return the Transcription of settings by name, those of its method among them, as flags and
    files hold them: {"method": "radau", "order": 4, "derivatives": "ad"}; raise ValueError naming
    one that the method does not have."""
    general = {entry.name for entry in fields(Transcription)} - {"method"}
    method = settings.get("method", Spline.name)
    own = {key: value for key, value in settings.items() if key not in general | {"method"}}
    if isinstance(method, str):
        method = method_of(method, own)
    elif own:
        raise ValueError(f"{', '.join(own)}: settings of a method that is stated whole")
    shared = {key: value for key, value in settings.items() if key in general}
    return Transcription(method=method, **shared)


def settings_of_parts(problem: Problem, transcription: Transcription) -> dict[str, Transcription]:
    """Return the settings of each phase: one that states a Mesh is collocated on that, whatever the
    method of the others."""
    if problem.single_phase:
        return {"": transcription}
    return {
        name: replace(transcription, method=on_its_mesh(transcription.method, part.motion))
        for name, part in problem.parts.items()
    }


def stated_parts(problem: Problem, transcription: Transcription) -> list[tuple]:
    """Return (problem, transcription) of each phase as it is solved: on the basis that its method
    gives it."""
    settings = settings_of_parts(problem, transcription)
    return [
        (settings[name].method.with_basis(part), settings[name])
        for name, part in problem.parts.items()
    ]


def settings_of(transcription: Transcription) -> dict:
    """Return the settings by name, as `transcription_of` takes them; the dynamics by its name."""
    general = {entry.name: getattr(transcription, entry.name) for entry in fields(Transcription)}
    method = transcription.method
    own = {entry.name: getattr(method, entry.name) for entry in fields(method)}
    chosen = transcription.dynamics
    name = chosen.name if isinstance(chosen, Formulation) else chosen
    return general | {"method": method.name, "dynamics": name} | own


class SizeWarning(UserWarning):
    """Given for a program that takes long, or much memory, before its solver begins."""


class SizeError(ValueError):
    """Raised for a program that no memory holds, before it is built."""


def check_size(problem: Problem, method: Method) -> None:
    """Raise SizeError naming the settings if a motion has so many unknowns and instants that no
    memory holds their program, before anything is built."""
    intervals = getattr(method, "intervals", None)
    on_mesh = intervals is not None  # there stages are unknowns, whatever the spline's points
    settings = {"intervals": intervals} if on_mesh else {"points": problem.motion.points}
    settings |= {name: getattr(method, name, None) or 1 for name in PER_INTERVAL}
    instants = prod(settings.values())
    unknowns = problem.tree.dof * (instants if on_mesh else problem.motion.points)
    size = unknowns * instants * BYTES
    if size > MOST_BYTES and size > FAR_BEYOND * memory():
        many = ", ".join(f"{name} ({value})" for name, value in settings.items() if value > 1)
        raise SizeError(
            f"size: {unknowns} unknowns at {instants} instants take about {size / 1e9:.3g} GB, of "
            f"which there are {memory() / 1e9:.3g}; expected fewer of {many}"
        )


def warn_of_size(layout: Layout, requests: Iterable[Request]) -> None:
    """Warn if building the program will take more than MOST_SECONDS or MOST_BYTES.

    Raises SizeError if no memory holds it.
    """
    rows = sum(len(request.numbers) * len(request.s) for request in requests)
    motion = layout.problem.motion
    if motion.collocated:
        rows += 2 * layout.size // 3  # of q, qd, qdd those two that others determine
    tree, places = layout.problem.tree, float(layout.size * rows)
    depths: list[int] = []  # number of coordinates that move each link
    for parent, own in zip(tree.parents, tree.spans):
        depths.append(len(own) + (depths[parent] if parent >= 0 else 0))
    moved = (depth for depth, own in zip(depths, tree.spans) if own)
    dynamics = DEPTH_SECONDS * sum(depth**2 for depth in moved)
    functions = ROW_SECONDS * rows
    share = FILLED / motion.segments if motion.collocated else MEASURED_JOINTS / tree.dof
    places *= min(1.0, share)
    seconds, size = places * SECONDS + dynamics + functions, places * BYTES
    if size <= MOST_BYTES and seconds <= MOST_SECONDS:
        return
    words = (
        f"{layout.size} unknowns and about {rows} rows take about "
        f"{seconds:.0f} s and {size / 1e9:.1f} GB to build before the solver begins; "
    )
    fewer = "fewer points, intervals or nodes, or a lower order, make it less"
    if dynamics + functions > places * SECONDS:
        fewer = f"fewer joints in line (of {tree.dof} coordinates) or rows make it less"
    if size > BEYOND * memory():
        raise SizeError(f"size: {words}there are {memory() / 1e9:.3g} GB; {fewer}")
    warnings.warn(words + fewer, SizeWarning, stacklevel=2)


def memory() -> float:
    """Return the memory of this machine (bytes); infinite where it is not known."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return float("inf")
