"""The decision about each construct of a piece of code, as a table to read or as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from autograph.converters.context.base import Decision


class Row(NamedTuple):
    """A line of the table, its cells padded to the width of their columns; `outcome` says why, if plain."""

    lineno: str
    function: str
    construct: str
    outcome: str
    converted: bool

    def __str__(self) -> str:
        return f"{self.lineno}  {self.function}  {self.construct}  {self.outcome}"


class Explanation:
    """The constructs that were converted, those that stayed plain Python, and why.

    `str()` of it is a table; `decisions` holds the same, ordered by file and line.
    """

    def __init__(self, decisions: Iterable[Decision]) -> None:
        self.decisions = sorted(decisions, key=lambda decision: (decision.filename, decision.lineno))

    def __repr__(self) -> str:
        return f"<Explanation: {self.summary()}>"

    def __str__(self) -> str:
        tables = ["\n".join([filename, *map(str, rows)]) for filename, rows in self.tables()]
        return "\n\n".join([*tables, self.summary()])

    def within(self, qualname: str) -> Explanation:
        """The part about one function or class, with the definitions inside of it."""
        inside = qualname + "."
        return Explanation(d for d in self.decisions if (d.function + ".").startswith(inside))

    def summary(self) -> str:
        """How much there is of each."""
        plain = sum(decision.reason is not None for decision in self.decisions)
        count = len(self.decisions)
        return f"{count} construct{'s' * (count != 1)}: {count - plain} converted, {plain} plain"

    def tables(self) -> list[tuple[str, list[Row]]]:
        """For each file its name and its table; equal rows of a line become one, with their number."""
        by_file: dict[str, Counter[Decision]] = {}
        for decision in self.decisions:
            by_file.setdefault(decision.filename, Counter())[decision] += 1
        return [(filename, _rows(counted)) for filename, counted in by_file.items()]

    def to_json(self) -> str:
        """A JSON list with an object for each decision; its `reason` is null where the construct was converted."""
        import json  # only now: it takes its time

        return json.dumps([_as_dict(decision) for decision in self.decisions], indent=2, ensure_ascii=False)


def _as_dict(decision: Decision) -> dict[str, str | int | None]:
    return {
        "file": decision.filename,
        "line": decision.lineno,
        "function": decision.function,
        "construct": decision.construct,
        "status": decision.status,
        "reason": decision.reason,
    }


def _rows(counted: Counter[Decision]) -> list[Row]:
    constructs = [d.construct + (f" ×{count}" if count > 1 else "") for d, count in counted.items()]
    line_width = max(len(str(d.lineno)) for d in counted)
    function_width = max(len(d.function) for d in counted)
    construct_width = max(map(len, constructs))
    return [
        Row(
            str(decision.lineno).rjust(line_width),
            decision.function.ljust(function_width),
            construct.ljust(construct_width),
            "converted" if decision.reason is None else f"plain: {decision.reason}",
            decision.reason is None,
        )
        for decision, construct in zip(counted, constructs)
    ]
