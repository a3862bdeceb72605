"""Words of solves beside their certificates, on random problems whose bases are coarse.

Arms that reach, carts and acrobots that swing up, and robots that hop are drawn at random, on
splines and meshes of few points. `solve(...).require()` is to take what a certificate passes to
1e-2, and to refuse what it refuses.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import pi

import numpy as np

from ocp import (
    PLAIN,
    BSpline,
    HermiteSimpson,
    Link,
    NotSolved,
    NotVerified,
    Problem,
    Radau,
    Solver,
    Spline,
    Transcription,
    Tree,
    at_end,
    at_start,
    duration,
    effort,
    joint_limits,
    revolute,
    solve,
    torque_limits,
    verify,
)
from ocp.cli import BAD_ARGUMENTS, DONE, FAILED, exit_status
from ocp.models.swing_ups.acrobot import acrobot
from ocp.models.swing_ups.cart_pole import cart_pole
from ocp.problems.benchmarks import print_table, program_parser
from ocp.problems.hopping.monoped_hop import problem as monoped
from ocp.problems.hopping.pogo_hop import problem as pogo

TOLERANCE = 1e-2
LIMIT = Solver(options={"max_iter": 400})
HEADER = ("problem", "seed", "require()", "certificate", "agree", "said")
Stated = tuple[Problem, Transcription]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What was said of a `problem`: whether `require` took it, and whether its certificate passed;
    `said` is the reason of either. Not `solved`, it is no part of the comparison."""

    problem: str
    seed: int
    solved: bool
    taken: bool
    certified: bool
    said: str

    @property
    def agrees(self) -> bool:
        """Whether word and certificate are the same."""
        return self.taken == self.certified


def arm(random: np.random.Generator) -> Stated:
    """Return an arm of two or three links that reaches with least effort, or in least time."""
    count = int(random.integers(2, 4))
    links = tuple(_link(random) for _ in range(count))
    joints = tuple(_hinge(k, float(random.uniform(20, 60)) / (k + 1)) for k in range(count))
    gravity = (0.0, -9.81, 0.0) if random.random() < 0.5 else (0.0, 0.0, 0.0)
    tree = Tree(links=links, joints=joints, gravity=gravity)
    points = int(random.integers(7, 24))
    ends = (
        at_start(tree, q=random.uniform(-0.5, 0.5, count), qd=0.0),
        at_end(tree, q=random.uniform(-1.5, 1.5, count), qd=0.0),
    )
    hurried = random.random() < 0.5
    problem = Problem(
        tree=tree,
        motion=BSpline(points=points, degree=int(random.choice([3, 4, 5]))),
        duration=(0.1, 5.0) if hurried else float(random.uniform(0.6, 1.5)),
        objective=duration() if hurried else effort(tree),
        constraints=(*ends, torque_limits(tree)) if hurried else ends,
    )
    methods = (
        Spline(),
        Spline(nodes=1, panels=1),
        HermiteSimpson(intervals=points),
        Radau(intervals=max(3, points // 3)),
    )
    return problem, _by(random, methods)


def _link(random: np.random.Generator) -> Link:
    inertia = float(random.uniform(0.01, 0.05)) * np.eye(3)
    com = (float(random.uniform(0.1, 0.3)), 0.0, 0.0)
    return Link(mass=float(random.uniform(0.5, 3.0)), com=com, inertia=inertia)


def _hinge(k: int, torque: float):
    if k == 0:
        return revolute("j0", torque=torque)
    return revolute(f"j{k}", f"j{k - 1}", home=(0.4, 0, 0), torque=torque)


def swing(random: np.random.Generator) -> Stated:
    """Return a cart with a pole, or an acrobot, that swings up with least effort."""
    points = int(random.integers(20, 140))
    motion = BSpline(points=points, degree=5)
    methods = (
        Spline(),
        Spline(),
        HermiteSimpson(intervals=points),
        Radau(intervals=max(5, points // 2)),
    )
    if random.random() < 0.5:
        cart = cart_pole()
        goal = (float(random.uniform(0.3, 1.2)), pi)
        ends = at_start(cart, q=0.0, qd=0.0), at_end(cart, q=goal, qd=0.0)
        limits = joint_limits(cart), torque_limits(cart)
        cost, constraints = effort(cart, ("cart",)), (*ends, *limits)
        T, tree = float(random.uniform(1.8, 2.5)), cart
    else:
        tree, T = acrobot(), 3.0
        start = (float(random.uniform(-1.3, -0.8)), 0.0)
        constraints = at_start(tree, q=start, qd=0.0), at_end(tree, q=(pi / 2, 0.0), qd=0.0)
        cost = 0.5 * effort(tree, ("elbow",))
    problem = Problem(tree=tree, motion=motion, duration=T, objective=cost, constraints=constraints)
    return problem, _by(random, methods)


def hop(random: np.random.Generator) -> Stated:
    """Return a mass that hops on a telescopic leg."""
    problem = pogo(
        height=float(random.uniform(0.02, 0.3)),
        mass=float(random.uniform(5, 80)),
        points=int(random.integers(7, 16)),
    )
    few = int(random.integers(3, 10))
    return problem, _by(random, (Spline(), Radau(intervals=few), HermiteSimpson(intervals=few)))


def stride(random: np.random.Generator) -> Stated:
    """Return a torso that hops on along the ground on a leg with a knee."""
    few = int(random.integers(8, 24))
    problem = monoped(speed=float(random.uniform(0.6, 1.4)))
    return problem, _by(random, (Radau(intervals=few), HermiteSimpson(intervals=few)))


def _by(random: np.random.Generator, methods: Sequence) -> Transcription:
    return Transcription(method=methods[int(random.integers(len(methods)))])


KINDS: Mapping[str, Callable[[np.random.Generator], Stated]] = {
    "arm": arm,
    "swing": swing,
    "hop": hop,
    "stride": stride,
}
SHARES = {"arm": 15, "swing": 15, "hop": 4, "stride": 6}  # of the problems that are compared


def judged(kind: str, seed: int) -> Verdict:
    """Return the Verdict on a random problem of a kind."""
    random = np.random.default_rng((list(KINDS).index(kind), seed))
    problem, transcription = KINDS[kind](random)
    solution = solve(problem, transcription, LIMIT, attempts=PLAIN)
    taken = certified = True
    said = ""
    try:
        solution.require()
    except NotSolved as error:
        taken, said = False, str(error).split("\n")[min(1, solution.success)]
    try:
        verify(solution).require(TOLERANCE)
    except NotVerified as error:
        certified, said = False, said or str(error).split("\n")[1]
    return Verdict(
        problem=f"{kind}, {transcription.method.name}",
        seed=seed,
        solved=solution.success,
        taken=taken,
        certified=certified,
        said=said.partition("; next:")[0],
    )


def verdicts(kind: str, count: int):
    """Yield the Verdicts on so many random problems of a kind that are solved."""
    seed = 0
    while count:
        each = judged(kind, seed)
        seed += 1
        if each.solved:
            count -= 1
            yield each


def _row(each: Verdict) -> tuple[str, ...]:
    words = {True: "takes it", False: "refuses it"}
    agree = "yes" if each.agrees else "NO"
    return each.problem, str(each.seed), words[each.taken], words[each.certified], agree, each.said


def run(arguments: Sequence[str] | None = None) -> int:
    """Print the table that the command line asks for and return the exit status."""
    parser = program_parser("compare_verdicts", __doc__)
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; by default all")
    kinds = parser.parse_args(arguments).kinds or list(KINDS)
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        print(
            f"compare_verdicts: error: expected {', '.join(KINDS)}, got {unknown[0]!r}",
            file=sys.stderr,
        )
        return BAD_ARGUMENTS
    every: list[Verdict] = []

    def rows():
        for kind in kinds:
            for each in verdicts(kind, SHARES[kind]):
                every.append(each)
                yield _row(each)

    print_table(HEADER, rows())
    agreed = sum(each.agrees for each in every)
    print(f"\nword and certificate agree in {agreed} of {len(every)}")
    return DONE if agreed == len(every) else FAILED


if __name__ == "__main__":
    sys.exit(exit_status(run))
