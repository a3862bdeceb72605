"""The methods of inverse dynamics, by name."""
from ocp.dynamics.hollerbach_4x4 import HOLLERBACH_4X4
from ocp.dynamics.newton_euler import NEWTON_EULER

FORMULATIONS = {formulation.name: formulation for formulation in (NEWTON_EULER, HOLLERBACH_4X4)}
