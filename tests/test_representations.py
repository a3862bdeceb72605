"""Printed representations of records are short."""

from ocp.dynamics import FORMULATIONS
from ocp.mechanics import structure
from ocp.models.arms.flexible_arm import flexible_arm
from ocp.problems.arms.two_link_time import problem
from ocp.problems.gait import effort_step as step
from ocp.transcription import METHODS, Transcription, transcribe_phase


def test_representations_stay_below_a_thousand_characters():
    transcribed = transcribe_phase(problem(points=6))
    records = [transcribed, transcribed.layout, *transcribed.groups, *transcribed.rows]
    records += [Transcription(), *(method() for method in METHODS.values())]
    statement, arm = step(), flexible_arm()
    records += [statement, statement.ground, *statement.ground.feet, *statement.constraints]
    records += [statement.symmetry, statement.objective, *FORMULATIONS.values()]
    for tree in (statement.tree, arm):
        records += [tree, structure(tree), *tree.links, *tree.joints, *tree.points]
    records += [link.modes for link in arm.links]
    for record in records:
        assert len(repr(record)) < 1000, type(record).__name__
