"""The methods of inverse dynamics, by name."""
from ocp.dynamics.barman import BARMAN
from ocp.dynamics.book import BOOK
from ocp.dynamics.configuration_space import CONFIGURATION_SPACE
from ocp.dynamics.hollerbach_3x3 import HOLLERBACH_3X3
from ocp.dynamics.hollerbach_4x4 import HOLLERBACH_4X4
from ocp.dynamics.lie_group import LIE_GROUP
from ocp.dynamics.newton_euler import NEWTON_EULER
from ocp.dynamics.uicker_kahn import UICKER_KAHN
from ocp.dynamics.waters import WATERS

FORMULATIONS = {formulation.name: formulation for formulation in (
    NEWTON_EULER, BARMAN, LIE_GROUP, HOLLERBACH_4X4, HOLLERBACH_3X3, WATERS, UICKER_KAHN,
    CONFIGURATION_SPACE, BOOK)}
