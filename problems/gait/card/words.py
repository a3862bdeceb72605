"""A report card in words: eleven lines, and every comparison where all is asked for."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ocp.problems.gait.card.curves import CURVES
from ocp.problems.gait.card.numbers import of_either_side

LABEL = 28  # columns of labels
POWERS, PUSH = "r, powers", "A2"  # of the summary, and the event of push-off
NAMED = 2  # faults of the summary, and joints at their bounds
ROWS = (  # of the summary: label, {word: curve}
    (
        "r, legs",
        {"hip": "hip_flex", "knee": "knee_flex", "ankle": "ankle_df", "abduction": "hip_abd"},
    ),
    (
        "r, trunk",
        {"pelvis list": "pelvis_list", "rotation": "pelvis_rotation", "trunk": "trunk_sideways"},
    ),
    (
        "r, forces",
        {"vertical": "force_vertical", "fore-aft": "force_fore_aft", "lateral": "force_lateral"},
    ),
    (
        "r, moments",
        {
            "hip": "moment_hip_flex",
            "knee": "moment_knee_flex",
            "ankle": "moment_ankle_df",
            "abduction": "moment_hip_abd",
        },
    ),
    (
        POWERS,
        {
            "hip": "power_hip",
            "knee": "power_knee",
            "ankle": "power_ankle",
            "abduction": "power_hip_abd",
        },
    ),
)
DIGITS = {"deg": 1, "mm": 1, "BW": 3, "N m/kg": 2, "W/kg": 2}
SHARES = ("one", "two")  # standard deviations
INSTRUMENTED = (
    "five people's instrumented knees 2.61 on the mean at the largest (Kutzner et al. 2010)"
)


def card_lines(card: Mapping[str, Any]) -> list[str]:
    """Return the summary of a report card, eleven lines for a walk, label and text in columns."""
    return _aligned(_summary(card))


def card_table(card: Mapping[str, Any]) -> list[str]:
    """Return all comparisons of a report card, all its faults and whose curves they are."""
    return _aligned(_table(card))


def _aligned(entries: Iterator[tuple[str, str]]) -> list[str]:
    return [f"{label:<{LABEL}}{text}" for label, text in entries]


def _summary(card: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (label, text), the most telling first."""
    now = card["numbers"]
    air = f"both {now['double_support_percent']:.0f} %"
    if now["flight_percent"] > 0.0:
        air = f"neither {now['flight_percent']:.0f} %"
    yield (
        card["kind"],
        f"{now['speed_m_s']:.2f} m/s, {now['cadence_steps_min']:.0f} steps/min of "
        f"{now['stride_m'] / 2:.3f} m; a foot stands {100 * now['duty_factor']:.0f} %, {air}",
    )
    yield from _named(card["faults"])
    for label, names in ROWS:
        values = [(word, card["r"].get(name)) for word, name in names.items()]
        text = ", ".join(f"{word} {r:+.2f}" for word, r in values if r is not None)
        if label == POWERS and PUSH in card["events"]:
            text += f"; ankles push off with {card['events'][PUSH]['value']:.2f} W/kg"
        if text:
            yield label, text
    yield "vertical force", _humps(now)
    yield (
        "centre of mass",
        f"up {now['com_up_mm']:.0f}, sideways {now['com_sideways_mm']:.0f} mm; trunk leans "
        f"{now['trunk_sideways_deg']:.0f}, loaded knee {now['stance_knee_deg']:.0f} deg",
    )
    yield "head, arms", _head(now)
    yield "work", _work(now)
    if now["energy"]["efficiency"] is not None:
        yield "work of fibres", _fibres(now["energy"])
    if now["knee_BW"] is not None:
        peaks = ", ".join(f"{peak:.2f}" for peak in now["knee_BW"])
        yield "knee bears", f"{peaks} BW at its peaks, {INSTRUMENTED}"
    if card["muscles"]:
        yield "muscles on", _timing(card["muscles"])


def _humps(now: Mapping[str, Any]) -> str:
    tops, valley = now["vertical_maxima"], now["vertical_valley"]
    text = ", ".join(f"{top['BW']:.2f}" for top in tops)
    places = ", ".join(f"{top['percent']:.0f}" for top in tops)
    dip = f"; valley {valley['BW']:.2f} at {valley['percent']:.0f} %" if len(tops) > 1 else ""
    return f"maxima {text} BW at {places} %{dip}"


def _head(now: Mapping[str, Any]) -> str:
    """Return the nods of the head, the swing of arms and the joints at their bounds, as text."""
    bounds = of_either_side(now["at_bounds_percent"])
    longest = [f"{joint} {share:.0f} %" for joint, share in bounds.items()][:NAMED]
    more = [f"{len(bounds) - NAMED} more"] if len(bounds) > NAMED else []
    held = ", ".join((*longest, *more)) or "none"
    return (
        f"head nods {now['head_nod_deg']:.0f}, shoulders swing {now['arms']['swing_deg']:.0f} deg, "
        f"people 3 to 7, 20 to 35 [recalled]; at bounds: {held}"
    )


def _work(now: Mapping[str, Any]) -> str:
    burnt, ground = now["metabolic"], now["energy"]
    estimate = f"{burnt['shared_W_kg']:.1f} to {burnt['net_W_kg']:.1f}"
    return (
        f"{now['positive_work_J_kg_m']:.2f} J/kg/m; metabolic {estimate} W/kg above rest by "
        f"estimate, people {burnt['level_walking_W_kg']:.1f}; the ground gives "
        f"{ground['given_J_kg_m']:.3f}, takes {ground['taken_J_kg_m']:.3f} J/kg/m"
    )


def _fibres(energy: Mapping[str, Any]) -> str:
    """Return the work of muscles' fibres and of gravity as text."""
    done, lengthening, climb = (
        energy[f"{name}_J_kg_m"] for name in ("shortening", "lengthening", "gravity")
    )
    return (
        f"{done:+.2f} and {lengthening:+.2f} J/kg/m, the former {energy['efficiency']:.2f} of what "
        f"muscles spend; gravity takes {climb:.2f}"
    )


def _timing(muscles: Mapping[str, Any]) -> str:
    """Return the agreement of eight muscles' times with people's, as text."""
    texts = (
        f"{source} {100 * share:.0f} % of the cycle, {100 * muscles['overlap'][source]:.0f} % of "
        "when either is on"
        for source, share in muscles["agreement"].items()
    )
    return f"as people's electromyograms: {'; '.join(texts)}"


def _named(faults: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the worst faults, in one line."""
    if not faults:
        yield "faults", "none"
        return
    yield "faults", f"{len(faults)}, the worst: {'; '.join(faults[:NAMED])}"


def _table(card: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, sources in card["against"].items():
        for source, entry in sources.items():
            yield f"{name} / {source}", _compared(entry, CURVES[name].unit)
    for name, event in card["events"].items():
        yield name, _happened(event)
    yield "foot", _foot(card["numbers"])
    yield from _muscles(card["muscles"])
    for side, each in (("", card), ("left: ", card["left"] or {"faults": ()})):
        for text in each["faults"]:
            yield "  fault", f"{side}{text}"
    for text in card["remarks"]:
        yield "  mind", text
    yield "metabolic power", card["numbers"]["metabolic"]["source"]
    for source, about in card["sources"].items():
        speed = f", {about['speed_m_s']:.3g} m/s" if about["speed_m_s"] else ""
        yield f"  {source}", f"{about['subjects']}{speed}: {about['source']}"


def _muscles(muscles: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield when each muscle is on, and whose times it is compared with."""
    for name, each in muscles.get("muscles", {}).items():
        spans = ", ".join(f"{a:.0f} to {b:.0f}" for a, b in each["on"]) or "never"
        shares = ", ".join(
            f"as {source} for {100 * share:.0f} %" for source, share in each["agreement"].items()
        )
        yield f"  {name}", f"on at {spans} %; {shares} of the cycle"
    for name, source in muscles.get("sources", {}).items():
        yield f"  {name}", source


def _happened(event: Mapping[str, Any]) -> str:
    """Return an event, and people's, as text."""
    unit, form = event["unit"], f".{DIGITS[event['unit']]}f"
    text = f"{event['text']}: {event['value']:{form}} {unit} at {event['percent']:.0f} %"
    if event["band"] is None:
        return text
    low, high = event["band"]
    told = ", ".join(f"{source} {value:{form}}" for source, value in event["measured"].items())
    where = "within" if low <= event["value"] <= high else "outside"
    return f"{text}; {where} {low:{form}} to {high:{form}} of {told}"


def _foot(now: Mapping[str, Any]) -> str:
    """Return the clearance of the right foot's toe, and the way of the pressure under it."""
    if now["pressure_percent"] is None:
        return "does not stand"
    lift = now["toe_clearance_mm"]
    clears = (
        "no least" if lift is None else f"{lift:.0f} mm, people about 13 (Winter 1992 [recalled])"
    )
    shares = ", ".join(f"{share:.0f}" for share in now["pressure_percent"].values())
    places = ", ".join(now["pressure_percent"])
    return (
        f"toes clear the ground by {clears}; pressure at {shares} % of the foot from heel to toe "
        f"at {places} % of the stance, {now['pressure_sideways_mm']:.0f} mm from side to side"
    )


def _compared(entry: Mapping[str, Any], unit: str) -> str:
    """Return a likeness as text."""
    form = f".{DIGITS[unit]}f"
    ours, theirs = (
        " to ".join(f"{value:{form}}" for value in entry[name])
        for name in ("range", "measured_range")
    )
    r = "no r" if entry["r"] is None else f"r {entry['r']:+.3f}"
    late = "" if entry["shift_percent"] is None else f", late by {entry['shift_percent']:+d} %"
    inside = ""
    if entry["within"] is not None:
        shares = (f"{100 * share:.0f} % in {n} SD" for n, share in zip(SHARES, entry["within"]))
        inside = f"; {', '.join(shares)}"
    return (
        f"{r}, RMSE {entry['rmse']:{form}} {unit}, {entry['rmse_centred']:{form}} without means"
        f"{late}; {ours}, measured {theirs}{inside}"
    )
