"""Pictures of a motion; matplotlib, on its Agg canvas without pyplot and so without window or global state, loads when one is made."""

from math import ceil, isfinite

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics import poses, position
from ocp.mechanics.tree import Point
from ocp.motion.spline import sample
from ocp.plots.animation import FILMS, MARKS, Stick, draw, film, stage
from ocp.plots.canvas import COLOURS, SMALL, TEXT, WIDTH, check_suffix, picture, style
from ocp.transcription.transcribe import transcribe
from ocp.transcription.variables import free_duration

LABELS = {
    "q": ("angle (rad)", "slide (m)"),
    "qd": ("angular velocity (rad/s)", "velocity (m/s)"),
    "tau": ("torque (N m)", "force (N)"),
    "qdd": ("angular acceleration (rad/s²)", "acceleration (m/s²)"),
    "force": ("joint force, norm (N)",) * 2,
    "moment": ("joint moment, norm (N m)",) * 2,
}
AMPLITUDES = {
    "q": ("amplitude (rad)", "amplitude (m)"),
    "qd": ("its rate (rad/s)", "its rate (m/s)"),
    "qdd": ("its acceleration (rad/s²)", "its acceleration (m/s²)"),
}
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (5, 1.2, 1.2, 1.2)))
BENT = (0.2, 0.4, 0.6, 0.8)  # where along a flexible link it is drawn bent
MANY, ACROSS = (
    len(COLOURS),
    5,
)  # more joints than MANY have panels of their own, ACROSS side by side, and mapped colours
STEPS, NEAR, FLAT, FLOOR = (
    200,
    5,
    1e-6,
    1e-16,
)  # of a curve; reach of limits in view; thickness of a planar figure; a log scale's zero


def plot(solution, path=None):
    """Return the overview on one page: joints, torques within limits, internal forces, snapshots, convergence.

    It is a matplotlib Figure, and written to `path`, if any, as .png, .svg or .pdf. Raises ValueError naming any other suffix.
    """
    tree = solution.problem.tree
    panels = [
        (quantity, joints) for quantity in ("q", "tau") for joints in _kinds(tree, quantity)
    ] + [("force", tree.joints)]
    with picture(path, WIDTH, 1.7 + 1.25 * max(3, len(panels))) as figure:
        figure.suptitle(
            f"{solution.status},  duration {solution.duration:.5g} s,  objective {solution.objective:.6g}",
            fontsize=TEXT + 1,
        )
        left, right = figure.add_gridspec(1, 2, width_ratios=(1, 1.05))
        _panels(left.subgridspec(len(panels), 1).subplots(sharex=True), solution, panels)
        snapshots, *history = right.subgridspec(3, 1, height_ratios=(3, 1, 1))
        _snapshots(figure, snapshots, solution, 7)
        _convergence([figure.add_subplot(spec) for spec in history], solution)
        _legend(figure)
    return figure


def plot_joints(solution, path=None):
    """Return the profiles of position, rate and acceleration; joints that turn (rad) and that slide (m) in columns of their own."""
    kinds = _kinds(solution.problem.tree)
    return _sheet(
        solution,
        path,
        [(quantity, joints) for quantity in ("q", "qd", "qdd") for joints in kinds],
        1.6,
        len(kinds),
    )


def plot_torques(solution, path=None):
    """Return the joint torques (N m) and forces (N), shaded beyond their limits; each in a panel of its own if they are many."""
    tree = solution.problem.tree
    if tree.dof > MANY:
        return _sheet(
            solution,
            path,
            [("tau", [joint]) for joint in tree.moving if joint.name in tree.names],
            1.05,
            ACROSS,
        )
    return _sheet(solution, path, [("tau", joints) for joints in _kinds(tree, "tau")], 2.2)


def plot_reactions(solution, path=None):
    """Return the norms of force (N) and of moment about the anchor (N m) that each joint passes to its link."""
    return _sheet(
        solution,
        path,
        [(quantity, solution.problem.tree.joints) for quantity in ("force", "moment")],
        2.0,
    )


def plot_snapshots(solution, path=None, count=9):
    """Return stick figures at `count` equal steps, early faint and late dark, with the paths of the named points; planar where they can be.

    Raises ValueError for a count below 2."""
    if count < 2:
        raise ValueError(f"count: expected at least 2 snapshots, got {count}")
    with picture(path, 5.5, 4.5) as figure:
        _snapshots(figure, figure.add_gridspec(1, 1)[0], solution, count)
    return figure


def plot_convergence(solution, path=None):
    """Return the objective and the largest violation (log scale, zero drawn at 1e-16) of every iteration."""
    with picture(path, 5.5, 4.2) as figure:
        _convergence(figure.subplots(2, 1), solution)
    return figure


def spy(solution, path=None):
    """Return the pattern of the constraints' Jacobian, its rows gathered by constraint, its columns the duration and the control points.

    Raises ValueError if there are no such rows: a constraint on one variable alone is a bound of that variable.
    """
    transcribed = transcribe(solution.problem, solution.transcription)
    rows, nlp = (
        {placed.name: np.sort(placed.row[placed.row >= 0]) for placed in transcribed.rows},
        transcribed.nlp,
    )
    if not len(nlp.g_lower):
        raise ValueError(
            "spy: the Jacobian has no rows: the problem has no constraints, or all of them are bounds of single variables"
        )
    sparsity = (
        nlp.jacobian.sparsity_out(1)
        if nlp.jacobian is not None
        else nlp.constraints.jac_sparsity(0, 0)
    )
    row, column = (np.array(index, dtype=int) for index in sparsity.get_triplet())
    size = np.clip(
        65 * min(5.0 / sparsity.size2(), 4.8 / sparsity.size1()), 0.5, 6
    )  # pt, nine tenths of a cell in 5.0 x 4.8 in
    bounds = ", ".join(name for name in rows if not len(rows[name])) or "none"
    with picture(path, WIDTH, 6.0) as figure:
        axes = figure.add_subplot()
        axes.plot(
            column,
            np.argsort(np.concatenate(list(rows.values())))[row],
            linestyle="",
            marker="s",
            markersize=size,
            markeredgewidth=0,
            color=COLOURS[0],
            rasterized=len(row) > 20000,
        )
        _label_matrix(
            axes,
            solution.problem,
            {name: len(own) for name, own in rows.items() if len(own)},
            sparsity.size2(),
        )
        figure.suptitle(
            f"{sparsity.size1()} constraints, {sparsity.size2()} variables, {sparsity.nnz()} nonzeros\n"
            f"bounds of variables: {bounds}",
            fontsize=TEXT,
        )
    return figure


def animate(solution, path, seconds=None, rate=25):
    """Write the moving stick figure as .gif, or as .html that plays by itself; raise ValueError naming any other suffix.

    `seconds`: playing time, by default the motion's own but at least 2 s; `rate`: frames per second.
    """
    check_suffix(path, FILMS)
    seconds = max(2.0, solution.duration) if seconds is None else seconds
    if not (0 < seconds < np.inf and 0 < rate < np.inf):
        raise ValueError(
            f"animate: expected positive numbers of seconds and frames per second, got {seconds} and {rate}"
        )
    film(path, _stick(solution, solution.times(max(2, round(seconds * rate) + 1))), seconds, rate)


def _kinds(tree, quantity="q"):
    """Return the joints that turn and those that slide, then, but for torques, modal amplitudes likewise; only what there is."""
    kinds = [
        (own, slides)
        for own in ((True,) if quantity == "tau" else (True, False))
        for slides in (False, True)
    ]
    return list(
        filter(
            None,
            (
                [
                    joint
                    for joint in tree.moving
                    if (joint.name in tree.names, joint.kind == "prismatic") == kind
                ]
                for kind in kinds
            ),
        )
    )


def _sheet(solution, path, panels, height, columns=1):
    """Return a page of panels, each `height` (in) high."""
    lines = ceil(len(panels) / columns)
    with picture(path, WIDTH, 0.6 + height * lines) as figure:
        grid = figure.subplots(lines, columns, sharex=True, squeeze=False).ravel()
        _panels(grid, solution, panels)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        if len(panels) <= MANY:
            _legend(figure)
    return figure


def _panels(grid, solution, panels):
    """Draw panels (quantity, joints), each in its axes; a single joint among many stands in the title."""
    motion, tree, looks, traces = (
        solution.problem.motion,
        solution.problem.tree,
        _looks(solution),
        {},
    )
    t = solution.duration * sample(
        motion, ceil(STEPS / motion.segments)
    )  # hits the knots, where accelerations have kinks
    for axes, (quantity, joints) in zip(grid, panels):
        if quantity in ("force", "moment"):
            traces[quantity] = dict(
                zip(tree.names, np.linalg.norm(solution.reactions(t)[quantity == "moment"], axis=0))
            )
        elif quantity not in traces:
            traces[quantity] = dict(
                zip([joint.name for joint in tree.moving], getattr(solution, quantity)(t))
            )
        lines = np.array([traces[quantity][joint.name] for joint in joints])
        for joint, line in zip(joints, lines):
            axes.plot(t, line, label=joint.name, **looks[joint.name])
        labels = LABELS if joints[0].name in tree.names else AMPLITUDES
        style(
            axes,
            "time (s)" if axes.get_subplotspec().is_last_row() else "",
            labels[quantity][joints[0].kind == "prismatic"],
        )
        axes.set_title(joints[0].name if len(panels) > MANY else "", fontsize=SMALL)
        axes.set(xlim=(t[0], t[-1]), ylim=(0 if quantity in ("force", "moment") else None, None))
        if quantity == "tau":
            _shade(axes, joints, lines, looks)
    grid[0].figure.align_ylabels(grid)


def _shade(axes, joints, values, looks):
    """Shade what lies beyond the torque limits: grey if joints share them, else in the joint's colour; of many, what all are denied."""
    pairs = [joint.torque for joint in joints]
    if len(joints) > MANY:
        pairs = [(min(lower for lower, _ in pairs), max(upper for _, upper in pairs))] * len(joints)
    seen = [
        values.min(),
        values.max(),
        *(bound for pair in pairs for bound in pair if abs(bound) <= NEAR * np.abs(values).max()),
    ]
    margin = 0.07 * np.ptp(seen) or 1.0
    low, high = min(seen) - margin, max(seen) + margin
    for pair, joint in dict(zip(pairs, joints)).items():
        colour, alpha = (
            (looks[joint.name]["color"], 0.15)
            if pairs.count(pair) == 1 < len(pairs)
            else ("0.5", 0.25)
        )
        for bound, far in zip(pair, (min(low, pair[0] - margin), max(high, pair[1] + margin))):
            if isfinite(bound):
                axes.axhspan(
                    bound, far, facecolor=(colour, alpha), edgecolor=colour, linewidth=0.7, zorder=0
                )
    axes.set_ylim(low, high)


def _looks(solution):
    """Return {joint name: line style}; dashes help where colours do not."""
    from matplotlib import colormaps

    tree = solution.problem.tree
    names = list(dict.fromkeys([*tree.names, *(joint.name for joint in tree.moving)]))
    colours, width = (
        (COLOURS, 1.3)
        if len(names) <= MANY
        else (colormaps["viridis"](np.linspace(0.0, 0.9, len(names))), 0.9)
    )
    return {
        name: {"color": colours[k], "linestyle": DASHES[k % len(DASHES)], "linewidth": width}
        for k, name in enumerate(names)
    }


def _legend(figure):
    """Add a legend of all joints below all panels, and the height (in) that it takes."""
    lines = {
        line.get_label(): line
        for axes in figure.axes
        for line in axes.lines
        if not line.get_label().startswith("_")
    }
    columns = min(len(lines), max(1, int(WIDTH / (0.55 + 0.065 * max(map(len, lines))))))
    figure.set_figheight(figure.get_figheight() + 0.1 + 0.15 * ceil(len(lines) / columns))
    figure.legend(
        lines.values(),
        lines,
        loc="outside lower center",
        ncols=columns,
        fontsize=SMALL,
        frameon=False,
        handlelength=2.6,
    )


def _convergence(pair, solution):
    steps, unit = (
        solution.history,
        "s" if [term[0] for term in solution.terms] == ["duration"] else "SI",
    )
    columns = [step.objective for step in steps], [max(step.violation, FLOOR) for step in steps]
    for axes, values, labels in zip(
        pair, columns, (("", f"objective ({unit})"), ("iteration", "violation (SI)"))
    ):
        axes.plot(
            [step.number for step in steps],
            values,
            marker=".",
            markersize=4,
            linewidth=1.0,
            color=COLOURS[0],
        )
        style(axes, *labels)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_title("" if steps else "no iterations recorded", fontsize=SMALL)
        if steps and (axes is pair[1] or max(values) > 1e3 * min(values) > 0):
            axes.set_yscale("log")
    pair[0].tick_params(labelbottom=False)
    pair[0].figure.align_ylabels(pair)


def _label_matrix(axes, problem, blocks, width):
    """Mark the rows of each constraint, {name: count}, the names of thin ones moved apart, and the columns of the control points."""
    ends, n, points = np.cumsum([0, *blocks.values()]), problem.tree.dof, problem.motion.points
    gaps, centres = ends[-1] / 26 * np.arange(len(blocks)), (ends[:-1] + ends[1:] - 1) / 2
    places = np.minimum(np.maximum.accumulate(centres - gaps), ends[-1] - 1 - gaps[-1]) + gaps
    for k, (name, count) in enumerate(blocks.items()):
        axes.axhspan(
            ends[k] - 0.5,
            ends[k + 1] - 0.5,
            facecolor=("0.95", "1.0")[k % 2],
            linewidth=0,
            zorder=0,
        )
        axes.annotate(
            f"{name} ({count})",
            (1.0, centres[k]),
            (1.05, places[k]),
            xycoords=axes.get_yaxis_transform(),
            fontsize=SMALL,
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "relpos": (0, 0.5), "lw": 0.5, "color": "0.5"},
        )
    free, shown = int(free_duration(problem)), np.arange(0, points, ceil(points / 12))
    style(axes, ("duration T and " if free else "") + f"control points of {n} joints", "row")
    ticks, names = free + n * shown + (n - 1) / 2, [str(k) for k in shown]
    ticks[:free], names[:free] = 0, ["T"] * free
    axes.axvline(free - 0.5, color="0.5", linewidth=0.5)
    axes.set_xticks(ticks, names)
    axes.set(xlim=(-0.5, width - 0.5), ylim=(ends[-1] - 0.5, -0.5))


def _stick(solution, t):
    """Return the stick figure: links, as they bend, from their joint's anchor to their children's joints, where these are at q = 0, and to
    their points (to the centre of mass or a flexible link's tip if there are neither); and for a joint that slides the way from its place
    at q = 0 to its anchor. Links whose shapes are known at some places only are drawn straight between these."""
    tree = solution.problem.tree
    n, parents, kinds = len(tree.joints), tree.parents, [joint.kind for joint in tree.joints]
    anchors, homes = (
        [joint.anchor for joint in tree.joints],
        [(np.array(joint.home) @ [*joint.anchor, 1.0])[:3] for joint in tree.joints],
    )
    leaves = [
        k
        for k, name in enumerate(tree.names)
        if k not in parents and name not in [point.link for point in tree.points]
    ]
    ends = [(tree.link_index(point.link), point.position) for point in tree.points] + [
        (k, _tip(tree.links[k])) for k in leaves
    ]
    places = [*enumerate(anchors), *zip(parents, homes), *ends]
    links = []
    for k, end in [(parent, n + k) for k, parent in enumerate(parents) if parent >= 0] + [
        (k, 2 * n + i) for i, (k, _) in enumerate(ends)
    ]:
        modes, way = tree.links[k].modes, np.array(places[end][1]) - anchors[k]
        chain = [
            k,
            *range(len(places), len(places) + (len(BENT) if modes and modes.curves else 0)),
            end,
        ]
        places += [(k, anchors[k] + part * way) for part, _ in zip(BENT, chain[1:-1])]
        links += zip(chain, chain[1:])

    def positions(at):
        frames = [*poses(at.tree, at.q), ca.DM.eye(4)]  # the ground is link -1
        return ca.vertcat(
            *(_spot(at, frames, k, place, number < n) for number, (k, place) in enumerate(places))
        )

    spots = solution.trace(positions, t).T.reshape(len(t), len(places), 3)
    axes, up = _view(spots, np.array(tree.gravity))
    return Stick(
        t=t,
        places=spots[:, :, axes],
        axes=["xyz"[axis] for axis in axes],
        up=up,
        bars={
            "link": links,
            "slide": [(n + k, k) for k in range(n) if kinds[k] in ("prismatic", "screw")],
        },
        hubs={kind: [k for k in range(n) if kinds[k] == kind] for kind in MARKS},
        feet=[n + k for k in range(n) if parents[k] < 0],
        tips={point.name: 2 * n + i for i, point in enumerate(tree.points)},
    )


def _tip(link):
    """Return the place (3) that stands for the end of a link: of a flexible one the beam's tip or the farthest place that is known."""
    if link.modes is None:
        return link.com
    places = (
        [(link.modes.length, 0.0, 0.0)]
        if link.modes.curves
        else [place.position for place in link.modes.places]
    )
    return max(places, key=np.linalg.norm, default=link.com)


def _spot(at, frames, k, place, anchor):
    """Return where a place (3) on link k is; an `anchor` is where the link does not bend."""
    if k >= 0 and at.tree.links[k].modes is not None and not anchor:
        return position(at.tree, at.q, Point(name="place", link=at.tree.names[k], position=place))
    return frames[k][:3, :3] @ ca.DM(place) + frames[k][:3, 3]


def _view(spots, gravity):
    """Return the axes to draw, two if nothing moves along the third, the last against gravity; and if it points up (1) or down (-1)."""
    moved, spread = np.ptp(spots, axis=0).max(axis=0), np.ptp(spots, axis=(0, 1))
    hidden = min(
        (axis for axis in (2, 1, 0) if moved[axis] <= FLAT * spread.max()),
        key=lambda axis: spread[axis],
        default=None,
    )
    shown = [axis for axis in range(3) if axis != hidden]
    vertical = shown[np.abs(gravity[shown]).argmax()] if gravity[shown].any() else shown[-1]
    up = -1 if gravity[vertical] > 0 else 1
    sides = (
        [(vertical + up) % 3, (vertical - up) % 3]
        if hidden is None
        else [axis for axis in shown if axis != vertical]
    )  # right-handed
    return [*sides, vertical], up


def _snapshots(figure, spec, solution, count):
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    step = ceil(STEPS / (count - 1))
    stick = _stick(solution, solution.times(step * (count - 1) + 1))
    axes, shades, last = (
        stage(figure, spec, stick),
        ListedColormap(colormaps["YlGnBu"](np.linspace(0.3, 1.0, 256))),
        len(stick.t) - 1,
    )
    for k in range(0, last + 1, step):
        draw(axes, stick, k, shades(k / last), 2.2 if k in (0, last) else 1.2)
    paths = ", ".join(stick.tips) if len(stick.tips) <= 4 else "each named point"
    axes.set_title(f"grey: path of {paths}" if paths else "", fontsize=SMALL)
    bar = figure.colorbar(
        ScalarMappable(Normalize(0, solution.duration), shades),
        ax=axes,
        shrink=0.7,
        pad=0.04,
        fraction=0.06,
    )
    bar.set_label("time (s)", fontsize=TEXT)
    bar.ax.tick_params(labelsize=SMALL)
