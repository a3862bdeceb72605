"""The methods of inverse dynamics, by name; and which of them, and which recursion of forward dynamics, is for a given tree."""

from dataclasses import replace

from ocp.dynamics import book, lie_group
from ocp.dynamics.barman import BARMAN
from ocp.dynamics.book import BOOK
from ocp.dynamics.configuration_space import CONFIGURATION_SPACE
from ocp.dynamics.formulation import Formulation
from ocp.dynamics.hollerbach_3x3 import HOLLERBACH_3X3
from ocp.dynamics.hollerbach_4x4 import HOLLERBACH_4X4
from ocp.dynamics.lie_group import LIE_GROUP
from ocp.dynamics.newton_euler import NEWTON_EULER
from ocp.dynamics.uicker_kahn import UICKER_KAHN
from ocp.dynamics.waters import WATERS

FORMULATIONS = {
    formulation.name: formulation
    for formulation in (
        NEWTON_EULER,
        BARMAN,
        LIE_GROUP,
        HOLLERBACH_4X4,
        HOLLERBACH_3X3,
        WATERS,
        UICKER_KAHN,
        CONFIGURATION_SPACE,
        BOOK,
    )
}


def settled(tree, settings):
    """Return a record with `dynamics` and `derivatives` with what "auto" stands for: newton_euler, recursive; for flexible links book, ad."""
    dynamics, derivatives = settings.dynamics, settings.derivatives
    if derivatives == "auto":
        derivatives = "ad" if tree.flexible else "recursive"
    return replace(
        settings, dynamics=_suited(tree) if dynamics is AUTO else dynamics, derivatives=derivatives
    )


def forward(tree, q, qd, tau, loads=()):
    """Return the accelerations (n,) under joint torques, by the Lie-group recursion, of trees with flexible links by Book's."""
    return (book if tree.flexible else lie_group).forward(tree, q, qd, tau, loads)


def hybrid(tree, q, qd, known, active, loads=()):
    """Return accelerations and torques, each (n,), from qdd at the `active` joints and tau at the others; see `lie_group.hybrid`."""
    return (book if tree.flexible else lie_group).hybrid(tree, q, qd, known, active, loads)


def _suited(tree):
    return BOOK if tree.flexible else NEWTON_EULER


AUTO = Formulation(
    name="auto", flexible=True, inverse=lambda tree, *motion: _suited(tree).inverse(tree, *motion)
)
CHOICES = FORMULATIONS | {AUTO.name: AUTO}
