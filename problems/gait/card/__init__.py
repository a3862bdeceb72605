"""The report card of a gait: its curves and numbers beside people's, and its faults in words."""

from ocp.problems.gait.card.leaving import save_card
from ocp.problems.gait.card.report import report_card
from ocp.problems.gait.card.words import card_lines, card_table

__all__ = ["card_lines", "card_table", "report_card", "save_card"]
