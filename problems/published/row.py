"""A row of the table of published numbers."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Value = float | str | tuple[float, ...]
HEADER = ("source", "quantity", "printed", "ours", "within", "true optimum", "ours by", "remark")
NOTHING = 1e-8  # what may stand where a printed zero is


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A printed number, or the coefficients of a printed polynomial, beside what `ours`() returns.

    `source`: author, year and place; `quantity` with unit; `printed` as the paper has it; `by`:
    what makes ours; the true `optimum` where there is one; `terms`: what coefficients stand before;
    a `remark`; `within`: the share by which ours may differ, None where they differ for a reason,
    which the remark says; `slow`: ours takes more than half a minute.
    """

    source: str
    quantity: str
    printed: Value
    ours: Callable[[], Value]
    by: str
    optimum: float | None = None
    terms: tuple[str, ...] = ()
    remark: str = ""
    within: float | None = None
    slow: bool = False

    def agrees(self, ours: Value) -> bool:
        """Return whether our value is within the stated share of the printed one."""
        pairs = zip(*(one if isinstance(one, tuple) else (one,) for one in (self.printed, ours)))
        share = self.within or 0.0
        return all(math.isclose(a, b, rel_tol=share, abs_tol=NOTHING) for a, b in pairs)

    def difference(self, ours: Value) -> str:
        """Return by how much ours differs from the printed number, "" where it is the same."""
        numbers = [one for one in (self.printed, ours) if not isinstance(one, (str, tuple))]
        if len({*numbers}) < 2 or not self.printed or "not comparable" in self.remark:
            return ""
        return f"{100.0 * (numbers[1] / numbers[0] - 1):+.2g} %"

    def text(self, ours: Value) -> tuple[str, ...]:
        """Return the row's entries as text, with our value, in the order of HEADER."""
        return (
            self.source,
            self.quantity,
            shown(self.printed, self.terms, ".7g"),
            shown(ours, self.terms),
            "" if self.within is None else percent(self.within),
            "" if self.optimum is None else f"{self.optimum:.5f}",
            self.by,
            self.remark,
        )


def percent(share: float) -> str:
    """Return a share as text."""
    return f"{100.0 * share:.3g} %"


def shown(value: Value, terms: Sequence[str] = (), form: str = "") -> str:
    """Return a value as text: four decimals below ten, five digits above.

    A tuple is the sum of its entries, each before one of the `terms`.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        entries = [_product(one, term) for one, term in zip(value, terms) if one]
        return " + ".join(entries).replace("+ -", "- ")
    if form:
        return f"{value:{form}}"
    if float(value).is_integer():
        return f"{value:.0f}"
    if abs(value) < 1e-3:
        return f"{value:.1e}"
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.5g}"


def _product(value: float, term: str) -> str:
    return term if term and value == 1 else f"{value:.7g} {term}".strip()
