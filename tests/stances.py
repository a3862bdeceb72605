"""Changes of foot support in a plain step, by name."""

from ocp.problems.gait.statement.contact_schedule import PLAIN

BALL_OFF, FLAT, TOE_OFF, HEEL_OFF = PLAIN.ball_off, PLAIN.flat, PLAIN.toe_off, PLAIN.heel_off
