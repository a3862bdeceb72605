"""One motion that lifts boxes of several masses, beside a lift of one mass and an outer search.

    python -m problems.benchmarks.solvers.scenario_lifts [boxes] [kg]

The boxes are of equal steps from 0 to the heaviest. The motion is that of the least worst effort
over all of them, which is no less than the effort of any box lifted alone: the outer search.
Seconds are the processor's.
"""

import sys
import time

from ocp import Parameter, Solution, Solver, Transcription
from ocp.problems.lifting.solve_lifts import lift
from ocp.problems.lifting.statement.lift import problem
from ocp.problems.lifting.statement.lifting_task import Box
from ocp.solving import Scenarios, solve_scenarios, verify_scenarios

TOLERANCE = 1e-2


def main(count: int = 9, heaviest: float = 8.0) -> None:
    """Print costs, seconds and certificates."""
    mass = Parameter("box_mass", heaviest, "kg", lower=0.0)
    task = problem(box=Box(mass=mass))
    boxes = [{"box_mass": heaviest * k / (count - 1)} for k in range(count)]

    def alone(kilograms: float) -> tuple[Solution, float]:
        begin = time.process_time()
        values = {"box_mass": kilograms}
        solved = lift(task, Transcription(), Solver(), values=values).require()
        return solved, time.process_time() - begin

    heavy, seconds = alone(heaviest)
    begin = time.process_time()
    asked = Scenarios(values=boxes, objective="worst")
    robust = solve_scenarios(task, asked, guess=heavy).require()
    together = time.process_time() - begin
    print(robust)
    for number, certificate in verify_scenarios(robust).items():
        print(f"  {boxes[number]['box_mass']:g} kg: {certificate.verdict(TOLERANCE)}")
    costs = [alone(each["box_mass"])[0].objective for each in boxes[:-1]]
    costs.append(heavy.objective)
    print(f"one box of {heaviest:g} kg: {heavy.objective:.6f} in {seconds:.2f} s")
    print(
        f"{count} boxes: {robust.objective:.6f} in {seconds + together:.2f} s, that lift included"
    )
    print(f"  {(seconds + together) / seconds:.2f} times the time")
    print(f"each box alone: {', '.join(f'{cost:.4f}' for cost in costs)}")
    print(
        f"outer search: at least {max(costs):.6f}; off by {robust.objective / max(costs) - 1:.1e}"
    )


if __name__ == "__main__":
    counts, masses = sys.argv[1:2], sys.argv[2:3]
    main(*map(int, counts), *map(float, masses))
