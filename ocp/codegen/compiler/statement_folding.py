"""C text of a scalar graph with fewer and longer statements.

CasADi writes one assignment for each operation. Without optimization a compiler keeps each in
memory, and with it takes seconds over thousands of them in one block. If a value that is used once
stands in the expression that uses it, intermediate results stay in registers anyway.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

LONGEST = 300  # letters of an expression that goes into another one
BEGIN = re.compile(r"static int casadi_f0\([^)]*\) \{\n(?:  casadi_real a[^;]*;\n)*")
END = "  return 0;\n}\n"
ASSIGNED = re.compile(r"  (a\d+)=(.+);")
GIVEN = re.compile(r"  if \(res\[(\d+)\]!=0\) res\[\1\]\[(\d+)\]=(a\d+);")
VARIABLE = re.compile(r"\ba\d+\b")
CLOSED = re.compile(r"\([^()]*\)")  # an expression that needs no parentheses around it


class Statement(NamedTuple):
    """Assignment of `value` to `target`, "" for an output; the value reads the `operands`."""

    target: str
    value: str
    operands: list[str]


class Body(NamedTuple):
    """C text of a scalar function: what comes before, its first line, its `statements` and their
    text, and what comes after."""

    before: str
    first: str
    statements: list[Statement]
    text: str
    after: str


def parse_body(text: str) -> Body | None:
    """Return the Body of C text that CasADi generated for a scalar function, else None."""
    begin = BEGIN.search(text)
    if begin is None or END not in text:
        return None
    last = text.index(END, begin.end())
    own = text[begin.end() : last]
    statements = _parse_statements(own.splitlines())
    if statements is None:
        return None
    first = begin.group().split("\n")[0] + "\n"
    return Body(text[: begin.start()], first, statements, own, text[last:])


def fold_statements(text: str) -> str:
    """Return C text that CasADi generated with values that are used once put where they are used.

    Other text is returned unchanged. Results have the same bits, as expressions keep the order of
    operations.
    """
    body = parse_body(text)
    if body is None:
        return text
    places = [(int(result), int(entry)) for result, entry, _ in GIVEN.findall(body.text)]
    most = max((entry for _, entry in places), default=0) + 1
    names = sorted({result for result, _ in places})
    outputs = [f"  casadi_real *r{k} = res[{k}] ? res[{k}] : unasked;" for k in names]
    if outputs:  # the caller may leave out some
        outputs = [f"  casadi_real unasked[{most}];", *outputs]
    lines = folded_lines(body.statements, count_uses(body.statements))
    inner = "\n".join([*variable_declaration(body.statements), *outputs, *lines, ""])
    return body.before + body.first + inner + body.after


def variable_declaration(statements: Sequence[Statement], kind: str = "casadi_real") -> list[str]:
    """Return the line of C that declares all variables, of that kind, if there are any."""
    names = sorted({each.target for each in statements if each.target})
    return [f"  {kind} {', '.join(names)};"] if names else []


def _parse_statements(lines: Sequence[str]) -> list[Statement] | None:
    statements = []
    for line in lines:
        assigned, given = ASSIGNED.fullmatch(line), GIVEN.fullmatch(line)
        if assigned:
            value = assigned[2] if CLOSED.fullmatch(assigned[2]) else f"({assigned[2]})"
            statements.append(Statement(assigned[1], value, VARIABLE.findall(value)))
        elif given:
            statements.append(Statement("", f"r{given[1]}[{given[2]}]={given[3]};", [given[3]]))
        else:
            return None
    return statements


def count_uses(statements: Sequence[Statement]) -> list[int]:
    """Return the number of reads of each statement's value before its variable has another."""
    latest: dict[str, int] = {}
    counts = [0] * len(statements)
    for number, (target, _, operands) in enumerate(statements):
        for name in operands:
            counts[latest[name]] += 1
        if target:
            latest[target] = number
    return counts


def folded_lines(statements: Sequence[Statement], counts: Sequence[int]) -> Iterator[str]:
    """Yield lines of C for statements with the `counts` of their uses.

    A value that is used once waits until it is used, or until a variable that it reads changes.
    """
    waiting: dict[str, Statement] = {}
    readers: dict[str, set[str]] = {}  # of a variable: statements that wait

    def leave(name: str) -> Statement:
        statement = waiting.pop(name)
        for operand in statement.operands:
            readers[operand].discard(name)
        return statement

    for (target, value, operands), count in zip(statements, counts):
        inner, known, length = {}, [], len(value)
        for name in operands:
            if name not in waiting:
                known.append(name)
                continue
            statement = leave(name)
            length += len(statement.value)
            if length > LONGEST:
                yield _line(statement)
                known.append(name)
            else:
                inner[name] = statement.value
                known += statement.operands
        if inner:
            value = _substitute(value, inner)
        for name in sorted(readers.get(target, ())):
            yield _line(leave(name))
        statement = Statement(target, value, known)
        if target and count == 1:
            waiting[target] = statement
            for name in known:
                readers.setdefault(name, set()).add(target)
        else:
            yield _line(statement)


def _substitute(value: str, inner: dict[str, str]) -> str:
    return VARIABLE.sub(lambda each: inner.get(each[0], each[0]), value)


def _line(statement: Statement) -> str:
    return (
        f"  {statement.target}={statement.value};" if statement.target else "  " + statement.value
    )
