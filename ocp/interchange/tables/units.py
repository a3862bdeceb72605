"""Units of files, and their factors to SI and radians."""

from math import pi

DEGREE = pi / 180
_PLAIN = {
    "s": ("s", 1.0),
    "ms": ("s", 1e-3),
    "m": ("m", 1.0),
    "cm": ("m", 1e-2),
    "mm": ("m", 1e-3),
    "rad": ("rad", 1.0),
    "deg": ("rad", DEGREE),
    "°": ("rad", DEGREE),
    "N": ("N", 1.0),
    "kN": ("N", 1e3),
    "N m": ("N m", 1.0),
    "N cm": ("N m", 1e-2),
    "N mm": ("N m", 1e-3),
    "1": ("", 1.0),
    "": ("", 1.0),
}
_SPELLED = {
    "sec": "s",
    "seconds": "s",
    "meters": "m",
    "metres": "m",
    "millimeters": "mm",
    "radians": "rad",
    "degrees": "deg",
    "Nm": "N m",
    "N.m": "N m",
    "N*m": "N m",
    "Ncm": "N cm",
    "N.cm": "N cm",
    "N*cm": "N cm",
    "Nmm": "N mm",
    "N.mm": "N mm",
    "N*mm": "N mm",
}
LENGTHS, FORCES = ("m", "cm", "mm"), ("N", "kN", "N m", "N cm", "N mm")
KNOWN = ("s", "ms", *LENGTHS, "rad", "deg", *FORCES, "and these over s, s2")


def in_si(unit: str) -> tuple[str, float]:
    """Return a unit's name in SI and radians, and the factor of its numbers; raise ValueError if
    it is not known."""
    text = unit.strip()
    plain, slash, per = text.partition("/")
    plain = _SPELLED.get(plain.strip(), plain.strip())
    times = {"": "", "s": "/s", "s2": "/s2", "s^2": "/s2", "s3": "/s3"}
    if plain not in _PLAIN or per.strip() not in times or bool(slash) != bool(per.strip()):
        raise ValueError(f"unit {text!r}: expected one of {', '.join(KNOWN)}")
    name, factor = _PLAIN[plain]
    name = "1" if slash and not name else name
    return f"{name}{times[per.strip()]}", factor


def lower_prefixes(text: str) -> str:
    """Return the text of a unit that may be in capitals, as MM or NMM, in the usual letters."""
    return text.replace("M", "m").replace("C", "c")
