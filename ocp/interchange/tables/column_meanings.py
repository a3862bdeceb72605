"""Meanings of table columns: markers, coordinates of a tree, wrenches of the ground."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from ocp.interchange.tables.table import Table, check_table
from ocp.interchange.tables.units import DEGREE
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.degrees import TURNS, warn_outside
from ocp.mechanics.values.parameters import nominal
from ocp.mechanics.values.validation import unit_of
from ocp.problem import Series

AXES = "xyz"
MARKS = (".", "_t", "_", ":")  # between a marker's name and the axis
FORCE = re.compile(r"^(?P<head>.*)force(?P<tail>_.*)?_v(?P<axis>[xyz])$")
BEYOND = 0.2  # rad beyond its limits, where people may still be
NEAR = 0.05  # m: an exact zero farther from its neighbours is no place of a marker
MOMENT = re.compile(r"(torque|moment)(_[^_.:]*)?$", re.IGNORECASE)


def markers(table: Table) -> Series:
    """Return the markers {name: (3, N), m} of a table: columns NAME.x, NAME.y, NAME.z.

    Where there are none, of NAME_tx, NAME_x or NAME:x, and so on; columns of other names and units
    are left out.

    Raises:
        ValueError: there are no markers, or one lacks an axis or jumps to 0, 0, 0.
    """
    check_table("markers", table)
    places = next(filter(None, (_places(table, mark) for mark in MARKS)), {})
    if not places:
        raise ValueError(f"{table.source}: expected columns NAME.x, NAME.y, NAME.z in m, got none")
    for name, rows in places.items():
        lacking = [axis for axis in AXES if axis not in rows]
        if lacking:
            raise ValueError(f"{table.source}: marker {name!r}: no column in m for {lacking[0]}")
    values = {name: table.values[[rows[axis] for axis in AXES]] for name, rows in places.items()}
    for name, rows in values.items():
        _check_zeros(table, name, rows)
    return Series(t=table.t, values=values, source=table.source)


def _check_zeros(table: Table, name: str, rows: np.ndarray) -> None:
    """Raise ValueError for a marker that jumps to 0, 0, 0, which some programs write for one not
    seen."""
    zero = (rows == 0).all(axis=0)
    seen = np.isfinite(rows).all(axis=0) & ~zero
    if not zero.any() or not seen.any():
        return
    k, others = int(np.argmax(zero)), np.flatnonzero(seen)
    nearest = others[np.argmin(np.abs(others - k))]
    far = float(np.linalg.norm(rows[:, nearest]))
    if far > NEAR:
        raise ValueError(
            f"{table.source}: line {table.lines[k]}, t = {table.t[k]:g} s: marker {name!r} is at "
            f"0, 0, 0, and {far:.3g} m from there at {table.t[nearest]:g} s; if it was not seen, "
            "leave its entries empty"
        )


def _places(table: Table, mark: str) -> dict[str, dict[str, int]]:
    """Return {marker: {axis: number of the column}} of labels NAME.x, with a mark between."""
    places: dict[str, dict[str, int]] = {}
    for number, (label, unit) in enumerate(zip(table.labels, table.units)):
        name, axis = label[: -len(mark) - 1], label[-1:].lower()
        fits = label[len(name) : -1] == mark and unit in ("m", "") and not MOMENT.search(name)
        if name and axis in AXES and fits:
            places.setdefault(name, {})[axis] = number
    return places


def coordinates(
    table: Table, tree: Tree, *, joints: Mapping[str, str] | Sequence[str] | None = None
) -> Series:
    """Return the coordinates {joint: (1, N)} of a tree that a table has, rad or m.

    Turns in degrees become radians.

    Args:
        table: as of `read_table`.
        tree: whose joints they are.
        joints: names of some joints, or {joint: column}; by default all joints that have a column.

    Raises:
        ValueError: a joint without a column, or turns beyond 10 rad in a column without a unit, of
            whatever joint. Smaller ones warn where they are beyond their joint's limits, or beyond
            a turn of a joint without.
    """
    check_table("coordinates", table)
    names = [joint.name for joint in tree.moving]
    if joints is None:
        chosen = {name: name for name in names if name in table.labels}
    else:
        chosen = dict(joints) if isinstance(joints, Mapping) else {name: name for name in joints}
    if not chosen:
        raise ValueError(
            f"{table.source}: no column has the name of a joint; it has "
            f"{', '.join(table.labels)}, the tree {', '.join(names)}"
        )
    _check_degrees(table, tree, {name: name for name in names if name in table.labels} | chosen)
    values = {name: _coordinate(table, tree, name, label) for name, label in chosen.items()}
    return Series(t=table.t, values=values, source=table.source)


def _check_degrees(table: Table, tree: Tree, columns: Mapping[str, str]) -> None:
    """Raise ValueError for a turn of any joint {name: column} that is likely in degrees, since then
    all are; warn of one that its joint does not reach."""
    known = dict(zip(table.labels, table.units))
    said, beyond = "inDegrees" in table.header, ""
    for name, label in columns.items():
        joint = tree.moving[tree.coordinate(name)]
        if table.degrees or known.get(label) != "" or unit_of(joint, "q") != "rad":
            continue
        row = np.abs(table.column(label))
        most = float(np.nanmax(row, initial=0.0))
        if most > TURNS:
            raise ValueError(_degrees_words(table, label, int(np.nanargmax(row))))
        reach = max(abs(float(nominal(bound))) for bound in joint.position) + BEYOND
        if not np.isfinite(reach):
            reach = 2 * np.pi
        elif said:  # a header may speak of more than its joint reaches
            reach = max(reach, 2 * np.pi)
        if not beyond and most > reach:
            beyond = _degrees_words(table, label, int(np.nanargmax(row)))
    if beyond:
        warn_outside(f"{beyond}; the joint hardly reaches it")


def _degrees_words(table: Table, label: str, k: int) -> str:
    """Return in words that row k of a column is likely in degrees, and what to do."""
    said = " although the header says inDegrees=no" if "inDegrees" in table.header else ""
    angle = table.column(label)[k]
    return (
        f"{table.source}: line {table.lines[k]}, column {label!r}: {angle:g} rad is "
        f"{abs(angle) / (2 * np.pi):.1f} turns; if these are degrees{said}, say inDegrees=yes "
        "in the header or (deg) after the label, and the unit rad of the column if not"
    )


def _coordinate(table: Table, tree: Tree, name: str, label: str) -> np.ndarray:
    unit, row = unit_of(tree.moving[tree.coordinate(name)], "q"), table.column(label)
    number = table.labels.index(label)
    _check_units(table, [number], (unit, ""))
    turns = table.degrees and unit == "rad" and not table.units[number]
    return DEGREE * row if turns else row


def wrenches(table: Table) -> Series:
    """Return the wrenches {plate: (6, N)} of a table: moment about the global origin (N m), force
    (N).

    Of the force v at the point p with the moment T about it: M = p x v + T, of columns as OpenSim
    names them, `ground_force_vx`, `ground_force_px`, `ground_torque_x` and so on, with the plate's
    name before `force` or between it and `v`. A point that is missing while there is no force
    counts as the origin, a moment as none.

    Raises:
        ValueError: a column is missing or has another unit.
    """
    check_table("wrenches", table)
    plates: dict[str, np.ndarray] = {}
    for label in table.labels:
        match = FORCE.match(label)
        if match is None or match["axis"] != "x":
            continue
        head, tail = match["head"], match["tail"] or ""
        force, point, torque = (
            [f"{head}{kind}{tail}_{part}{axis}" for axis in AXES]
            for kind, part in (("force", "v"), ("force", "p"), ("torque", ""))
        )
        name = (head.rstrip("_.") + tail) or "ground"
        plates[name] = _wrench(table, force, point, torque)
    if not plates:
        raise ValueError(
            f"{table.source}: expected columns of forces, as ground_force_vx, got "
            f"{', '.join(table.labels[:6])}"
        )
    return Series(t=table.t, values=plates, source=table.source)


def _wrench(
    table: Table, forces: Sequence[str], points: Sequence[str], torques: Sequence[str]
) -> np.ndarray:
    """Return the moment about the origin and the force (6, N) of columns by their labels."""
    parts = []
    for labels, unit in ((forces, "N"), (points, "m"), (torques, "N m")):
        parts.append(np.array([table.column(label) for label in labels]))
        _check_units(table, [table.labels.index(label) for label in labels], (unit, ""))
    force, point, torque = parts
    idle = (force == 0).all(axis=0)
    point, torque = (np.where(idle & np.isnan(each), 0.0, each) for each in (point, torque))
    return np.vstack([np.cross(point.T, force.T).T + torque, force])


def _check_units(table: Table, numbers: Sequence[int], units: Sequence[str]) -> None:
    for number in numbers:
        if table.units[number] not in units:
            raise ValueError(
                f"{table.source}: column {table.labels[number]!r}: expected {units[0]}, got "
                f"{table.units[number]}"
            )
