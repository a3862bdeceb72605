"""Force elements on trees with balls, followers, loops and links that bend."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from mapped_trees import mapped_tree

from ocp import Damper, PassiveMoment, Spring, forward_dynamics, inverse_dynamics, simulate
from ocp.dynamics import FORMULATIONS, hybrid_dynamics
from ocp.mechanics import Armature, Strut, kinetic_energy, potential_energy

