"""Advice: what keeps a call from being faster, in the user's terms, and what to do about it.

A `Rule` recognizes an event; `advice_rules.py` is the table of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from autograph.common.trace_rules import ROOT
from autograph.runtime.dispatch.locations import place_in
from autograph.runtime.graph.signature import Event, Where

# The likely gain, by what runs as Python: all of a function, a loop, an operation in a loop, or next to nothing.
FUNCTION, LOOP, OPERATION, LITTLE = 4.0, 3.0, 2.0, 1.0
SHORT = 1e-4  # seconds of an operation for which there is no advice


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
        seconds: the time that the cause has taken so far, if known.
    """

    rule: str
    cause: str
    remedy: str
    place: Where | None = None
    gain: float = 0.0
    count: int = 1
    seconds: float = 0.0


class Rule(NamedTuple):
    """Advice for events of some kinds, in whose message and `about`, below each other, a pattern is found.

    The groups of the pattern fill in `cause` and `remedy`.
    """

    name: str
    kinds: Collection[str]
    pattern: str
    cause: str
    remedy: str
    gain: float


def advice_for(events: Iterable[Event], rules: Iterable[Rule]) -> list[Advice]:
    """The advice for some events, the greatest gain first; equal advice once, with its number."""
    rules = tuple(rules)
    found = (next(filter(None, (_applied(rule, event) for rule in rules)), None) for event in events)
    return merged(advice for advice in found if advice is not None)


def merged(advice: Iterable[Advice]) -> list[Advice]:
    """Equal advice once, with its number and time; the greatest gain first."""
    found: dict[tuple[str, str], Advice] = {}
    for each in advice:
        first = found.get((each.cause, each.remedy))
        if first is not None:
            each = replace(first, count=first.count + each.count, seconds=first.seconds + each.seconds)
        found[each.cause, each.remedy] = each
    return sorted(found.values(), key=lambda each: (-each.gain, -each.seconds))


def _applied(rule: Rule, event: Event) -> Advice | None:
    if event.kind not in rule.kinds or 0 < event.seconds < SHORT:
        return None
    place = event.place or place_in(event.message)
    match = re.search(rule.pattern, f"{event.message}\n{event.about}".rstrip("\n"))
    if match is None or (place is not None and place[0].startswith(ROOT)):
        return None     # the user cannot change this library
    cause, remedy = (text.format_map(match.groupdict()) for text in (rule.cause, rule.remedy))
    return Advice(rule.name, cause, remedy, place, rule.gain, seconds=event.seconds)
