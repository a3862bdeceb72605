"""A gait laboratory's files: persons scaled to markers, angles, moments, events and a report."""

from ocp.problems.lab.marker_sets import MarkerSet, known_sets
from ocp.problems.lab.measured_person import MeasuredPerson, scale
from ocp.problems.lab.modelled_person import person_of_model
from ocp.problems.lab.muscles.electromyograms import Electromyograms, electromyograms
from ocp.problems.lab.muscles.muscle_excitations import MuscleExcitations, muscle_excitations
from ocp.problems.lab.muscles.muscle_forces import MuscleForces, muscle_forces
from ocp.problems.lab.muscles.synergies import Synergies, muscle_synergies
from ocp.problems.lab.report import LabSettings, lab, save_analysis
from ocp.problems.lab.strides import Cycle, Event
from ocp.problems.lab.tracked_trial import TrackedTrial, track
from ocp.problems.lab.trial_analysis import Analysis, analyse, weights_of
from ocp.problems.lab.what_if import Change, WhatIf, predicted_walk, what_if

__all__ = [
    "Analysis",
    "Change",
    "Cycle",
    "Electromyograms",
    "Event",
    "LabSettings",
    "MarkerSet",
    "MeasuredPerson",
    "MuscleExcitations",
    "MuscleForces",
    "Synergies",
    "TrackedTrial",
    "WhatIf",
    "analyse",
    "electromyograms",
    "known_sets",
    "lab",
    "muscle_excitations",
    "muscle_forces",
    "muscle_synergies",
    "person_of_model",
    "predicted_walk",
    "save_analysis",
    "scale",
    "track",
    "weights_of",
    "what_if",
]
