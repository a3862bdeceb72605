"""What is printed of records in the transcription stays short."""

from ocp.problems.two_link_time import problem

from ocp.transcription import METHODS, Transcription, transcribe


def test_representations_stay_below_a_thousand_characters():
    transcribed = transcribe(problem(points=6))
    records = [transcribed, transcribed.layout, *transcribed.groups, *transcribed.rows]
    records += [Transcription(), *(method() for method in METHODS.values())]
    for record in records:
        assert len(repr(record)) < 1000, type(record).__name__
