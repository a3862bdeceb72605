"""A row of the table of published numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Value = float | str | tuple[float, ...]
HEADER = ("source", "quantity", "printed", "ours", "true optimum", "ours by", "remark")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A printed number, or the coefficients of a printed polynomial, beside what `ours`() returns.

    `source`: author, year and place; `quantity` with unit; `printed` as the paper has it; `by`:
    what makes ours; the true `optimum` where there is one; `terms`: what coefficients stand before;
    a `remark`; `slow`: ours takes more than half a minute.
    """

    source: str
    quantity: str
    printed: Value
    ours: Callable[[], Value]
    by: str
    optimum: float | None = None
    terms: tuple[str, ...] = ()
    remark: str = ""
    slow: bool = False

    def text(self) -> tuple[str, ...]:
        """Return the row's entries as text, in the order of HEADER."""
        return (
            self.source,
            self.quantity,
            shown(self.printed, self.terms, ".7g"),
            shown(self.ours(), self.terms),
            "" if self.optimum is None else f"{self.optimum:.5f}",
            self.by,
            self.remark,
        )


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
