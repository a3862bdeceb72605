"""Tables in HTML, as notebooks show values."""

from collections.abc import Iterable, Sequence


def table(rows: Iterable[Sequence[str]], header: Sequence[str] = (), title: str = "") -> str:
    """Return rows of words as a table in HTML, the first word of each its label."""
    from html import escape  # which nothing but notebooks needs

    left = "style='text-align:left'"

    def row(words: Sequence[str], heads: int) -> str:
        cells = [
            f"<th {left}>{escape(word)}</th>" if k < heads else f"<td {left}>{escape(word)}</td>"
            for k, word in enumerate(words)
        ]
        return f"<tr>{''.join(cells)}</tr>"

    caption = f"<caption {left}>{escape(title)}</caption>" if title else ""
    head = row(header, len(header)) if header else ""
    return f"<table>{caption}{head}{''.join(row(words, 1) for words in rows)}</table>"
