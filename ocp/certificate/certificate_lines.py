"""Lines of text of a certificate, from its plain data."""

from collections.abc import Mapping
from typing import Any

from ocp.text_tables import Line


def violation_lines(entries: Mapping[str, Mapping[str, Any]]) -> list[Line]:
    """Return a line for each constraint: its worst violation at the nodes and in between."""
    entry_lines = []
    for name, entry in entries.items():
        where = "" if entry["dense"] == 0 else f"  ({entry['row']}, t = {entry['time']:.4g} s)"
        text = f"{entry['nodes']:.2e} / {entry['dense']:.2e} {entry['unit']}{where}"
        entry_lines.append((f"  {name}", text))
    return entry_lines


def verdict_lines(numbers: Mapping[str, Any] | None) -> list[Line]:
    """Return the line that says whether a motion is certified; none without a certificate."""
    return [] if numbers is None else [("certificate", numbers["verdict"])]


def certificate_lines(numbers: Mapping[str, Any]) -> list[Line]:
    """Return the lines of a certificate's numbers."""
    error, kkt = numbers["energy_error"], numbers["kkt"]
    simulation = (
        f"drift {numbers['simulation_drift']:.2e}, at the end {numbers['goal_drift']:.2e}, "
        f"of a segment by itself {numbers['defect']:.2e}, of all gathered "
        f"{numbers['gathered']:.2e} rad or m"
    )
    if numbers["mechanics"] != "built-in":
        simulation += f", by {numbers['mechanics']} itself"
    return [
        ("forward simulation", simulation),
        ("energy balance", "unknown" if error is None else f"{error:.2e} relative"),
        ("first order", f"{'unknown' if kkt is None else f'{kkt:.2e}'} residual"),
        *_approximation_lines(numbers["approximation"]),
        *_slope_lines(numbers["slope"]),
        *_length_lines(numbers["lengths"]),
        *crossed_lines(numbers),
        *(("refused", text) for text in numbers["refusals"]),
    ]


def _length_lines(length: float | None) -> list[Line]:
    if length is None:
        return []
    text = f"lengths within {length:.1e} of one, of which no pose depends"
    return [("quaternions", text)]


def _slope_lines(slope: Mapping[str, Any] | None) -> list[Line]:
    """Return the warning that shapes of first order deserve."""
    if slope is None:
        return []
    text = (
        f"{slope['link']} turns by up to {slope['angle']:.3g} rad (t = {slope['time']:.4g} s), "
        f"which stretches what hangs on it by {100 * slope['stretch']:.2g} %; "
        "modes with stiffening do not"
    )
    return [("linear shapes", text)]


def _approximation_lines(known: Mapping[str, Any] | None) -> list[Line]:
    """Return the lines on a formulation that is an approximation."""
    if known is None:
        return []
    lines = [("approximation", known["described"]), ("  torques", known["torques"])]
    if known["objective"] is not None:
        change, most = known["objective"], known["objective_bound"]
        text = f"with exact mechanics {change:+.2e} to first order, sizes add up to {most:.2e}"
        lines.append(("  objective", text))
    if known["held"]:
        lines.append(("  range", f"holds the motion back: {', '.join(known['held'])}"))
    return lines


def crossed_lines(numbers: Mapping[str, Any]) -> list[Line]:
    """Return the lines of a certificate on impacts and on flight."""
    entries = []
    for each in numbers["impacts"]:
        text = (
            f"{each['transition']}: momentum balanced to {each['balance']:.1e}; "
            f"{each['lost']:.6g} J lost, by the impulses {each['formula']:.6g} J "
            f"(apart by {each['error']:.1e} of all)"
        )
        entries.append(("impact", text))
    for each in numbers["flights"]:
        entries.append(
            (
                "flight",
                f"{each['phase']}: beside gravity force {each['force']:.1e}, moment "
                f"{each['moment']:.1e} of the weight where the law holds, "
                f"{each['force_between']:.1e}, {each['moment_between']:.1e} between",
            )
        )
        entries.append(
            (
                "",
                f"centre of mass off its parabola by {each['parabola']:.1e} of its way, angular "
                f"momentum changes by {each['angular']:.1e} of weight times size times duration",
            )
        )
    return entries
