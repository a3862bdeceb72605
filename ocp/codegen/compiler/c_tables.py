"""Constant tables of C, written as strings: a compiler reads them ten times sooner than numbers."""

import numpy as np

LETTERS = tuple(f"\\{byte:03o}" for byte in range(256))
LINE = 1000  # bytes on a line of text
TABLE = """static const union {{ char bytes[{size}]; double aligned; }} {name}_bytes = {{
{text}}};
#define {name} ((const {kind} *)(const void *){name}_bytes.bytes)
"""
KINDS = {"int": np.int32, "double": np.float64}


def table(name: str, kind: str, values) -> str:
    """Return C text that makes of the `name` a pointer to `values`, "int" or "double" ones."""
    data = np.ascontiguousarray(values, dtype=KINDS[kind]).tobytes()
    lines = [data[k : k + LINE] for k in range(0, len(data), LINE)] or [b""]
    text = "".join(f'"{"".join(map(LETTERS.__getitem__, line))}"\n' for line in lines)
    return TABLE.format(size=len(data) + 1, name=name, text=text, kind=kind)
