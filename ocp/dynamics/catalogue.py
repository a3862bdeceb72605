"""Built-in formulations by name, the choice that suits a tree, and providers of derivatives."""

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeVar, overload

import casadi as ca
import numpy as np

from ocp.dynamics.derivatives.chart_derivatives import charted_provider, provider_beside_states
from ocp.dynamics.derivatives.published_recursions import published_provider
from ocp.dynamics.formulation_record import Formulation, Provider, check_rigid
from ocp.dynamics.formulations.newton_euler import NEWTON_EULER
from ocp.mechanics.elements.generalized_forces import bodies_of
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import nominal
from ocp.spelling import suggestion


class _Named(MutableMapping[str, Formulation]):
    """Formulations by name, each itself, or the file from which it loads when it is asked for."""

    def __init__(self, known: Mapping[str, Formulation | str]) -> None:
        self.known = dict(known)

    def __getitem__(self, name: str) -> Formulation:
        found = self.known[name]
        if isinstance(found, str):
            loaded: Formulation = getattr(import_module(found), name.upper())
            found = self.known[name] = loaded
        return found

    def __setitem__(self, name: str, formulation: Formulation) -> None:
        self.known[name] = formulation

    def __delitem__(self, name: str) -> None:
        del self.known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)

    def __or__(self, other: Mapping[str, Formulation]) -> dict[str, Formulation]:
        return {**self, **other}


EXACT = (
    "newton_euler",
    "barman",
    "lie_group",
    "hollerbach_4x4",
    "hollerbach_3x3",
    "waters",
    "uicker_kahn",
    "configuration_space",
    "book",
)
FORMULATIONS = _Named({name: f"ocp.dynamics.formulations.{name}" for name in EXACT})
APPROXIMATE = _Named(
    {
        "table": "ocp.dynamics.tables.lookup",
        "without_coriolis": "ocp.dynamics.formulations.configuration_space",
    }
)
Settings = TypeVar("Settings", bound=Any)
AUTO = "auto"  # the formulation, or the derivatives, that suit the tree
CHOICES = (*FORMULATIONS, *APPROXIMATE, AUTO)
DERIVATIVES = ("recursive", "published", "ad", "solver", AUTO)
FEW = 4  # coordinates up to which automatic derivatives take half to four fifths of the time
SAME = 1e-6  # relative: how far derivatives may be from those of automatic differentiation


@overload
def formulation_of(choice: Formulation | str, tree: Tree) -> Formulation: ...


@overload
def formulation_of(choice: Formulation | str, tree: None = None) -> Formulation | str: ...


def formulation_of(choice: Formulation | str, tree: Tree | None = None) -> Formulation | str:
    """Return the Formulation that a `choice` means by its name, or is.

    "auto" is newton_euler, or book where links of the tree are flexible; without a tree it stays as
    it is. A table's settings may follow its name, as "table(points=65, degree=5)". Raises
    ValueError for an unknown name.
    """
    if isinstance(choice, Formulation):
        return choice
    if choice != AUTO:
        known = _formulation_by_name(choice)
        if known is None:
            raise ValueError(
                f"dynamics: expected one of {', '.join(CHOICES)} or a Formulation, got {choice!r}"
                f"{suggestion(choice, CHOICES)}"
            )
        return known
    if tree is None:
        return AUTO
    return FORMULATIONS["book"] if tree.flexible else NEWTON_EULER


def _formulation_by_name(name: object) -> Formulation | None:
    """Return the Formulation of a name; None if there is none."""
    if not isinstance(name, str):
        return None
    known = FORMULATIONS.get(name) or APPROXIMATE.get(name)
    if known is not None:
        return known
    from ocp.dynamics.tables.lookup import parse_table  # which few ask for

    return parse_table(name)


def is_choice(name: object) -> bool:
    """Tell whether a name is that of a formulation, or "auto".

    Raises ValueError for a table whose settings are none.
    """
    return name == AUTO or _formulation_by_name(name) is not None


def is_named(formulation: Formulation) -> bool:
    """Tell whether a formulation follows from its name alone, as files hold it."""
    return formulation.name != AUTO and _formulation_by_name(formulation.name) == formulation


def is_built_in(formulation: Formulation) -> bool:
    """Tell whether a formulation is one of these here, all of which state the same mechanics of
    rigid bodies."""
    return FORMULATIONS.get(formulation.name) == formulation


def is_comparable(formulation: Formulation) -> bool:
    """Tell whether a formulation states the mechanics of rigid bodies, exactly or with an error of
    its own, so that another one can judge it."""
    return is_built_in(formulation) or formulation.approximation is not None


def resolve_auto(tree: Tree, settings: Settings) -> Settings:
    """Return settings with what "auto" stands for in the case of a tree.

    That is newton_euler, for flexible links book; and derivatives "recursive" where the formulation
    has some, otherwise "ad", and so of the house's formulations for up to FEW coordinates.

    Args:
        settings: any record with fields `dynamics` and `derivatives`.

    Raises ValueError as `derivatives_of` does.
    """
    dynamics, derivatives = formulation_of(settings.dynamics, tree), settings.derivatives
    if derivatives == AUTO:
        few = tree.dof <= FEW and is_built_in(dynamics)
        derivatives = "ad" if few or dynamics.derivatives is None else "recursive"
    derivatives_of(dynamics, derivatives, tree)  # which refuses by name
    return replace(settings, dynamics=dynamics, derivatives=derivatives)


def derivatives_of(
    formulation: Formulation | str, choice: str = AUTO, tree: Tree | None = None
) -> Provider | None:
    """Return the provider of a formulation's derivatives.

    None is automatic differentiation of its `inverse`.

    Args:
        choice: "auto" and "recursive" are the formulation's own `derivatives`, "auto" where it has
            any; "published" those of its `sensitivity`; "ad" and "solver" are None.
        tree: without one nothing is said of the formulation "auto".

    Raises ValueError naming a formulation that lacks what is chosen, or whose derivatives are those
    of another function than its inverse.
    """
    if choice not in DERIVATIVES:
        raise ValueError(
            f"derivatives: expected one of {', '.join(DERIVATIVES)}, got {choice!r}"
            f"{suggestion(choice, DERIVATIVES)}"
        )
    method = formulation if tree is None else formulation_of(formulation, tree)
    method = formulation_of(method)
    if choice in ("ad", "solver"):
        return None
    if not isinstance(method, Formulation):
        if choice == "published":
            raise ValueError(f"derivatives {choice!r}: name the formulation whose own they are")
        return None
    provider = _provider(method, choice, tree)
    if provider is not None and tree is not None and not is_built_in(method):
        check_slopes(method, provider, tree)
    return provider


def _provider(method: Formulation, choice: str, tree: Tree | None) -> Provider | None:
    """Return a formulation's provider, of a tree with balls or followers through its chart, of one
    whose elements have states beside these."""
    if tree is not None and tree.states:
        provider = _provider(method, choice, bodies_of(tree))
        return None if provider is None else provider_beside_states(provider)
    if choice == "published":
        return published_provider(method)
    if method.derivatives is None and choice == "recursive":
        if tree is not None:
            check_rigid(tree)
        raise ValueError(
            f"derivatives {choice!r}: formulation {method.name!r} has no derivatives of its own; "
            "use 'ad'"
        )
    if method.derivatives is None or tree is None or not tree.mapped:
        return method.derivatives
    return charted_provider(method.derivatives, method.inverse)


@lru_cache(maxsize=32)
def check_slopes(formulation: Formulation, provider: Provider, tree: Tree) -> None:
    """Raise ValueError unless a provider's slopes are those of the formulation's inverse, at one
    motion, of an open tree at its parameters' own values.

    This is what keeps an own formulation, made out of a built-in one, from being differentiated as
    that.
    """
    tree = nominal(tree)
    motion = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    stacked = ca.vertcat(*motion)
    right = ca.jacobian(formulation.inverse(tree, *motion), stacked)
    slopes = provider.join_slopes(tree, provider.slope_parts(tree, *motion, ()))
    here = np.random.default_rng(0).uniform(-1.0, 1.0, 3 * tree.dof)
    wanted, given = (
        np.array(ca.evalf(ca.densify(ca.substitute(part, stacked, ca.SX(here)))))
        for part in (right, ca.horzcat(*slopes[:3]))
    )
    if not np.abs(given - wanted).max(initial=0.0) <= SAME * max(
        np.abs(wanted).max(initial=0.0), 1.0
    ):
        raise ValueError(
            f"formulation {formulation.name!r}: its derivatives are not those of its inverse; "
            "without any they are found by automatic differentiation"
        )
