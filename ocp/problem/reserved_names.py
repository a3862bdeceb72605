"""Names that transcribing gives itself: those of laws and bounds, and of constraints in phases."""

SEPARATOR = ": "  # between the name of a phase or a transition, and that of what is asked there
DURATION = "duration"  # bounds of a free duration
PARAMETER = "parameter {}"  # bounds of one that is sought
SOUND = "sound {}"  # what keeps a record sound whose numbers are sought
DYNAMICS = "dynamics"  # torques are what the motion needs
PASSIVE = "passive_joints"  # nothing drives passive joints
CONTROLS = "controls"  # those of elements' states are what the rates of these need
STATES = "states"  # those of an implicit law, as a tendon in equilibrium with its fibres, keep it
KNOTS = ("knots", "knot_spacing")  # free ones part the whole motion, and stay apart
LENGTHS = "quaternion_lengths"  # a ball's quaternion has one that no torque changes
STAGES = "stages"  # rates are the slopes of coordinates, on a mesh
REACH = "dynamics_range"  # the motion stays where an approximate formulation knows its torques
STAYS = "stays"  # none leaves its bounds, forces act where they are closed
TOUCHING = "touching"  # what a force of a stay holds does not move against it
HELD = ("stays_closed", "stay_rates", "stay_accelerations")  # those prescribed to be closed are
WIRES = "wires"  # tensions and speeds at which they are hauled stay within their bounds
CONTACTS = ("standing", "standing_rate", "standing_acceleration")  # .foot: rigid ones stay
TOUCHES = "contacts"  # points that find the ground stay above it, forces act where they touch
RESTING = "contacts_resting"  # what a force of a contact holds does not move against it
GRIPPING = "contacts_gripping"  # friction of contacts in its pyramid, against all slip at its edge
LOOPS = ("loops", "loop_rates", "loop_accelerations")  # cut joints stay closed
RESERVED = (
    *(DURATION, DYNAMICS, PASSIVE, LENGTHS, STAGES, REACH, STAYS, TOUCHING, WIRES),
    *(CONTROLS, STATES, TOUCHES, RESTING, GRIPPING),
    *(*HELD, *KNOTS, *LOOPS),
)


def name_in_phase(phase: str, name: str) -> str:
    """Return the name of what a phase has in the whole motion; its own where that has no phases."""
    return f"{phase}{SEPARATOR}{name}" if phase else name


def phase_label(phase: str) -> str:
    """Return the beginning of a line on a phase; nothing for a motion without phases."""
    return f"phase {phase!r}: " if phase else ""
