"""The report of a folder of trials: numbers in files, curves beside norms, one page in HTML."""

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from ocp import NotSolved, __version__, save
from ocp.interchange import Table, load_model, save_table
from ocp.models.human import normative
from ocp.plots import Curve, Panel, panels
from ocp.problems.lab.laboratory_axes import recognise_axes
from ocp.problems.lab.marker_sets import MarkerTable, recognise
from ocp.problems.lab.measured_person import MeasuredPerson, places_of, scale
from ocp.problems.lab.modelled_person import person_of_model
from ocp.problems.lab.muscles.muscle_forces import MuscleForces
from ocp.problems.lab.strides import PERCENT
from ocp.problems.lab.tracked_trial import track
from ocp.problems.lab.trial_analysis import CUTOFF, Analysis, analyse
from ocp.problems.lab.trials import (
    Trial,
    body_mass,
    functional_trial,
    named_static,
    static_trial,
    trials,
)
from ocp.storage import plain, write

JOINTS = {"hip_flex": "hip flexion", "knee_flex": "knee flexion", "ankle_df": "dorsiflexion"}
UNITS = {"deg": "(deg)", "Nm_kg": "moment (N m/kg)", "W_kg": "power (W/kg)"}
NORMS = {"deg": ("fukuchi", "{}_deg"), "Nm_kg": ("falisse", "tau_{}_Nm_kg")}
STICKS = (
    ("head_top", "C7T1", "L5S1", "pelvis_origin"),
    *((f"shoulder_{side}", f"elbow_{side}", f"wrist_{side}") for side in "rl"),
    *((f"hip_{s}", f"knee_{s}", f"ankle_{s}", f"heel_{s}", f"toe_{s}") for s in "rl"),
    ("shoulder_r", "shoulder_l"),
    ("hip_r", "hip_l"),
)
ABREAST = 4  # panels of muscles in a row
STYLE = (
    "body{font:15px sans-serif;max-width:70em;margin:2em auto}"
    "td,th{padding:.1em .8em;text-align:left}svg{max-width:100%;height:auto}"
    "table{margin:1em 0}pre{white-space:pre-wrap}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabSettings:
    """What is known of a folder's person, and asked.

    Attributes:
        mass, stature, sex: of the person (kg, m), as of `scale`.
        table, up: the marker set and the upward axis, as of `scale`.
        cutoff: Hz, as of `analyse`.
        model: the file of a model of the person, in place of a static trial.
        functional: name of the trial in which thighs swing to all sides; by default one whose name
            says so, if there is one.
        emg: (column, names of the model's muscles) of tables of electromyograms, where they differ.
        track: whether trials are tracked with dynamics.
    """

    mass: float | None = None
    stature: float | None = None
    sex: Literal["male", "female"] = "male"
    table: MarkerTable = ""
    up: str = ""
    cutoff: float = CUTOFF
    model: str | Path | None = None
    functional: str = ""
    emg: tuple[tuple[str, tuple[str, ...]], ...] = ()
    track: bool = False


def lab(
    folder: str | Path, settings: LabSettings = LabSettings(), out: str | Path | None = None
) -> Path:
    """Analyse the trials of a folder and return the page that reports them.

    Beside the page are NAME_angles.mot, NAME_moments.sto and NAME.json of each trial, and of one
    that is tracked NAME_tracked.npz, for `ocp verify`, and its tables. A trial whose files and
    settings are as before is not analysed again; one that is refused is named with the reason, and
    the others go on.

    Args:
        folder: of .c3d files, or .trc files with those of plates.
        settings: what is known of the person, and asked.
        out: folder of what is written, by default "lab" in `folder`.

    Raises:
        ValueError: there are no trials, no static one, or it cannot be read.
    """
    every = trials(folder)
    swing = functional_trial(every, settings.functional)
    found = tuple(each for each in every if each != swing)
    if settings.model:
        if settings.functional:
            raise ValueError("functional: a model has its hips; expected no model beside it")
        static = named_static(found)
        first = next((each for each in found if each != static), every[0])
        person = person_of_file(settings.model, first, static, settings)
        source = (Path(settings.model), *(static.files if static else ()))
    else:
        static = static_trial(found, settings.table, settings.up)
        person = person_of(static, settings, swing)
        source = (*static.files, *(swing.files if swing else ()))
    place = Path(out) if out is not None else Path(folder) / "lab"
    place.mkdir(parents=True, exist_ok=True)
    answers = {
        each.name: _answer(each, source, person, settings, place)
        for each in found
        if each != static
    }
    page = place / "index.html"
    kept = [place / f"{each}.json" for each in answers]
    if page.is_file() and all(page.stat().st_mtime_ns > at.stat().st_mtime_ns for at in kept):
        return page
    write(page, _page(Path(folder).resolve().name, source[0].stem, person, answers))
    return page


def person_of(
    static: Trial, settings: LabSettings, functional: Trial | None = None
) -> MeasuredPerson:
    """Return the person of a static trial, whose mass is that on the plates if none is given, with
    the hips of a functional one."""
    seen, forces = static.read()
    mass = settings.mass
    if mass is None:
        axes = recognise_axes(
            seen, recognise(seen.values, seen.source, settings.table), settings.up
        )
        mass = body_mass(seen, forces, np.array(axes.turn)[1])
    return scale(
        seen,
        mass=mass,
        stature=settings.stature,
        sex=settings.sex,
        table=settings.table,
        up=settings.up,
        functional=functional.read()[0] if functional else None,
    )


def person_of_file(
    file: str | Path, trial: Trial, static: Trial | None, settings: LabSettings
) -> MeasuredPerson:
    """Return the person of a scaled model's file, who begins as a trial does, and whose markers are
    put where a static trial has them, if there is one."""
    return person_of_model(
        load_model(file),
        trial.read()[0],
        source=str(file),
        table=settings.table,
        up=settings.up,
        static=static.read()[0] if static else None,
    )


def _answer(
    trial: Trial, source: Sequence[Path], person: MeasuredPerson, settings: LabSettings, place: Path
) -> dict[str, Any]:
    """Return the answers of a trial: those on disk, or new ones, which are written there."""
    key = sha256(repr((__version__, settings)).encode())
    for path in (*source, *trial.files):
        key.update(path.read_bytes())
    kept = place / f"{trial.name}.json"
    if kept.is_file():
        before = json.loads(kept.read_text(encoding="utf-8"))
        if before["key"] == key.hexdigest():
            return before
    try:
        seen, forces = trial.read()
        emg = trial.read_emg(dict(settings.emg))
        found = analyse(person, seen, forces, cutoff=settings.cutoff, up=settings.up, emg=emg)
    except ValueError as error:
        answer: dict[str, Any] = {"refused": str(error)}
    else:
        save_analysis(found, place / trial.name)
        answer = _numbers(found)
        if settings.track:
            answer["tracked"] = _track_trial(found, place / f"{trial.name}_tracked")
    answer["key"] = key.hexdigest()
    write(kept, json.dumps(answer, indent=1))
    return answer


def _track_trial(found: Analysis, stem: Path) -> dict[str, object]:
    """Return the numbers of a trial's tracking, written to STEM.npz and its tables, or why there is
    none."""
    try:
        tracked = track(found)
    except (ValueError, NotSolved) as error:
        return {"refused": str(error)}
    save(tracked.solution, stem.with_suffix(".npz"))
    save_analysis(tracked.trial, stem)
    return tracked.data()


def save_analysis(found: Analysis, stem: Path) -> None:
    """Write the coordinates to STEM_angles.mot, the moments to STEM_moments.sto, those of the
    consistent motion to STEM_consistent.mot and STEM_consistent_moments.sto, and what muscles do to
    STEM_activations.sto and STEM_forces.sto."""
    joints = found.person.tree.moving
    names = [joint.name for joint in joints]
    places = [{"revolute": "rad", "prismatic": "m"}[joint.kind] for joint in joints]
    pushes = [{"revolute": "N m", "prismatic": "N"}[joint.kind] for joint in joints]
    fit, near, muscles = found.fit, found.consistent, found.muscles
    tables = {"angles.mot": (fit.t, names, fit.q, places)}
    if len(found.torques):
        tables["moments.sto"] = fit.t, names, found.torques, pushes
    if near is not None:
        tables["consistent.mot"] = near.t, names, near.q, places
        tables["consistent_moments.sto"] = near.t, names, near.torques, pushes
    if muscles is not None:
        own = list(muscles.names)
        tables["activations.sto"] = muscles.t, own, muscles.activations, ["1"] * len(own)
        tables["forces.sto"] = muscles.t, own, muscles.forces, ["N"] * len(own)
    for ending, (t, labels, rows, units) in tables.items():
        table = Table(t=t, labels=labels, values=rows, units=units)
        save_table(table, stem.with_name(f"{stem.name}_{ending}"))


def _numbers(found: Analysis) -> dict[str, Any]:
    """Return the numbers of an analysis that the page shows, as JSON has them."""
    force, moment = found.residuals
    return {
        "smoothing": found.smoothing,
        "doubts": found.doubts,
        "segments": found.segments,
        "residuals": [force, moment] if len(found.torques) else None,
        "consistent": _consistency(found) if found.consistent else None,
        "treads": [str(each) for each in found.treads],
        "reserve": found.muscles.largest_reserve if found.muscles else None,
        "emg": _followed(found.muscles) if found.muscles else {},
        "events": [[e.time, e.foot, e.kind, e.told] for e in found.events],
        "cycles": [
            {
                "foot": cycle.foot,
                "times": [cycle.start, cycle.off, cycle.end],
                "curves": plain(cycle.curves, null=True),
            }
            for cycle in found.cycles
        ],
    }


def _followed(muscles: MuscleForces) -> dict[str, Any]:
    """Return {muscle: how near its activation is to its envelope, and both} at up to 101 times."""
    shown = np.unique(np.linspace(0, len(muscles.t) - 1, len(PERCENT)).round().astype(int))
    curves = {"active": muscles.activations[:, shown], "envelope": muscles.followed[:, shown]}
    followed = {
        name: {
            "near": near,
            "t": muscles.t[shown],
            **{word: rows[muscles.names.index(name)] for word, rows in curves.items()},
        }
        for name, near in muscles.nearness.items()
    }
    return plain(followed, null=True)


def _consistency(found: Analysis) -> dict[str, Any]:
    """Return the numbers of the consistent motion, angles in degrees and lengths in mm."""
    near, kinds = found.consistent, {j.name: j.kind for j in found.person.tree.moving}
    assert near is not None
    sizes = {"revolute": np.degrees(1.0), "prismatic": 1e3}
    return {
        "before": near.before,
        "after": near.after,
        "status": near.status,
        "seconds": float(np.mean(near.known) * np.ptp(near.t)),
        "moved": {
            name: [float(sizes[kinds[name]] * each) for each in change]
            for name, change in near.moved.items()
        },
        "pushed": dict(near.pushed),
        "trunk": (1e3 * found.trunk).tolist(),
    }


def _page(
    name: str, source: str, person: MeasuredPerson, answers: Mapping[str, Mapping[str, Any]]
) -> str:
    """Return the page in HTML."""
    parts = [f"<h1>{html.escape(name)}</h1>", f"<h2>Person, by {html.escape(source)}</h2>"]
    parts += [f"<pre>{html.escape(str(person))}</pre>", _drawn(list(_posture(person)), 1)]
    rows = [[joint, f"{1e3 * off:.0f}"] for joint, off in person.off.items()]
    parts += [_rows(("joint", "off its centre (mm)"), rows)] if rows else []
    cycles = [cycle for each in answers.values() for cycle in each.get("cycles", ())]
    if cycles:
        parts += ["<h2>Strides beside norms</h2>", _drawn(list(_curves(cycles)), len(UNITS))]
        parts.append(
            "<p>Norms: angles of Fukuchi et al. 2018, moments of Falisse et al. 2019 (one adult); "
            "moments are internal.</p>"
        )
    for trial, each in answers.items():
        parts += [f"<h2>{html.escape(trial)}</h2>", *_trial(each, trial)]
    head = f"<meta charset=utf-8><title>{html.escape(name)}</title><style>{STYLE}</style>"
    return f"<!doctype html>{head}" + "\n".join(parts)


def _trial(answer: Mapping[str, Any], name: str) -> Iterator[str]:
    """Yield the paragraphs about a trial."""
    if "refused" in answer:
        yield f"<p><b>Refused:</b> {html.escape(answer['refused'])}</p>"
        return
    yield f"<p>{answer['smoothing']}</p>"
    if answer["residuals"]:
        force, moment = answer["residuals"]
        yield f"<p>Unexplained at the pelvis: {force:.0f} N, {moment:.0f} N m (rms).</p>"
    if answer["consistent"]:
        yield from _change(answer["consistent"])
    if "tracked" in answer:
        yield from _tracking(answer["tracked"], name)
    if answer["reserve"] is not None:
        lacking = answer["reserve"]
        yield "<h3>Muscles</h3>"
        yield f"<p>By static optimisation: they lack up to {lacking:.0f} N m.</p>"
    if answer["emg"]:
        yield from _electromyograms(answer["emg"])
    for word in ("doubts", "treads"):
        if answer[word]:
            items = "".join(f"<li>{html.escape(each)}" for each in answer[word])
            yield f"<h3>{word.capitalize()}</h3><ul>{items}</ul>"
    yield "<h3>Markers and events</h3>"
    rms = [[segment, f"{1e3 * off:.0f}"] for segment, off in answer["segments"].items()]
    yield _rows(("segment", "markers off (mm rms)"), rms)
    events = [[f"{time:.3f}", foot, kind, told] for time, foot, kind, told in answer["events"]]
    yield _rows(("time (s)", "foot", "event", "told by"), events)


def _tracking(answer: Mapping[str, Any], name: str) -> Iterator[str]:
    """Yield the paragraphs about tracking with dynamics."""
    yield "<h3>Tracked with dynamics</h3>"
    if "refused" in answer:
        yield f"<p><b>Not tracked:</b> {html.escape(answer['refused'])}</p>"
        return
    yield (
        f"<p>Tracked {answer['told']}: the motion and forces that make markers and plates "
        "likeliest, each by its noise, where nothing but the ground pushes the pelvis "
        f"({answer['status']}; Newton's iterations at the end: {answer['iterations']}). "
        f"<b>Certificate: {html.escape(answer['certificate'])}</b> (<code>ocp verify "
        f"{html.escape(name)}_tracked.npz</code>). Forces are off the plates by "
        f"{100 * answer['share']:.2f} % of the weight (rms).</p>"
    )
    if answer["reserve"] is not None:
        yield f"<p>Muscles along it lack up to {answer['reserve']:.0f} N m.</p>"
    sizes = [*answer["noise_mm"].values()]
    pairs = zip(answer["plates"], ("of constant errors", "at each instant"))
    weights = [
        [f"plates, {what}", f"{force:.2g} N; {1e3 * place:.2g} mm of the pressure's centre"]
        for (force, place), what in pairs
    ]
    weights[0].append("assumed")
    weights[1].append("scatter of their samples (Gasser et al. 1986), at least as of constant ones")
    marks = f"{min(sizes):.1f} to {max(sizes):.1f} mm, each below"
    source = "what inverse kinematics leave of each about its mean, over degrees of freedom"
    weights.append(["markers", marks, f"{source}; at least 1 mm"])
    yield _rows(("weighs by its noise", "standard deviation", "from"), weights)
    pushes = [[foot, f"{f:.1f}", f"{m:.1f}"] for foot, (f, m) in answer["forces"].items()]
    yield _rows(("foot", "off its plates (N, rms)", "about the origin (N m, rms)"), pushes)
    errors = [
        [stance, *(", ".join(f"{x:.1f}" for x in part) for part in parts)]
        for stance, parts in answer["errors"].items()
    ]
    head = "stance (foot, tread)", "its plate is off all along (N: left, up, ahead)"
    yield _rows((*head, "and its pressure (mm)"), errors)
    rows = [[part, f"{was:.1f}", f"{now:.1f}"] for part, (was, now) in answer["markers_mm"].items()]
    yield _rows(("segment", "markers off before (mm rms)", "tracked"), rows)
    moved = [[joint, f"{rms:.2f}", f"{most:.2f}"] for joint, (rms, most) in answer["moved"].items()]
    yield _rows(("coordinate", "tracked, changed (deg or mm, rms)", "at most"), moved)
    noise = [[marker, f"{size:.1f}"] for marker, size in answer["noise_mm"].items()]
    yield _rows(("marker", "weighs by (mm)"), noise)


def _electromyograms(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of how near activations are to electromyograms, and both as curves."""
    yield "<p>Muscles are near to their electromyograms, as moments allow:</p>"
    rows = [
        [name, *("" if x is None else f"{x:.2f}" for x in each["near"])]
        for name, each in answer.items()
    ]
    yield _rows(("muscle", "r", "rms"), rows)
    several = [
        Panel(
            curves=[
                Curve(label="activation", x=each["t"], y=_drawable(each["active"])),
                Curve(
                    label="electromyogram",
                    x=each["t"],
                    y=_drawable(each["envelope"]),
                    colour=1,
                    dash="dashed",
                ),
            ],
            x="time (s)",
            y=name,
        )
        for name, each in answer.items()
    ]
    yield _drawn(several, -(-len(several) // ABREAST))


def _drawable(row: Sequence[float | None]) -> list[float]:
    """Return numbers as plots have them."""
    return [np.nan if x is None else x for x in row]


def _change(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paragraphs about the consistent motion."""
    before, after = (
        f"{force:.3g} N, {moment:.3g} N m" for force, moment in (answer["before"], answer["after"])
    )
    plates = "; ".join(
        f"{foot} by {force:.1f} N, {moment:.1f} N m"
        for foot, (force, moment) in answer["pushed"].items()
    )
    yield "<h3>Consistent motion</h3>"
    yield (
        f"<p>Search {answer['status']}, for the {answer['seconds']:.2f} s in which "
        f"plates tell all: unexplained at most {before} before, {after} after. Forces on feet "
        f"change {plates} (rms, moments about the origin).</p>"
    )
    left, _, ahead = answer["trunk"]
    if left or ahead:
        yield (
            f"<p>The trunk's mass centre is taken {left:+.0f} mm to the left and {ahead:+.0f} mm "
            "ahead of the person's, as moments tell that last.</p>"
        )
    rows = [[name, f"{rms:.2f}", f"{most:.2f}"] for name, (rms, most) in answer["moved"].items()]
    yield _rows(("coordinate", "changed (deg or mm, rms)", "at most"), rows)


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in HTML."""
    lines = ["".join(f"<td>{html.escape(each)}</td>" for each in row) for row in rows]
    top = "".join(f"<th>{html.escape(each)}</th>" for each in head)
    return f"<table><tr>{top}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _posture(person: MeasuredPerson) -> Iterator[Panel]:
    """Yield the static posture from the front and from the side, with the markers."""
    here = places_of(person.tree, person.q)
    seen = np.array([here[name] for name in person.table.sites if name in here])
    for axis, word in ((0, "left (m)"), (2, "ahead (m)")):
        curves = [
            Curve(label="body", x=[here[n][axis] for n in names], y=[here[n][1] for n in names])
            for names in STICKS
            if all(name in here for name in names)
        ]
        dots = Curve(label="markers", x=[*seen[:, axis]], y=[*seen[:, 1]], colour=1, dash="points")
        yield Panel(curves=[*curves, dots], x=word, y="up (m)")


def _curves(cycles: Sequence[Mapping[str, Any]]) -> Iterator[Panel]:
    """Yield the panels of joints, in rows of angles, moments and powers."""
    for unit, words in UNITS.items():
        for joint, name in JOINTS.items():
            curves = [
                Curve(
                    label={"r": "right", "l": "left"}[cycle["foot"]],
                    x=[*PERCENT],
                    y=_drawable(cycle["curves"][f"{joint}_{unit}"]),
                    colour="rl".index(cycle["foot"]),
                )
                for cycle in cycles
                if f"{joint}_{unit}" in cycle["curves"]
            ]
            if unit in NORMS:
                source, key = NORMS[unit]
                norm = normative(source).mean(key.format(joint), PERCENT)
                curves.append(Curve(label="norm", x=[*PERCENT], y=[*norm], colour=2, dash="dashed"))
            yield Panel(curves=curves, x="stride (%)", y=f"{name} {words}")


def _drawn(several: Sequence[Panel], rows: int) -> str:
    """Return panels as SVG inside the page."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "panels.svg"
        panels(path, several, rows=rows)
        text = path.read_text(encoding="utf-8")
    return text[text.index("<svg") :]
