"""Places of parameters at the end of x, and those of them that are sought.

These functions are properties of the records of one phase and of all phases.
"""

from collections.abc import Mapping
from typing import Protocol

from ocp.mechanics.values.parameters import Parameter


class Ordered(Protocol):
    """What has parameters at the end of x: its `size`, the `values` of these, of which the first
    `free` are sought unless their names are `held_names`."""

    @property
    def size(self) -> int:
        """Number of variables."""

    @property
    def values(self) -> Mapping[Parameter, float]:
        """The parameters and their numbers, in order."""

    @property
    def free(self) -> int:
        """How many of them, the first ones, solves seek."""

    @property
    def held_names(self) -> frozenset[str]:
        """Names of those that a solve holds nevertheless."""


class Program(Protocol):
    """A record whose `layout` has parameters."""

    @property
    def layout(self) -> Ordered:
        """Where the parameters stand."""


def parameters_of_program(program: Program) -> tuple[Parameter, ...]:
    """What the statement leaves open; the first `layout.free` of them are sought."""
    return tuple(program.layout.values)


def free_names(program: Program) -> tuple[str, ...]:
    """Names of the parameters that solves seek, unless they hold them."""
    return tuple(each.name for each in freed_parameters(program.layout))


def parameter_slice(order: Ordered) -> slice:
    """Where the parameters stand in x."""
    return slice(order.size - len(order.values), order.size)


def freed_parameters(order: Ordered) -> tuple[Parameter, ...]:
    """The parameters that solves seek, unless they hold them."""
    return tuple(order.values)[: order.free]


def sought_parameters(order: Ordered) -> tuple[Parameter, ...]:
    """The parameters that this solve seeks, in order."""
    return tuple(each for each in freed_parameters(order) if each.name not in order.held_names)


def parameter_places(order: Ordered) -> dict[Parameter, int]:
    """Where each parameter stands in x."""
    return dict(zip(order.values, range(order.size)[parameter_slice(order)]))


def held_places(order: Ordered) -> frozenset[int]:
    """Where the parameters stand in x that are given, of themselves or for a solve."""
    sought = sought_parameters(order)
    return frozenset(k for each, k in parameter_places(order).items() if each not in sought)
