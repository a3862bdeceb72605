"""The program without some of its constraints, on the same graphs."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from ocp.solvers.nlp import with_rows
from ocp.spelling import suggestion
from ocp.transcription.transcribe import Transcribed, with_joined_bounds
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.variables.variable_bounds import place_rows


def without_constraints(program: Transcribed, names: Collection[str]) -> Transcribed:
    """Return a program that asks nothing of the constraints of some names, those of its phases
    among them; what links phases stays.

    Raises ValueError for a name that none has, and where passive joints are integrated.
    """
    owners = [owner for part in program.parts for group in part.groups for owner in group.owners]
    known = {constraint.name for constraint, _ in owners}
    for name in names:
        if name not in known:
            raise ValueError(
                f"without: expected names of constraints, got {name!r}{suggestion(name, known)}"
            )
    parts, kept = zip(*(_phase_without(part, names) for part in program.parts))
    if program.link_nlp is None:
        nlp = parts[0].nlp
        return replace(program, parts=parts, nlp=nlp, made=_reusable(program))
    starts, count = program.row_starts, len(program.nlp.g_lower)
    own = [mine + start for mine, start in zip(kept, starts)]
    nlp = with_rows(program.nlp, np.concatenate([*own, np.arange(starts[-1], count)]))
    return with_joined_bounds(replace(program, parts=parts, nlp=nlp, made=_reusable(program)))


def constraint_names(program: Transcribed) -> frozenset[str]:
    """Return the names of the constraints that a program asks something of."""
    pairs = (zip(group.owners, group.active) for part in program.parts for group in part.groups)
    return frozenset(owner[0].name for each in pairs for owner, asked in each if asked.any())


def _phase_without(
    part: TranscribedPhase, names: Collection[str]
) -> tuple[TranscribedPhase, np.ndarray]:
    """Return a program of one phase without some constraints, and the rows kept (k,)."""
    if part.reduction is not None:
        raise ValueError("without: no constraints are left out where passive joints are integrated")
    groups = tuple(group.without(names) for group in part.groups)
    box, places, rows, bounds = place_rows(groups, part.layout)
    _, before, _, _ = place_rows(part.groups, part.layout)
    pairs = [(old[new >= 0], new[new >= 0]) for old, new in zip(before, places)]
    kept = np.zeros(sum(len(new) for _, new in pairs), dtype=int)
    for old, new in pairs:
        kept[new] = old
    return replace(
        part,
        open_groups=tuple(group.without(names) for group in part.open_groups),
        groups=groups,
        rows=rows,
        bound_owners=box.owners,
        binding=box.binding,
        nlp=replace(with_rows(part.nlp, kept), **bounds),
        whole=part.whole and not names,
        made=_reusable(part),
    ), kept


def _reusable(program: Transcribed | TranscribedPhase) -> dict:
    """Return the kept results of a program that belong to its graphs, not to its constraints."""
    return {name: program.made[name] for name in ("same", "turn") if name in program.made}
