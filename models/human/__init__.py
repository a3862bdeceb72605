"""The human: 49 joints on a free pelvis, the bodies of people, and measured gait beside theirs."""

from ocp.models.human.anthropometry import MASS, STATURE
from ocp.models.human.children import CHILDREN, child
from ocp.models.human.loads import (
    loads_of,
    one_sided,
    springs_of,
    wearing,
    wearing_springs,
    worn,
)
from ocp.models.human.measured import Normative, normative, normative_file
from ocp.models.human.people import PEOPLE, SURVEY, Person, person, somebody
from ocp.models.human.segments import Segment, parsed, physique, segment_masses, weighed
from ocp.models.human.skeleton import carry, human, mirror, positive_motion, torque_scale
from ocp.models.human.strength.strengths import (
    capacity,
    relative_strength,
    strength,
    strengths,
    torque_range,
)
from ocp.models.human.strength.tissue import bearing, passive, thighs_that_touch, within_ranges
from ocp.models.human.tables import (
    BOX_SPHERES,
    CONTACTS,
    FEET,
    GAIT_FROZEN,
    NAMES,
    ROOT,
    SELF_SPHERES,
    SOLES,
    TOUCHING,
)
from ocp.models.human.volumes import volumes

__all__ = [
    "BOX_SPHERES",
    "CHILDREN",
    "CONTACTS",
    "FEET",
    "GAIT_FROZEN",
    "MASS",
    "NAMES",
    "PEOPLE",
    "ROOT",
    "SELF_SPHERES",
    "SOLES",
    "STATURE",
    "SURVEY",
    "TOUCHING",
    "Normative",
    "Person",
    "Segment",
    "bearing",
    "capacity",
    "carry",
    "child",
    "human",
    "loads_of",
    "mirror",
    "normative",
    "normative_file",
    "one_sided",
    "parsed",
    "passive",
    "person",
    "physique",
    "positive_motion",
    "relative_strength",
    "segment_masses",
    "somebody",
    "springs_of",
    "strength",
    "strengths",
    "thighs_that_touch",
    "torque_range",
    "torque_scale",
    "volumes",
    "wearing",
    "wearing_springs",
    "weighed",
    "within_ranges",
    "worn",
]
