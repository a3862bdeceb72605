"""Models: functions that return a Tree, of arms, mechanisms and the human."""
