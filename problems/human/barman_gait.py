"""The gait of the thesis as stated there: 55 coordinates by 6 control points, 330 variables.

Torques follow from the motion and the ground's forces in two passes, so that control points are the
only unknowns; the end mirrors angles and rates alone; all nine families of constraints, effort
alone, and first a motion that meets them, from q = 0 (Barman 2020, chapter V).
"""

from functools import partial

from ocp import Problem, Published, Spline, Task, Transcription, Views
from ocp.cli import main
from ocp.problems.gait import CARD
from ocp.problems.gait import effort_step as step_of
from ocp.problems.gait.pictures.film import animate_walk
from ocp.problems.gait.pictures.step_pictures import draw
from ocp.problems.gait.statement.thesis_gait import literal_lines, literal_report, predict, total

SOURCE = "Barman 2020, section 5.2"


def problem(
    speed: float | None = None,
    step: float | None = None,
    points: int = 6,
    person: str = "",
    active: str = "all",
    objective: str = "effort",
    contact: float = 0.005,
    slip: float = 0.3,
    hold: str = "throughout",
    without: str = "",
    exact: bool = False,
    pieces: int = 64,
) -> Problem:
    """`speed`: of walking (m/s), 1.2 for the man of 1.75 m; `step`: length of a step (m), 0.6 for
    him; `points`: control points per joint; `person`: woman or man of a percentile, f5, f50, f95,
    m5, m50 or m95; `active`: joints that move, all (55), gait (38) or names separated by commas;
    `objective`: effort, torque or constant; `contact`: tolerance of the contact points' place (m);
    `slip`: and of their velocity (m/s); `hold`: feet in their places throughout, or at both ends;
    `without`: families of constraints to leave out, separated by commas, of angles, torques,
    contact, balance, coupling, avoidance, symmetry, clearance and places; `exact`: feet stand
    without tolerances, between nodes too; `pieces`: of the step, for knots of joints that follow.
    """
    return step_of(
        speed=speed,
        step=step,
        points=points,
        person=person,
        active=active,
        objective=objective,
        smooth=0.0,
        contact=contact,
        slip=slip,
        balance="zmp",
        jump=True,
        without=without,
        hold=hold,
        exact=exact,
        pieces=pieces,
    )


PRINTED = partial(Published, source=SOURCE, comparable=False)
PUBLISHED = (
    PRINTED(
        quantity="design variables",
        value=330,
        within=0.0,
        ours=lambda solution: solution.statistics["variables"],
        remark="55 joints by 6 control points",
    ),
    PRINTED(
        quantity="constraints",
        value=1726,
        ours=lambda solution: solution.statistics["constraints"],
        remark="at how many instants they hold is not printed",
    ),
    PRINTED(
        quantity="active constraints",
        value=244,
        ours=lambda solution: total(solution).active,
        remark="of one of two optima, J 2.5636 and 2.5776 at their ends; the model and its limits "
        "are not printed",
    ),
    PRINTED(
        quantity="seconds of the solver",
        value=34.10,
        ours=lambda solution: solution.statistics["solve_cpu_seconds"],
        remark="of the processor; SNOPT on a Xeon E-2186G of 3.80 GHz there: not comparable",
    ),
)

TASK = Task(
    problem,
    method=predict,
    transcription=Transcription(method=Spline(nodes=5, torques="explicit")),
    views=Views(
        plot=draw, animate=animate_walk, report=literal_report, lines=literal_lines, files=(CARD,)
    ),
    published=PUBLISHED,
)

if __name__ == "__main__":
    main(TASK)
