"""Common subexpressions of guards: an attribute or item that several guards read is read once.

    type(a0.next) is Node and a0.next.value == 1 and type(a0.next.next) is Node

    ag_0 = a0.next
    if not (type(ag_0) is Node and ag_0.value == 1 and type(ag_0.next) is Node):
        return ag_miss

So the guards of a long linked list take linear time. Each is read where the first of these guards is checked: the
guards before it ensure that reading it runs no code of the user's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

# Texts, and paths from a global or an argument through attributes, none of them called, and items.
_STEP = r"\.[^\W\d]\w*\b(?!\()|\[(?:-?\d+|'(?:[^'\\]|\\.)*')\]"
_ROOT = r"(?<![\w.])(?:(?:module|cell)(?:_\d+)?|[ap]\d+)\b"
_TOKEN = re.compile(rf"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|({_ROOT}(?:{_STEP})+)""")
_STEPS = re.compile(_STEP)
_LATER = re.compile(r"\b(?:or|and|if|for|lambda)\b")  # what follows may not be evaluated


def statements(conditions: Sequence[str], miss: str) -> list[str]:
    """Statements that run `miss` if one of the conditions does not hold."""
    counts = Counter(each for condition in conditions for path in _paths(condition) for each in _prefixes(path))
    if all(count == 1 for count in counts.values()):
        return _check(conditions, miss)
    names: dict[str, str] = {}
    lines: list[str] = []
    rest: list[str] = []
    for condition in conditions:
        paths = _paths(_LATER.split(condition, 1)[0])
        new = [each for path in paths for each in _prefixes(path) if counts[each] > 1]
        reads = []
        for prefix in dict.fromkeys(new):
            if prefix not in names:
                reads.append(f"ag_{len(names)} = {_replaced(prefix, names)}")
                names[prefix] = f"ag_{len(names)}"
        if reads and rest:
            lines += _check(rest, miss)
            rest = []
        lines += reads
        rest.append(_replaced(condition, names))
    lines += _check(rest, miss)
    # Otherwise the call would keep these objects alive.
    return lines + [f"{' = '.join(names.values())} = None"] * bool(names)


def _check(conditions: Sequence[str], miss: str) -> list[str]:
    return [f"if not ({' and '.join(conditions)}):", f" {miss}"] if conditions else []


def _paths(condition: str) -> list[str]:
    """The paths in a condition."""
    return [path for path in _TOKEN.findall(condition) if path]


def _prefixes(path: str) -> list[str]:
    """The paths with which a path begins, the shortest first."""
    steps = _STEPS.findall(path)
    return [*accumulate(steps, initial=path[: -sum(map(len, steps))])][1:]


def _replaced(text: str, names: dict[str, str]) -> str:
    """A condition or path in which names replace the paths that are known."""

    def replace(found: re.Match[str]) -> str:
        path = found[1]
        known = next((each for each in _prefixes(path)[::-1] if each in names), None) if path else None
        return found[0] if known is None else names[known] + path[len(known) :]

    return _TOKEN.sub(replace, text)
