"""When the feet of a plain step change how they stand, by name."""

from ocp.problems.gait.statement.contact_schedule import PLAIN

BALL_OFF, FLAT, TOE_OFF, HEEL_OFF = PLAIN.ball_off, PLAIN.flat, PLAIN.toe_off, PLAIN.heel_off
