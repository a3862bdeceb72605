"""Pictures of a walk: the step in figures and from above, the gait cycle beside measured ones, and the walk going on as a film."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from ocp.models.human import SOLES, normative
from ocp.problems.gait.cycle import OTHER, REFLECTED, cycle, step_length

from ocp.mechanics.kinematics import positions
from ocp.mechanics.zero_moment import hull
from ocp.plots import (
    ARROW,
    COLOURS,
    FILMS,
    SMALL,
    TEXT,
    WIDTH,
    Body,
    Stick,
    check_suffix,
    film,
    gif,
    picture,
    plan,
    rulers,
    scene,
    show,
    strip,
    style,
)
from ocp.solution import write

LEG = ("hip", "knee", "ankle", "heel", "ball_med", "toe")
SIDE = (
    *zip(LEG, LEG[1:]),
    ("ankle", "ball_med"),
    ("C7T1", "shoulder"),
    ("shoulder", "elbow"),
    ("elbow", "wrist"),
    ("wrist", "grip"),
)
MIDLINE = ("C7T1", "T6", "L5S1", "pelvis_origin")


def _sided(letter):
    return tuple(
        tuple(name if name in MIDLINE else f"{name}_{letter}" for name in pair) for pair in SIDE
    )


BODY = Body(
    bars={
        "left": _sided("l"),
        "middle": (("hip_r", "hip_l"), *zip(MIDLINE, MIDLINE[1:]), ("C7T1", "neck")),
        "right": _sided("r"),
    },
    colours={"right": COLOURS[1], "left": COLOURS[0], "middle": "0.25"},
    force=COLOURS[2],
    balls={"head": ("middle", 0.10)},
    middle="pelvis_origin",
)
SIDEWAYS, FRONT, ABOVE = (
    (2, 1),
    (0, 1),
    (2, 0),
)  # planes of view: forward and up, left and up, forward and left
INSTANTS = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)  # of the step, that are drawn
RIGHT, LEFT, MEASURED = (
    COLOURS[1],
    COLOURS[0],
    {"winter": "0.55", "fukuchi": "0.1", "falisse": COLOURS[2]},
)
SOURCE = {
    "winter": "Winter, mean ± SD (no less than 0.05 BW)",
    "fukuchi": "Fukuchi, mean",
    "falisse": "Falisse, one adult ± SD",
}
# Panels of the cycle: title, ours, {source: the measured quantity, of forces with the sign that turns it to ours}.
ANGLES = (
    ("hip flexion", "hip_flex", {"winter": "hip_flex_deg", "fukuchi": "hip_flex_deg"}),
    ("knee flexion", "knee_flex", {"winter": "knee_flex_deg", "fukuchi": "knee_flex_deg"}),
    ("ankle dorsiflexion", "ankle_df", {"winter": "ankle_df_deg", "fukuchi": "ankle_df_deg"}),
    ("hip abduction", "hip_abd", {"falisse": "hip_abd_deg"}),
    ("shoulder flexion", "shou_flex", {"falisse": "arm_flex_deg"}),
    ("elbow flexion", "elb_flex", {"falisse": "elbow_flex_deg"}),
)
TORQUES = (
    ("hip torque, flexion +", "hip_flex", {"falisse": "tau_hip_flex_Nm_kg"}),
    ("knee torque, flexion +", "knee_flex", {"falisse": "tau_knee_flex_Nm_kg"}),
    ("ankle torque, dorsiflexion +", "ankle_df", {"falisse": "tau_ankle_df_Nm_kg"}),
)
FORCES = (
    ("vertical force", 1, {"winter": ("grf_vertical_BW", 1.0)}),
    ("fore-aft force, forward +", 2, {"winter": ("grf_foreaft_BW", 1.0)}),
    ("sideways force, inward +", 0, {"falisse": ("grf_right_BW", -1.0)}),
)
INNER = (
    ("hip joint force", "hip_flex"),
    ("knee joint force", "knee_flex"),
    ("ankle joint force", "ankle_df"),
)


def plot_walk(solution, path=None):
    """Return one page: the step from the side and from the front with the ground's forces, and the ground from above with the zero moment
    point; written to `path`, if any, as .png, .svg or .pdf. Raises ValueError naming any other suffix."""
    with picture(path, WIDTH, 7.2) as figure:
        T, s = (
            solution.duration,
            np.unique(np.concatenate([np.linspace(0, 1, 201), solution.problem.ground.switches])),
        )
        figures, above = (
            scene(solution, T * np.array(INSTANTS), body_points()),
            scene(solution, T * s, {}),
        )
        side, front, ground = figure.subplots(3, 1, height_ratios=(2.1, 2.2, 2.2))
        labels = [f"{50 * instant:g} %" for instant in INSTANTS]
        strip(side, figures, BODY, SIDEWAYS, 1.0, labels)
        strip(front, figures, BODY, FRONT, 1.0, labels)
        rulers(front, BODY, 1.6, -0.27)
        side.set_title(
            "the step from the right side, at percentages of the gait cycle", fontsize=TEXT
        )
        front.set_title("from the front", fontsize=TEXT)
        _footprints(ground, solution)
        handles = plan(ground, above, BODY, ABOVE, s)
        ground.set_title(
            "from above: soles (grey), supports (coloured), and where the zero moment point is when they change",
            fontsize=TEXT,
        )
        ground.set(xlabel="forward, z (m)", ylabel="to the left, x (m)")
        figure.legend(
            handles=handles, loc="outside lower center", ncols=3, fontsize=SMALL, frameon=False
        )
    return figure


def plot_cycle(solution, path=None):
    """Return one page over the gait cycle of the right leg: joint angles, torques per body mass, ground forces and the norms of joint forces,
    of both legs, with measured curves behind; written to `path`, if any. Raises ValueError naming an unknown suffix."""
    with picture(path, WIDTH, 9.6) as figure:
        walk, panels = cycle(solution), figure.subplots(5, 3, sharex=True)
        for axes, (title, joint, measured) in zip(panels[:2].ravel(), ANGLES):
            _panel(
                axes,
                walk,
                walk.angles[f"{joint}_r"],
                title,
                {source: (name, 1.0) for source, name in measured.items()},
            )
        for axes, (title, joint, measured) in zip(panels[2], TORQUES):
            if f"{joint}_r" in walk.torques:
                _panel(
                    axes,
                    walk,
                    walk.torques[f"{joint}_r"] / walk.mass,
                    title,
                    {source: (name, 1.0) for source, name in measured.items()},
                )
                beyond(axes, [limit / walk.mass for limit in walk.limits[f"{joint}_r"]])
        for axes, (title, row, measured) in zip(panels[3], FORCES):
            _panel(axes, walk, walk.forces["right"][row], title, measured)
        for axes, (title, joint) in zip(panels[4], INNER):
            _panel(axes, walk, walk.joint_forces[f"{joint}_r"], title, {})
        for row, unit in zip(
            panels,
            (
                "angle (deg)",
                "angle (deg)",
                "torque (N m/kg)",
                "force (body weights)",
                "norm (body weights)",
            ),
        ):
            row[0].set_ylabel(unit, fontsize=TEXT)
        for axes in panels[4]:
            axes.set_xlabel("gait cycle (%)", fontsize=TEXT)
        figure.align_ylabels(panels[:, 0])
        handles = {}
        for axes in panels.ravel():
            handles |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels())}
        figure.legend(
            handles.values(),
            handles,
            loc="outside lower center",
            ncols=3,
            fontsize=SMALL,
            frameon=False,
        )
    return figure


def animate_walk(solution, path, steps=4, slower=2.0, rate=25):
    """Write the walk going on for `steps` steps, `slower` than it is, at `rate` frames per second: as .gif from the side and the front, or as
    .html in space. Raises ValueError naming any other suffix, and for numbers that make no film."""
    check_suffix(path, FILMS)
    if not (steps >= 1 and 0 < slower < np.inf and 0 < rate < np.inf):
        raise ValueError(
            f"animate_walk: expected at least one step and positive numbers, got {steps} steps, {slower} slower, rate {rate}"
        )
    frames = max(2, round(solution.duration * slower * rate))  # of a step
    going = going_on(solution, steps, frames)
    if Path(path).suffix.lower() == ".gif":
        write(path, gif(partial(_acted, going), len(going.t), rate, (9.0, 3.9)))
    else:
        film(path, _in_space(solution, going, steps), steps * solution.duration * slower, rate)


def going_on(solution, steps, frames):
    """Return the Scene of so many steps, each the mirror image of the one before it and a step further on, of `frames` instants each; and of
    the last instant."""
    first = scene(solution, solution.times(frames + 1), body_points())
    found, way, T = [], np.array([[0.0], [0.0], [step_length(solution.problem)]]), solution.duration
    for number in range(steps):
        kept = slice(None) if number == steps - 1 else slice(0, -1)
        flip = (lambda values: values) if number % 2 == 0 else (lambda values: REFLECTED * values)
        swap = (lambda name: name) if number % 2 == 0 else _partner
        found.append(
            replace(
                first,
                t=first.t[kept] + number * T,
                zmp=flip(first.zmp)[:, kept] + number * way,
                points={
                    name: flip(first.points[swap(name)])[:, kept] + number * way
                    for name in first.points
                },
                forces={foot: flip(first.forces[swap(foot)])[:, kept] for foot in OTHER},
                pressures={
                    foot: flip(first.pressures[swap(foot)])[:, kept] + number * way
                    for foot in OTHER
                },
            )
        )
    join = np.concatenate
    return replace(
        first,
        t=join([part.t for part in found]),
        zmp=np.hstack([part.zmp for part in found]),
        **{
            what: {
                name: np.hstack([getattr(part, what)[name] for part in found])
                for name in getattr(first, what)
            }
            for what in ("points", "forces", "pressures")
        },
    )


def body_points():
    """Return {name: function(Instant)} of all that BODY is drawn by."""
    names = {name for pairs in BODY.bars.values() for pair in pairs for name in pair} - {"neck"}
    found = {name: lambda at, name=name: at.position(name) for name in sorted(names)}
    between = {"neck": 0.18, "head": 0.60}  # of the way from the neck's root to the top of the head
    return found | {
        name: lambda at, part=part: (
            (1 - part) * at.position("C7T1") + part * at.position("head_top")
        )
        for name, part in between.items()
    }


def beyond(axes, limits):
    """Shade what lies beyond the limits, where they come into view; the view stays as it is."""
    low, high = axes.get_ylim()
    for bound, far in zip(limits, (low, high)):
        if low < bound < high:
            axes.axhspan(
                bound,
                far,
                facecolor="0.8",
                edgecolor="0.5",
                linewidth=0.7,
                zorder=0,
                label="beyond the torque limit",
            )
    axes.set_ylim(low, high)


def _partner(name):
    if name in OTHER:
        return OTHER[name]
    return name[:-1] + {"r": "l", "l": "r"}[name[-1]] if name.endswith(("_r", "_l")) else name


def _soles(solution, steps):
    """Return the outlines (k, 3) of the soles where they stand flat: the left foot behind, then one foot a step further on each time."""
    tree, step = solution.problem.tree, step_length(solution.problem)
    heel = next(
        np.array(pin.target) for pin in solution.problem.ground.foot("right").supports[0].pins
    )
    places = positions(tree, np.zeros(tree.dof), (*SOLES["right"], "heel_r"))
    *flat, lowest = (np.array(place).ravel() for place in places)
    own = np.array(flat) - lowest + heel
    return [
        hull(
            (own if number % 2 == 0 else own * REFLECTED[:, 0]) + (0.0, 0.0, number * step),
            (0.0, 1.0, 0.0),
        )
        for number in range(-1, steps + 1)
    ]


def _footprints(axes, solution):
    for sole in _soles(solution, 0):
        axes.fill(
            *sole[:, list(ABOVE)].T, facecolor="0.93", edgecolor="0.7", linewidth=0.6, zorder=1
        )


def _panel(axes, walk, right, title, measured):
    """Draw a quantity of both legs, and behind it what was measured."""
    for source, (quantity, sign) in measured.items():
        record = normative(source)
        mean, spread = (
            sign * record.mean(quantity, walk.percent),
            record.spread(quantity, walk.percent),
        )
        if spread is not None:
            axes.fill_between(
                walk.percent,
                mean - spread,
                mean + spread,
                facecolor=(MEASURED[source], 0.28),
                linewidth=0,
                zorder=1,
                label=SOURCE[source],
            )
        axes.plot(
            walk.percent,
            mean,
            color=MEASURED[source],
            linewidth=0.9,
            linestyle="-" if spread is not None else (0, (1, 1)),
            zorder=2,
            label=SOURCE[source] if spread is None else "_",
        )
    axes.plot(
        walk.percent,
        walk.left(right),
        color=LEFT,
        linewidth=1.0,
        linestyle=(0, (5, 1.5)),
        zorder=3,
        label="left leg",
    )
    axes.plot(walk.percent, right, color=RIGHT, linewidth=1.6, zorder=4, label="right leg")
    axes.axvline(
        walk.toe_off,
        color="0.4",
        linewidth=0.7,
        linestyle=(0, (2, 2)),
        zorder=1,
        label="right toe off",
    )
    axes.set_title(title, fontsize=TEXT, pad=3)
    style(axes, "", "")
    axes.set(xlim=(0, 100), xticks=(0, 25, 50, 75, 100))


def _acted(going, figure):
    """Set the scene of the film from the side and the front; return act(k)."""
    low, high = (fun([fun(going.points[name][2]) for name in going.points]) for fun in (min, max))
    side, front = figure.subplots(1, 2, width_ratios=(high - low + 0.3, 1.0))
    for axes, limits, name in (
        (side, (low - 0.15, high + 0.15), "forward, z (m)"),
        (front, (-0.5, 0.5), "to the left, x (m)"),
    ):
        style(axes, name, "")
        axes.axhline(0.0, color="0.5", linewidth=0.8)
        axes.set(xlim=limits, ylim=(-0.08, 1.95), aspect="equal")
    side.set_ylabel("up, y (m)", fontsize=TEXT)

    def act(k):
        figure.suptitle(f"t = {going.t[k]:.2f} s", fontsize=TEXT)
        return show(side, going, BODY, k, SIDEWAYS, width=2.4) + show(
            front, going, BODY, k, FRONT, width=2.4
        )

    return act


def _in_space(solution, going, steps):
    """Return the Stick, axes forward, left and up, of a scene: bars, the head as two rings, forces, and soles on the ground."""
    names, count = list(going.points), len(going.t)
    places = [going.points[name] for name in names]
    bars = {
        part: [(names.index(a), names.index(b)) for a, b in pairs]
        for part, pairs in BODY.bars.items()
    }
    angle = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    round_ = np.array([np.cos(angle), np.sin(angle), 0 * angle])
    for name, (part, radius) in BODY.balls.items():
        for rows in ([2, 1, 0], [0, 1, 2]):
            bars[part] = bars[part] + _ring(len(places), len(angle))
            places += [going.points[name] + radius * spoke[rows, None] for spoke in round_.T]
    for foot in OTHER:
        bars[f"force {foot}"] = [(len(places), len(places) + 1)]
        start = np.where(
            np.isfinite(going.pressures[foot]),
            going.pressures[foot],
            np.nan_to_num(_held(going.pressures[foot])),
        )
        bearing = np.isfinite(going.pressures[foot])
        places += [start, start + ARROW * np.where(bearing, going.forces[foot], 0.0)]
    bars["sole"] = []
    for sole in _soles(solution, steps):
        bars["sole"] += _ring(len(places), len(sole))
        places += [np.repeat(corner[:, None], count, axis=1) for corner in sole]
    colours = {part: (_hex(BODY.colours[part]), 1.2) for part in BODY.bars}
    colours |= {f"force {foot}": (BODY.force, 0.7) for foot in OTHER} | {"sole": ("#999999", 0.4)}
    return Stick(
        t=going.t,
        places=np.transpose(places, (2, 0, 1))[:, :, [2, 0, 1]],
        axes=["z", "x", "y"],
        up=1,
        bars=bars,
        colours=colours,
    )


def _ring(first, count):
    return [(first + k, first + (k + 1) % count) for k in range(count)]


def _held(values):
    """Return values (3, N) with what is not a number replaced by the last number before it, or the first of all."""
    known = np.flatnonzero(np.isfinite(values[0]))
    return values[
        :,
        known[np.maximum(np.searchsorted(known, np.arange(values.shape[1]), side="right") - 1, 0)],
    ]


def _hex(colour):
    return colour if colour.startswith("#") else "#" + 3 * f"{round(255 * float(colour)):02x}"
