"""Variables shared by phases: control points of one spline, and forces at the seams."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import cast

import numpy as np

from ocp.mechanics.model.tree_structure import structure
from ocp.motion.spline_part import Part, join_parts
from ocp.problem.contact.ground import slots
from ocp.problem.phases.shared_spline import SHARED
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.variables.layout import motion_size


def phase_columns(
    names: Sequence[str], parts: Sequence[TranscribedPhase]
) -> tuple[list[np.ndarray], int]:
    """Return the places of each phase's variables, but for the parameters, in x of all, and their
    number.

    Raises ValueError naming a foot that bears at the end of a phase and not where the next one goes
    on.
    """
    columns: list[np.ndarray] = []
    count = 0
    for k, part in enumerate(parts):
        own = np.full(part.layout.parameters.start, -1)
        if k and parts[k - 1].problem.end == SHARED:
            shared = motion_size(part.problem)
            own[:shared] = columns[k - 1][:shared]
        if part.problem.end == SHARED and part.layout.lifts:
            own[_variables_at_end(part)] = -2
        new = own == -1
        own[new] = count + np.arange(new.sum())
        count += int(new.sum())
        columns.append(own)
    for k, (part, after) in enumerate(pairwise(parts)):
        if part.problem.end == SHARED and part.layout.lifts:
            ends, starts = part.layout.place[:, -1], after.layout.place[:, 0]
            for row, other in _shared_rows(part, after, names[k]):
                columns[k][ends[row]] = columns[k + 1][starts[other]]
    return columns, count


def merge_shared_motions(
    parts: Sequence[TranscribedPhase], columns: Sequence[np.ndarray], own: Sequence[np.ndarray]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (columns, control points there) of each motion that several phases are parts of, of
    their own variables `own`: the curve nearest to theirs."""
    runs: list[list[int]] = [[0]]
    for k, part in enumerate(parts[:-1]):
        if part.problem.end == SHARED:
            runs[-1].append(k + 1)
        else:
            runs.append([k + 1])
    for run in runs:
        if len(run) > 1:
            size, count = motion_size(parts[run[0]].problem), parts[run[0]].problem.tree.dof
            points = [np.reshape(own[k][:size], (count, -1), order="F") for k in run]
            motions = [cast(Part, parts[k].problem.motion) for k in run]
            yield columns[run[0]][:size], np.ravel(join_parts(motions, points), order="F")


def _variables_at_end(part: TranscribedPhase) -> np.ndarray:
    """Return the variables of what is lifted at the last node."""
    place = part.layout.place[:, -1]
    return place[place >= 0]


def _shared_rows(
    part: TranscribedPhase, after: TranscribedPhase, name: str
) -> Iterator[tuple[int, int]]:
    """Yield (row of what is lifted at the end of a phase, row at the start of the next): torques
    and loops' forces as they are, of every foot the wrench, whichever link takes it."""
    internal = structure(part.problem.tree).internal
    yield from ((row, row) for row in range(internal) if part.layout.place[row, -1] >= 0)
    given, there = _bearing_feet(part, -1), _bearing_feet(after, 0)
    for foot, first in given.items():
        if foot not in there:
            raise ValueError(
                f"phase {name!r}: foot {foot!r} bears at its end, but not where the next phase "
                "goes on; let it bear strictly before (bears)"
            )
        for k in range(6):
            row, other = internal + first + k, internal + there[foot] + k
            present = part.layout.place[row, -1] >= 0, after.layout.place[other, 0] >= 0
            if present[0] != present[1]:
                raise ValueError(
                    f"phase {name!r}: foot {foot!r} passes on another kind of force at its end "
                    "than where the next phase goes on; give these splines of their own"
                )
            if present[0]:
                yield row, other


def _bearing_feet(part: TranscribedPhase, node: int) -> dict[str, int]:
    """Return {foot: its first component among those of the ground} of feet that bear at a node."""
    ground = part.problem.ground
    internal = structure(part.problem.tree).internal
    names = () if ground is None else slots(ground)
    return {
        foot: 6 * k
        for k, (foot, _) in enumerate(names)
        if (part.layout.place[internal + 6 * k : internal + 6 * k + 6, node] >= 0).any()
    }
