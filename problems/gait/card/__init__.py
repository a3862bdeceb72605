"""The report card of a gait: its curves and numbers beside people's, and its faults in words."""

from ocp.problems.gait.card.report import card_lines, report_card

__all__ = ["card_lines", "report_card"]
