"""Lines of text of a certificate, from its plain data."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from ocp.text_tables import Line

Figures: TypeAlias = Mapping[str, Any]  # of a certificate by name: numbers, and words to them


def violation_lines(entries: Mapping[str, Figures]) -> list[Line]:
    """Return a line for each constraint: its worst violation at the nodes and in between."""
    entry_lines = []
    for name, entry in entries.items():
        where = "" if entry["dense"] == 0 else f"  ({entry['row']}, t = {entry['time']:.4g} s)"
        text = f"{entry['nodes']:.2e} / {entry['dense']:.2e} {entry['unit']}{where}"
        entry_lines.append((f"  {name}", text))
    return entry_lines


def verdict_lines(numbers: Figures | None) -> list[Line]:
    """Return the line that says whether a motion is certified; none without a certificate."""
    return [] if numbers is None else [("certificate", numbers["verdict"])]


def certificate_lines(numbers: Figures) -> list[Line]:
    """Return the lines of a certificate's numbers, section by section."""
    return [line for section in SECTIONS for line in section(numbers)]


def _simulation(numbers: Figures) -> Iterator[Line]:
    text = (
        f"drift {numbers['simulation_drift']:.2e}, at the end {numbers['goal_drift']:.2e}, "
        f"of a segment by itself {numbers['defect']:.2e}, of all gathered "
        f"{numbers['gathered']:.2e} rad or m"
    )
    by = "" if numbers["mechanics"] == "built-in" else f", by {numbers['mechanics']} itself"
    yield "forward simulation", text + by


def _energy(numbers: Figures) -> Iterator[Line]:
    error = numbers["energy_error"]
    yield "energy balance", "unknown" if error is None else f"{error:.2e} relative"


def _ground(numbers: Figures) -> Iterator[Line]:
    ground = numbers["ground"]
    if ground is not None:
        yield (
            "ground",
            f"gives {ground['given']:.3g} J, {100 * ground['share']:.2g} % of the work that joints "
            f"do, and takes {ground['taken']:.3g} J",
        )


def _first_order(numbers: Figures) -> Iterator[Line]:
    kkt = numbers["kkt"]
    yield "first order", f"{'unknown' if kkt is None else f'{kkt:.2e}'} residual"


def convergence_lines(known: Figures) -> Iterator[Line]:
    """Yield the lines that say to what share a motion is converged in its basis."""
    share = known["share"]
    to = "" if share is None else f"to {max(0.01, 100 * share):.2g} % on {known['basis']}: "
    yield "converged", f"{to}{known['words']}"
    yield from (("", text) for text in known["curve_words"])


def _convergence(numbers: Figures) -> Iterator[Line]:
    return convergence_lines(numbers["convergence"]) if numbers["convergence"] else iter(())


def _approximation(numbers: Figures) -> Iterator[Line]:
    """Yield the lines on a formulation that is an approximation."""
    known = numbers["approximation"]
    if known is None:
        return
    yield "approximation", known["described"]
    yield "  torques", known["torques"]
    if known["objective"] is not None:
        change, most = known["objective"], known["objective_bound"]
        text = f"with exact mechanics {change:+.2e} to first order, sizes add up to {most:.2e}"
        yield "  objective", text
    if known["held"]:
        yield "  range", f"holds the motion back: {', '.join(known['held'])}"


def _slope(numbers: Figures) -> Iterator[Line]:
    """Yield the warning on shapes of first order."""
    slope = numbers["slope"]
    if slope is not None:
        yield (
            "linear shapes",
            f"{slope['link']} turns by up to {slope['angle']:.3g} rad (t = {slope['time']:.4g} s), "
            f"which stretches what hangs on it by {100 * slope['stretch']:.2g} %; "
            "modes with stiffening do not",
        )


def _lengths(numbers: Figures) -> Iterator[Line]:
    if numbers["lengths"] is not None:
        text = f"lengths within {numbers['lengths']:.1e} of one, of which no pose depends"
        yield "quaternions", text


def _impacts(numbers: Figures) -> Iterator[Line]:
    for each in numbers["impacts"]:
        yield (
            "impact",
            f"{each['transition']}: momentum balanced to {each['balance']:.1e}; "
            f"{each['lost']:.6g} J lost, by the impulses {each['formula']:.6g} J "
            f"(apart by {each['error']:.1e} of all)",
        )


def _flights(numbers: Figures) -> Iterator[Line]:
    for each in numbers["flights"]:
        yield (
            "flight",
            f"{each['phase']}: beside gravity force {each['force']:.1e}, moment "
            f"{each['moment']:.1e} of the weight where the law holds, "
            f"{each['force_between']:.1e}, {each['moment_between']:.1e} between",
        )
        yield (
            "",
            f"centre of mass off its parabola by {each['parabola']:.1e} of its way, angular "
            f"momentum changes by {each['angular']:.1e} of weight times size times duration",
        )


def _refusals(numbers: Figures) -> Iterator[Line]:
    return (("refused", text) for text in numbers["refusals"])


SECTIONS = (
    _simulation,
    _energy,
    _ground,
    _first_order,
    _convergence,
    _approximation,
    _slope,
    _lengths,
    _impacts,
    _flights,
    _refusals,
)
