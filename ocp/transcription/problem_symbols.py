"""A problem on its layout: the symbols of its kernels, and the parameters that it leaves open."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import casadi as ca
import numpy as np

from ocp.dynamics.formulation_record import Formulation, Provider
from ocp.mechanics.values.parameters import Parameter, is_open, with_values
from ocp.mechanics.values.types import Matrix
from ocp.problem.constraint import Moment
from ocp.problem.statement import Problem
from ocp.transcription.kernels.instant_symbols import Backend, Inputs, joined_symbols, symbols
from ocp.transcription.kernels.time_derivatives import rate_instants, rate_map
from ocp.transcription.parameters.free_instants import moment_map, moment_symbols
from ocp.transcription.variables.layout import Layout, MotionMap, free_duration, motion_map


@dataclass(frozen=True, kw_only=True)
class Symbols:
    """The symbols of a program's kernels, made when they are first asked for: of one instant, of
    one control point, and of both ends of the motion."""

    problem: Problem
    formulation: Formulation
    provider: Provider | None
    backend: Backend | None
    wrenches: str | None
    moving: bool

    @cached_property
    def instant(self) -> Inputs:
        """Symbols of one instant."""
        parts = self.problem, self.formulation, self.provider, self.backend, self.wrenches
        return symbols(*parts, moving=self.moving, shared=True)

    @cached_property
    def hull(self) -> Inputs:
        """Symbols of one control point, at rest."""
        inputs = self.instant
        if self.moving and self.problem.motion.hull:
            parts = self.problem, self.formulation, None, self.backend, self.wrenches
            inputs = symbols(*parts, shared=True)
        return replace(inputs, at=replace(inputs.at, flow=None))

    @cached_property
    def moments(self) -> dict[Moment, Inputs]:
        """Symbols of instants that are open, of those that were asked for."""
        return {}

    def moment(self, when: Moment) -> Inputs:
        """Symbols of an instant that is open."""
        if when not in self.moments:
            parts = self.problem, self.formulation, when.s
            lifted = self.wrenches is not None
            self.moments[when] = moment_symbols(*parts, backend=self.backend, lifted=lifted)
        return self.moments[when]

    @cached_property
    def both_ends(self) -> Inputs:
        """Symbols of both ends of the motion."""
        parts = self.problem, self.formulation, self.backend, self.wrenches
        return joined_symbols(*parts, moving=self.moving)


@dataclass(frozen=True, kw_only=True)
class Program:
    """A problem on its layout, with the formulation and what gives its derivatives, and the symbols
    of its kernels.

    Parameters that the problem leaves open join the layout once all that is asked for has been
    looked through for them (`with_parameters`). `sloped`, kernels have slopes by given ones too.
    """

    problem: Problem
    layout: Layout
    formulation: Formulation
    symbols: Symbols
    free: tuple[str, ...] = ()  # parameters to be found beside those that are free of themselves
    sloped: bool = False

    @property
    def wrenches(self) -> str | None:
        """How torques and wrenches are known: "variables", or None where they follow from the
        motion."""
        return self.symbols.wrenches

    @property
    def backend(self) -> Backend | None:
        """What finishes kernels."""
        return self.symbols.backend

    @property
    def inputs(self) -> Inputs:
        """Symbols of one instant."""
        return self._with_parameters(self.symbols.instant)

    @property
    def hull(self) -> Inputs:
        """Symbols of one control point, at rest."""
        return self._with_parameters(self.symbols.hull)

    @cached_property
    def both_ends(self) -> Inputs:
        """Symbols of both ends of the motion; the parameters are those of the start."""
        both = self.symbols.both_ends
        if not self.layout.values:
            return both
        start, end = ca.vertsplit(both.y, both.y.shape[0] // 2)
        unused = ca.SX.sym("unused", len(self.layout.values))
        names = ca.vertcat(*(each.expression for each in self.layout.values))
        return replace(both, y=ca.vertcat(start, names, end, unused))

    def _with_parameters(self, inputs: Inputs) -> Inputs:
        known = tuple(self.layout.values)
        return inputs.with_parameters(known, len(known) if self.sloped else self.layout.free)

    def with_parameters(self, values: Mapping[Parameter, float], free: int) -> "Program":
        """Return the program with parameters {Parameter: number} in its layout, of which the first
        `free` are sought."""
        if not values:
            return self
        problem, lower = self.layout.problem, self.problem.duration[0]
        layout = replace(
            self.layout,
            problem=with_values(self.problem, values),
            values=MappingProxyType(dict(values)),
            free=free,
            timed=lower if is_open(lower) and not free_duration(problem) else None,
            own_weight=self.layout.weight,
        )
        return replace(self, layout=layout)

    def inputs_of(self, kind: str | Moment) -> Inputs:
        """Symbols of what a Request of that kind is a function of."""
        if isinstance(kind, Moment):
            return self._with_parameters(self.symbols.moment(kind))
        if kind == "rates":
            return self.inputs.with_rates
        if kind == "joined":
            return self.both_ends
        return self.hull if kind == "hull" else self.inputs

    def matrix_of(self, kind: str | Moment, s: np.ndarray) -> ca.DM:
        """Return the matrix of `map_of`; it is the same object for the same instants."""
        known = self.__dict__.setdefault("matrices", {})
        key = kind, np.asarray(s, dtype=float).tobytes()
        if key not in known:
            known[key] = self.map_of(kind, s).matrix
        return known[key]

    def map_of(self, kind: str | Moment, s: np.ndarray) -> MotionMap:
        """Return the MotionMap of these symbols at the instants s (N,)."""
        if isinstance(kind, Moment):
            return moment_map(self.layout)
        if kind == "rates":
            return rate_map(self.layout, s)
        where = (0.0, 1.0) if kind == "joined" else s
        return motion_map(self.layout, where, hull=kind == "hull")

    def lifted_rows(self, stack: Matrix) -> np.ndarray:
        """Tell which rows depend on lifted quantities.

        Those of the law of motion do through what stands for inverse dynamics.
        """
        moved = np.zeros(stack.shape[0], dtype=bool)
        if not self.layout.lifts:
            return moved
        rows, columns = ca.jacobian_sparsity(stack, self.inputs.motion).get_triplet()
        moved[np.array(rows, dtype=int)[np.array(columns) >= self.layout.motion_width]] = True
        if self.inputs.torque is not None:
            symbol = self.inputs.torque.symbol
            moved |= np.array(ca.which_depends(stack, symbol, 1, True), dtype=bool)
        slopes = self.inputs.rates[-len(self.layout.place) :]
        return moved | np.array(ca.which_depends(stack, slopes, 1, True), dtype=bool)

    def rated_rows(self, stack: Matrix) -> np.ndarray:
        """Tell which rows contain rates that only kernels with `rates` know."""
        return np.array(ca.which_depends(stack, self.inputs.rates, 1, True), dtype=bool)

    def rate_grid(
        self, stack: Matrix, nodes: np.ndarray, *, equal: bool, lifted: bool
    ) -> np.ndarray:
        """Return the instants at which rows with rates hold along the path."""
        inputs, problem = self.inputs, self.layout.problem
        changing = [inputs.motion[free_duration(problem) :], inputs.s]
        changing.append(inputs.rates[problem.tree.dof :])
        changing += [each.symbol for each in inputs.stand_ins]
        steady = problem.motion.degree == 3 and not ca.depends_on(stack, ca.vertcat(*changing))
        return rate_instants(self.layout, nodes, equal=equal, lifted=lifted, steady=steady)

    def check_end(self, what: str, on_lifted: bool) -> None:
        """Raise ValueError if something asks for lifted quantities at the end of a cycle, which has
        none of its own."""
        if self.problem.cyclic and on_lifted:
            raise ValueError(
                f"{what}: a cycle has torques and ground wrenches at its start, which stand for "
                "those of its end too"
            )


def program_of(
    problem: Problem,
    layout: Layout,
    formulation: Formulation,
    provider: Provider | None = None,
    backend: Backend | None = None,
    free: tuple[str, ...] = (),
    *,
    sloped: bool = False,
) -> Program:
    """Return the Program of a problem, whose parameters have not been looked for yet."""
    symbols_of_it = Symbols(
        problem=problem,
        formulation=formulation,
        provider=provider,
        backend=backend,
        wrenches="variables" if layout.lifts else None,
        moving=layout.moving,
    )
    return Program(
        problem=problem,
        layout=layout,
        formulation=formulation,
        symbols=symbols_of_it,
        free=free,
        sloped=sloped,
    )
