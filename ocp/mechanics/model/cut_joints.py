"""Cut joints: where a tree is closed, as data.

`ocp.mechanics.kinematics.loop_closure` has their gaps and forces.
"""

from dataclasses import dataclass

from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import freeze, is_rotation, nominal_array, numbers, set_fields
from ocp.spelling import suggest_fields


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A cut joint that closes a loop between the points named `start` and `end`.

    The points do not part along `position`, nor do their links turn against each other about
    `orientation`: each some of x, y, z, the columns of `frame` (3x3) in the axes of the "start" or
    "end" link, or in "global" ones, which can close positions only. `turn` (3x3) has the axes of
    the end's link as columns in those of the start's, when closed (Xiang, Arora & Abdel-Malek 2009,
    eq. 38). Raises ValueError naming the loop.
    """

    name: str
    start: str
    end: str
    position: str = "xyz"
    orientation: str = ""
    axes: str = "start"
    frame: Numbers = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    turn: Numbers = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

    def __post_init__(self) -> None:
        label = f"loop {self.name!r}"
        for what in ("position", "orientation"):
            letters = getattr(self, what)
            if (
                not isinstance(letters, str)
                or set(letters) - set("xyz")
                or len(set(letters)) < len(letters)
            ):
                raise ValueError(f"{label}: {what}: expected some of x, y, z, got {letters!r}")
            set_fields(self, **{what: "".join(sorted(letters))})
        if not self.position + self.orientation:
            raise ValueError(f"{label}: it closes no direction of position or orientation")
        if self.axes not in ("start", "end", "global") or (
            self.orientation and self.axes == "global"
        ):
            raise ValueError(
                f"{label}: axes: expected start, end, or where only positions are closed global, "
                f"got {self.axes!r}"
            )
        for what in ("frame", "turn"):
            matrix = numbers(f"{label}: {what}", getattr(self, what), (3, 3), "")
            if not is_rotation(nominal_array(matrix)):
                raise ValueError(
                    f"{label}: {what}: expected a rotation matrix, got {matrix.tolist()}"
                )
            set_fields(self, **{what: freeze(matrix)})
