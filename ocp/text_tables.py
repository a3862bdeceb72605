"""Tables of labels and words, as aligned text and as HTML."""

from collections.abc import Iterable, Sequence

Line = tuple[str, str]  # a label, and the text beside it
LABEL = 22  # columns, or more


def html_table(rows: Iterable[Sequence[str]], header: Sequence[str] = (), title: str = "") -> str:
    """Return rows of words as an HTML table, the first word of each as its label."""
    from html import escape  # only notebooks need it

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


def align(entries: Iterable[Line]) -> str:
    """Return lines of text with their labels in a column."""
    known = list(entries)
    width = max([LABEL, *(len(label) + 1 for label, _ in known)])
    return "\n".join(f"{label:<{width}}{text}" for label, text in known)
