"""Pictures of a motion; matplotlib, on its Agg canvas without pyplot and so without window or global state, loads when one is made."""
import io
import json
import tempfile
from collections import namedtuple
from contextlib import contextmanager
from math import ceil, isfinite
from pathlib import Path

import casadi as ca
import numpy as np

from ocp.kinematics import poses
from ocp.solution import write
from ocp.spline import sample
from ocp.transcribe import transcribe

PICTURES, FILMS = (".png", ".svg", ".pdf"), (".gif", ".html")
LABELS = {"q": ("angle (rad)", "slide (m)"), "qd": ("angular velocity (rad/s)", "velocity (m/s)"), "tau": ("torque (N m)", "force (N)"),
          "qdd": ("angular acceleration (rad/s²)", "acceleration (m/s²)"), "force": ("joint force, norm (N)",) * 2,
          "moment": ("joint moment, norm (N m)",) * 2}
# Okabe & Ito (2008), told apart by colour-blind eyes; without the yellow, which white paper swallows, and with a grey
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (5, 1.2, 1.2, 1.2)))
MANY, ACROSS = len(COLOURS), 5                    # more joints than MANY have panels of their own, ACROSS side by side, and mapped colours
WIDTH, TEXT, SMALL, DPI = 7.2, 8, 7, 200          # of a page between its margins, in; of letters, pt
STEPS, NEAR, FLAT, FLOOR = 200, 5, 1e-6, 1e-16    # of a curve; reach of limits in view; thickness of a planar figure; a log scale's zero
BARS = {"link": "-", "slide": (0, (2, 1))}
MARKS = {"fixed": (".", 4), "prismatic": ("s", 6), "screw": ("D", 4), "revolute": ("o", 4)}
# A stick figure: places (N, P, 2 or 3; m) at times t (N,) along global axes, the last of which points up (1) or down (-1);
# bars {kind: pairs of places}, hubs {kind of joint: places}, feet (places on the ground), tips {name of point: place}
_Stick = namedtuple("_Stick", "t places axes up bars hubs feet tips")


def plot(solution, path=None):
    """Return the overview on one page: joints, torques within limits, internal forces, snapshots, convergence.

    It is a matplotlib Figure, and written to `path`, if any, as .png, .svg or .pdf. Raises ValueError naming any other suffix.
    """
    tree = solution.problem.tree
    panels = [(quantity, joints) for quantity in ("q", "tau") for joints in _kinds(tree)] + [("force", tree.joints)]
    with _picture(path, WIDTH, 1.7 + 1.25 * max(3, len(panels))) as figure:
        figure.suptitle(f"{solution.status},  duration {solution.duration:.5g} s,  objective {solution.objective:.6g}", fontsize=TEXT + 1)
        left, right = figure.add_gridspec(1, 2, width_ratios=(1, 1.05))
        _panels(left.subgridspec(len(panels), 1).subplots(sharex=True), solution, panels)
        stage, *history = right.subgridspec(3, 1, height_ratios=(3, 1, 1))
        _snapshots(figure, stage, solution, 7)
        _convergence([figure.add_subplot(spec) for spec in history], solution)
        _legend(figure)
    return figure


def plot_joints(solution, path=None):
    """Return the profiles of position, rate and acceleration; joints that turn (rad) and that slide (m) in columns of their own."""
    kinds = _kinds(solution.problem.tree)
    return _sheet(solution, path, [(quantity, joints) for quantity in ("q", "qd", "qdd") for joints in kinds], 1.6, len(kinds))


def plot_torques(solution, path=None):
    """Return the joint torques (N m) and forces (N), shaded beyond their limits; each in a panel of its own if they are many."""
    tree = solution.problem.tree
    if tree.dof > MANY:
        return _sheet(solution, path, [("tau", [joint]) for joint in tree.moving], 1.05, ACROSS)
    return _sheet(solution, path, [("tau", joints) for joints in _kinds(tree)], 2.2)


def plot_reactions(solution, path=None):
    """Return the norms of force (N) and of moment about the anchor (N m) that each joint passes to its link."""
    return _sheet(solution, path, [(quantity, solution.problem.tree.joints) for quantity in ("force", "moment")], 2.0)


def plot_snapshots(solution, path=None, count=9):
    """Return stick figures at `count` equal steps, early faint and late dark, with the paths of the named points; planar where they can be.

    Raises ValueError for a count below 2."""
    if count < 2:
        raise ValueError(f"count: expected at least 2 snapshots, got {count}")
    with _picture(path, 5.5, 4.5) as figure:
        _snapshots(figure, figure.add_gridspec(1, 1)[0], solution, count)
    return figure


def plot_convergence(solution, path=None):
    """Return the objective and the largest violation (log scale, zero drawn at 1e-16) of every iteration."""
    with _picture(path, 5.5, 4.2) as figure:
        _convergence(figure.subplots(2, 1), solution)
    return figure


def spy(solution, path=None):
    """Return the pattern of the constraints' Jacobian, its rows gathered by constraint, its columns the duration and the control points.

    Raises ValueError if there are no such rows: a constraint on one variable alone is a bound of that variable.
    """
    transcribed = transcribe(solution.problem, solution.transcription)
    rows, nlp = {placed.name: np.sort(placed.row[placed.row >= 0]) for placed in transcribed.rows}, transcribed.nlp
    if not len(nlp.g_lower):
        raise ValueError("spy: the Jacobian has no rows: the problem has no constraints, or all of them are bounds of single variables")
    sparsity = nlp.jacobian.sparsity_out(1) if nlp.jacobian is not None else nlp.constraints.jac_sparsity(0, 0)
    row, column = (np.array(index, dtype=int) for index in sparsity.get_triplet())
    size = np.clip(65 * min(5.0 / sparsity.size2(), 4.8 / sparsity.size1()), 0.5, 6)           # pt, nine tenths of a cell in 5.0 x 4.8 in
    bounds = ", ".join(name for name in rows if not len(rows[name])) or "none"
    with _picture(path, WIDTH, 6.0) as figure:
        axes = figure.add_subplot()
        axes.plot(column, np.argsort(np.concatenate(list(rows.values())))[row], linestyle="", marker="s", markersize=size,
                  markeredgewidth=0, color=COLOURS[0], rasterized=len(row) > 20000)
        _label_matrix(axes, solution.problem, {name: len(own) for name, own in rows.items() if len(own)}, sparsity.size2())
        figure.suptitle(f"{sparsity.size1()} constraints, {sparsity.size2()} variables, {sparsity.nnz()} nonzeros\n"
                        f"bounds of variables: {bounds}", fontsize=TEXT)
    return figure


def animate(solution, path, seconds=None, rate=25):
    """Write the moving stick figure as .gif, or as .html that plays by itself; raise ValueError naming any other suffix.

    `seconds`: playing time, by default the motion's own but at least 2 s; `rate`: frames per second.
    """
    if Path(path).suffix.lower() not in FILMS:
        raise ValueError(f"{path}: suffix {Path(path).suffix!r}: expected one of {', '.join(FILMS)}")
    seconds = max(2.0, solution.duration) if seconds is None else seconds
    if not (0 < seconds < np.inf and 0 < rate < np.inf):
        raise ValueError(f"animate: expected positive numbers of seconds and frames per second, got {seconds} and {rate}")
    stick = _stick(solution, solution.times(max(2, round(seconds * rate) + 1)))
    write(path, _gif(stick, rate) if Path(path).suffix.lower() == ".gif" else _page(stick, seconds))


@contextmanager
def _picture(path, width, height):
    """Give an empty Figure (in) to draw in, and write it if there is a path."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    if path is not None and Path(path).suffix.lower() not in PICTURES:
        raise ValueError(f"{path}: suffix {Path(path).suffix!r}: expected one of {', '.join(PICTURES)}")
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    yield figure
    if path is not None:
        buffer = io.BytesIO()
        figure.savefig(buffer, format=Path(path).suffix[1:].lower(), dpi=DPI)
        write(path, buffer.getvalue())


def _kinds(tree):
    """Return the joints that turn and those that slide; only what there is."""
    return list(filter(None, ([joint for joint in tree.moving if (joint.kind == "prismatic") == slides] for slides in (False, True))))


def _sheet(solution, path, panels, height, columns=1):
    """Return a page of panels, each `height` (in) high."""
    lines = ceil(len(panels) / columns)
    with _picture(path, WIDTH, 0.6 + height * lines) as figure:
        grid = figure.subplots(lines, columns, sharex=True, squeeze=False).ravel()
        _panels(grid, solution, panels)
        for axes in grid[len(panels):]:
            axes.set_visible(False)
        if len(panels) <= MANY:
            _legend(figure)
    return figure


def _panels(grid, solution, panels):
    """Draw panels (quantity, joints), each in its axes; a single joint among many stands in the title."""
    motion, tree, looks, traces = solution.problem.motion, solution.problem.tree, _looks(solution), {}
    t = solution.duration * sample(motion, ceil(STEPS / motion.segments))           # hits the knots, where accelerations have kinks
    for axes, (quantity, joints) in zip(grid, panels):
        if quantity in ("force", "moment"):
            traces[quantity] = dict(zip(tree.names, np.linalg.norm(solution.reactions(t)[quantity == "moment"], axis=0)))
        elif quantity not in traces:
            traces[quantity] = dict(zip([joint.name for joint in tree.moving], getattr(solution, quantity)(t)))
        lines = np.array([traces[quantity][joint.name] for joint in joints])
        for joint, line in zip(joints, lines):
            axes.plot(t, line, label=joint.name, **looks[joint.name])
        _style(axes, "time (s)" if axes.get_subplotspec().is_last_row() else "", LABELS[quantity][joints[0].kind == "prismatic"])
        axes.set_title(joints[0].name if len(panels) > MANY else "", fontsize=SMALL)
        axes.set(xlim=(t[0], t[-1]), ylim=(0 if quantity in ("force", "moment") else None, None))
        if quantity == "tau":
            _shade(axes, joints, lines, looks)
    grid[0].figure.align_ylabels(grid)


def _style(axes, x, y):
    axes.set_xlabel(x, fontsize=TEXT)
    axes.set_ylabel(y, fontsize=TEXT)
    axes.tick_params(which="both", labelsize=SMALL)
    axes.grid(True, linewidth=0.4, color="0.88")


def _shade(axes, joints, values, looks):
    """Shade what lies beyond the torque limits: grey if joints share them, else in the joint's colour; of many, what all are denied."""
    pairs = [joint.torque for joint in joints]
    if len(joints) > MANY:
        pairs = [(min(lower for lower, _ in pairs), max(upper for _, upper in pairs))] * len(joints)
    seen = [values.min(), values.max(), *(bound for pair in pairs for bound in pair if abs(bound) <= NEAR * np.abs(values).max())]
    margin = 0.07 * np.ptp(seen) or 1.0
    low, high = min(seen) - margin, max(seen) + margin
    for pair, joint in dict(zip(pairs, joints)).items():
        colour, alpha = (looks[joint.name]["color"], 0.15) if pairs.count(pair) == 1 < len(pairs) else ("0.5", 0.25)
        for bound, far in zip(pair, (min(low, pair[0] - margin), max(high, pair[1] + margin))):
            if isfinite(bound):
                axes.axhspan(bound, far, facecolor=(colour, alpha), edgecolor=colour, linewidth=0.7, zorder=0)
    axes.set_ylim(low, high)


def _looks(solution):
    """Return {joint name: line style}; dashes help where colours do not."""
    from matplotlib import colormaps
    names = solution.problem.tree.names
    colours, width = (COLOURS, 1.3) if len(names) <= MANY else (colormaps["viridis"](np.linspace(0.0, 0.9, len(names))), 0.9)
    return {name: {"color": colours[k], "linestyle": DASHES[k % len(DASHES)], "linewidth": width} for k, name in enumerate(names)}


def _legend(figure):
    """Add a legend of all joints below all panels, and the height (in) that it takes."""
    lines = {line.get_label(): line for axes in figure.axes for line in axes.lines if not line.get_label().startswith("_")}
    columns = min(len(lines), max(1, int(WIDTH / (0.55 + 0.065 * max(map(len, lines))))))
    figure.set_figheight(figure.get_figheight() + 0.1 + 0.15 * ceil(len(lines) / columns))
    figure.legend(lines.values(), lines, loc="outside lower center", ncols=columns, fontsize=SMALL, frameon=False, handlelength=2.6)


def _convergence(pair, solution):
    steps, unit = solution.history, "s" if [term[0] for term in solution.terms] == ["duration"] else "SI"
    columns = [step.objective for step in steps], [max(step.violation, FLOOR) for step in steps]
    for axes, values, labels in zip(pair, columns, (("", f"objective ({unit})"), ("iteration", "violation (SI)"))):
        axes.plot([step.number for step in steps], values, marker=".", markersize=4, linewidth=1.0, color=COLOURS[0])
        _style(axes, *labels)
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
        axes.axhspan(ends[k] - 0.5, ends[k + 1] - 0.5, facecolor=("0.95", "1.0")[k % 2], linewidth=0, zorder=0)
        axes.annotate(f"{name} ({count})", (1.0, centres[k]), (1.05, places[k]), xycoords=axes.get_yaxis_transform(), fontsize=SMALL,
                      va="center", annotation_clip=False, arrowprops={"arrowstyle": "-", "relpos": (0, 0.5), "lw": 0.5, "color": "0.5"})
    free, shown = width - n * points, np.arange(0, points, ceil(points / 12))
    _style(axes, ("duration T and " if free else "") + f"control points of {n} joints", "row")
    ticks, names = free + n * shown + (n - 1) / 2, [str(k) for k in shown]
    ticks[:free], names[:free] = 0, ["T"] * free
    axes.axvline(free - 0.5, color="0.5", linewidth=0.5)
    axes.set_xticks(ticks, names)
    axes.set(xlim=(-0.5, width - 0.5), ylim=(ends[-1] - 0.5, -0.5))


def _stick(solution, t):
    """Return the stick figure: links from their joint's anchor to their children's joints, where these are at q = 0, and to their points
    (to the centre of mass if there are neither); and for a joint that slides the way from its place at q = 0 to its anchor."""
    tree = solution.problem.tree
    n, parents, kinds = len(tree.joints), tree.parents, [joint.kind for joint in tree.joints]
    homes = [(np.array(joint.home) @ [*joint.anchor, 1.0])[:3] for joint in tree.joints]
    leaves = [k for k, name in enumerate(tree.names) if k not in parents and name not in [point.link for point in tree.points]]
    ends = [(tree.link_index(point.link), point.position) for point in tree.points] + [(k, tree.links[k].com) for k in leaves]
    places = [*((k, joint.anchor) for k, joint in enumerate(tree.joints)), *zip(parents, homes), *ends]

    def positions(at):
        frames = [*poses(at.tree, at.q), ca.DM.eye(4)]                              # the ground is link -1
        return ca.vertcat(*[frames[k][:3, :3] @ ca.DM(place) + frames[k][:3, 3] for k, place in places])
    spots = solution.trace(positions, t).T.reshape(len(t), len(places), 3)
    axes, up = _view(spots, np.array(tree.gravity))
    links = [(parent, n + k) for k, parent in enumerate(parents) if parent >= 0] + [(k, 2 * n + i) for i, (k, _) in enumerate(ends)]
    return _Stick(t=t, places=spots[:, :, axes], axes=["xyz"[axis] for axis in axes], up=up,
                  bars={"link": links, "slide": [(n + k, k) for k in range(n) if kinds[k] in ("prismatic", "screw")]},
                  hubs={kind: [k for k in range(n) if kinds[k] == kind] for kind in MARKS},
                  feet=[n + k for k in range(n) if parents[k] < 0], tips={point.name: 2 * n + i for i, point in enumerate(tree.points)})


def _view(spots, gravity):
    """Return the axes to draw, two if nothing moves along the third, the last against gravity; and if it points up (1) or down (-1)."""
    moved, spread = np.ptp(spots, axis=0).max(axis=0), np.ptp(spots, axis=(0, 1))
    hidden = min((axis for axis in (2, 1, 0) if moved[axis] <= FLAT * spread.max()), key=lambda axis: spread[axis], default=None)
    shown = [axis for axis in range(3) if axis != hidden]
    vertical = shown[np.abs(gravity[shown]).argmax()] if gravity[shown].any() else shown[-1]
    up = -1 if gravity[vertical] > 0 else 1
    sides = [(vertical + up) % 3, (vertical - up) % 3] if hidden is None else [axis for axis in shown if axis != vertical]  # right-handed
    return [*sides, vertical], up


def _stage(figure, spec, stick):
    """Return axes of equal scale, in the plane or in space, that hold the whole motion and the paths of its points."""
    low, high, flat = stick.places.min(axis=(0, 1)), stick.places.max(axis=(0, 1)), len(stick.axes) == 2
    middle, half = (low + high) / 2, 0.55 * np.maximum(high - low, 0.4 * (high - low).max() or 1.0)
    axes = figure.add_subplot(spec, projection=None if flat else "3d")
    _style(axes, *(f"{name} (m)" for name in stick.axes[:2]))
    axes.set(**{f"{axis}lim": limits for axis, limits in zip("xyz", np.transpose([middle - half, middle + half]))})
    axes.locator_params(nbins=4)
    if flat:
        axes.set_aspect("equal")
    else:
        axes.set_zlabel(f"{stick.axes[2]} (m)", fontsize=TEXT)
        axes.set_box_aspect(half, zoom=0.8)
    (axes.yaxis if flat else axes.zaxis).set_inverted(stick.up < 0)
    for place in stick.tips.values():
        axes.plot(*stick.places[:, place].T, color="0.6", linewidth=0.8, zorder=1.8)
    axes.plot(*stick.places[0, stick.feet].T, linestyle="", marker="^", markersize=9, color="0.6", zorder=1.8)
    return axes


def _pose(axes, stick, k, colour, width=2.2):
    """Draw the figure at instant k with bars of that width (pt); return what was drawn."""
    spots, drawn, size = stick.places[k], [], 1.0 if len(stick.bars["link"]) <= 2 * MANY else 0.6
    for kind, pairs in stick.bars.items():
        style = {"linestyle": BARS[kind], "linewidth": size * width, "solid_capstyle": "round", "zorder": 2}
        drawn += [axes.plot(*spots[list(pair)].T, color=colour, **style)[0] for pair in pairs]
    for kind, (marker, diameter) in MARKS.items():
        drawn += axes.plot(*spots[stick.hubs[kind]].T, linestyle="", marker=marker, markersize=size * diameter, color=colour,
                           markerfacecolor="white", markeredgewidth=0.9, zorder=3)
    return drawn


def _snapshots(figure, spec, solution, count):
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize
    step = ceil(STEPS / (count - 1))
    stick = _stick(solution, solution.times(step * (count - 1) + 1))
    axes, shades, last = _stage(figure, spec, stick), ListedColormap(colormaps["YlGnBu"](np.linspace(0.3, 1.0, 256))), len(stick.t) - 1
    for k in range(0, last + 1, step):
        _pose(axes, stick, k, shades(k / last), 2.2 if k in (0, last) else 1.2)
    paths = ", ".join(stick.tips) if len(stick.tips) <= 4 else "each named point"
    axes.set_title(f"grey: path of {paths}" if paths else "", fontsize=SMALL)
    bar = figure.colorbar(ScalarMappable(Normalize(0, solution.duration), shades), ax=axes, shrink=0.7, pad=0.04, fraction=0.06)
    bar.set_label("time (s)", fontsize=TEXT)
    bar.ax.tick_params(labelsize=SMALL)


def _gif(stick, rate):
    """Return the bytes of the film."""
    from matplotlib.animation import PillowWriter
    film, drawn = PillowWriter(fps=rate), []
    with _picture(None, 5.0, 4.5) as figure, tempfile.TemporaryDirectory() as folder:
        axes = _stage(figure, figure.add_gridspec(1, 1)[0], stick)
        film.setup(figure, Path(folder) / "film.gif", DPI / 2)
        for k, t in enumerate(stick.t):
            for artist in drawn:
                artist.remove()
            drawn = _pose(axes, stick, k, COLOURS[0])
            axes.set_title(f"t = {t:.4f} s", fontsize=TEXT)
            film.grab_frame()
        film.finish()
        return film.outfile.read_bytes()


def _page(stick, seconds):
    """Return the text of a page that plays the motion: frames as JSON, and the player."""
    frames = (stick.places * [*[1] * (len(stick.axes) - 1), stick.up]).round(6)
    note = "drag to turn" if len(stick.axes) == 3 else f"{stick.axes[0]} to the right, {stick.axes[1]} {'up' if stick.up > 0 else 'down'}"
    data = stick._asdict() | {"t": stick.t.tolist(), "places": frames.tolist(), "low": frames.min(axis=(0, 1)).tolist(),
                              "size": np.ptp(frames, axis=(0, 1)).tolist(), "seconds": seconds, "note": note}
    return PLAYER.replace("@DATA@", json.dumps(data).replace("</", "<\\/"))


PLAYER = r"""<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Motion</title><style>body { font: 14px sans-serif; margin: 1em }
canvas { width: 100%; height: 85vh; touch-action: none } input { width: 50% }</style><canvas></canvas><button>pause</button>
<input type="range" min="0" max="1" step="any" value="0" aria-label="time"> <label>speed <select><option>0.1<option>0.25<option>0.5
<option selected>1<option>2</select></label> <output></output><script type="application/json">@DATA@</script><script type="module">
const [canvas, play, slider, speed, clock, json] = document.querySelectorAll("canvas, button, input, select, output, script");
const {t, places, seconds, note, low, size, bars, hubs, feet, tips} = JSON.parse(json.textContent), pen = canvas.getContext("2d");
const T = t.at(-1), {cos, sin, min, floor, hypot, log10} = Math, reach = hypot(...size) || 1, flat = size.length < 3, blue = "#0072B2";
let phase = 0, playing = true, last = 0, yaw = -0.6, pitch = 0.35, scale = 1;
function screen(p) {
  const [x, y, z] = p.map((v, k) => v - low[k] - size[k] / 2), depth = x * sin(yaw) + y * cos(yaw);
  const [right, up] = flat ? [x, y] : [x * cos(yaw) - y * sin(yaw), z * cos(pitch) + depth * sin(pitch)];
  return [canvas.clientWidth / 2 + scale * right, canvas.clientHeight / 2 - scale * up];
}
function line(points, strokeStyle, lineWidth, dash = []) {
  Object.assign(pen, {strokeStyle, lineWidth, lineCap: dash.length ? "butt" : "round"}).setLineDash(dash); pen.beginPath();
  points.forEach(p => pen.lineTo(...p)); pen.stroke();
}
function dot(p, radius, fill) { pen.beginPath(); pen.arc(...p, radius, 0, 7); pen.fillStyle = fill; pen.fill(); pen.stroke(); }
function draw() {
  const ratio = devicePixelRatio, width = canvas.clientWidth, height = canvas.clientHeight, at = phase * (places.length - 1);
  canvas.width = width * ratio; canvas.height = height * ratio; pen.scale(ratio, ratio); pen.font = "13px sans-serif";
  scale = 0.86 * (flat ? min(width / (size[0] || reach), height / (size[1] || reach)) : min(width, height) / reach);
  const k = min(floor(at), places.length - 2), next = places[k + 1];
  const spots = places[k].map((p, i) => screen(p.map((v, j) => v + (at - k) * (next[i][j] - v))));
  for (const i of Object.values(tips)) line(places.map(frame => screen(frame[i])), "#aaa", 1);
  for (const i of feet) dot(screen(places[0][i]), 7, "#ccc");
  for (const kind in bars) for (const [i, j] of bars[kind]) line([spots[i], spots[j]], blue, ...kind === "link" ? [4] : [2, [6, 4]]);
  pen.lineWidth = 1.5; for (const i of Object.values(hubs).flat()) dot(spots[i], 4, "#fff");
  pen.fillStyle = "#222"; for (const name in tips) pen.fillText(name, spots[tips[name]][0] + 8, spots[tips[name]][1] - 6);
  const wish = 90 / scale, ten = 10 ** floor(log10(wish)), ruler = ten * [5, 2, 1].find(m => m * ten <= wish), y = height - 8;
  line([[12, y], [12 + scale * ruler, y]], "#222", 2); pen.fillText(`${+ruler.toPrecision(1)} m   ${note}`, 12, y - 8);
  slider.value = phase; clock.textContent = `t = ${(phase * T).toFixed(3)} s of ${T.toFixed(3)} s`;
}
requestAnimationFrame(function tick(now) {
  if (playing && last) phase = (phase + (now - last) / 1000 * speed.value / seconds) % 1;
  last = now; draw(); requestAnimationFrame(tick);
});
play.onclick = () => { playing = !playing; play.textContent = playing ? "pause" : "play"; };
slider.oninput = () => { phase = +slider.value; if (playing) play.onclick(); };
canvas.onpointermove = e => { if (e.buttons) { yaw -= e.movementX / 150; pitch += e.movementY / 150; } };
</script></html>"""
