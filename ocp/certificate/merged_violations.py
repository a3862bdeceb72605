"""Constraint violations of a solution, those of its phases and transitions included."""

from collections.abc import Mapping
from dataclasses import replace

from ocp.certificate.row_violations import Violation, motion_violations
from ocp.problem.reserved_names import name_in_phase
from ocp.solution.solution import Solution


def violations(solution: Solution) -> dict[str, Violation]:
    """Return {name: Violation} for every constraint of a solution, and for its tree's own laws.

    Of a motion of phases they are those of each, by names that begin with its own and at times of
    the whole, and of what joins them; see `motion_violations` for what each is measured by.
    """
    parts = {name: motion_violations(phase) for name, phase in solution.parts.items()}
    return join_violations(solution, parts)


def join_violations(
    solution: Solution, parts: Mapping[str, Mapping[str, Violation]]
) -> dict[str, Violation]:
    """Return {name: Violation} of a motion of phases, of which those of its `parts` are known."""
    from ocp.certificate.transition_violations import link_violations  # loads when one is judged

    return on_whole_time(solution, parts) | link_violations(solution)


def on_whole_time(
    solution: Solution, parts: Mapping[str, Mapping[str, Violation]]
) -> dict[str, Violation]:
    """Return {name: Violation} of the `parts` of a motion, by names and at times of the whole."""
    table, begin = {}, 0.0
    for name, known in parts.items():
        for each in known.values():
            full = name_in_phase(name, each.name)
            table[full] = replace(each, name=full, time=begin + each.time)
        begin += solution.parts[name].duration
    return table
