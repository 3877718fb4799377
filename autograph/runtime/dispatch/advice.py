"""Advice: what keeps a call from being faster, in the user's terms, and what to do about it.

A `Rule` recognizes the message of an event. `tests/runtime/dispatch/test_advice.py` has a program for each rule.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from autograph.runtime.graph.signature import Event, Where

# The likely gain, by what runs as Python: all of a function, a loop, an operation in a loop, or next to nothing.
FUNCTION, LOOP, OPERATION, LITTLE = 4.0, 3.0, 2.0, 1.0


@dataclass(frozen=True)
class Advice:
    """A reason why a call is not faster, and a remedy.

    Attributes:
        rule: the name of the mechanism.
        cause: in the user's terms.
        remedy: one thing to do.
        place: the user's file and line.
        gain: a greater number for a greater gain.
        count: how often there is the same advice.
    """

    rule: str
    cause: str
    remedy: str
    place: Where | None = None
    gain: float = 0.0
    count: int = 1


class Rule(NamedTuple):
    """Advice for events of some kinds whose message a pattern finds; its groups fill in `cause` and `remedy`."""

    name: str
    kinds: Collection[str]
    pattern: str
    cause: str
    remedy: str
    gain: float


def advice_for(events: Iterable[Event], rules: Iterable[Rule]) -> list[Advice]:
    """The advice for some events, the greatest gain first; equal advice once, with its number."""
    rules = tuple(rules)
    found: dict[Advice, int] = {}
    for event in events:
        advice = next(filter(None, (_applied(rule, event) for rule in rules)), None)
        if advice is not None:
            found[advice] = found.get(advice, 0) + 1
    counted = [replace(advice, count=count) for advice, count in found.items()]
    return sorted(counted, key=lambda advice: -advice.gain)


def _applied(rule: Rule, event: Event) -> Advice | None:
    match = re.search(rule.pattern, event.message) if event.kind in rule.kinds else None
    if match is None:
        return None
    cause, remedy = (text.format(**match.groupdict()) for text in (rule.cause, rule.remedy))
    return Advice(rule.name, cause, remedy, event.place, rule.gain)
