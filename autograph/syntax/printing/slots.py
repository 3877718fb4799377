"""Finds the places in the user's text where children of a parsed node were, and the nodes that are there now."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import gast

from autograph.common.printing import precedence
from autograph.common.printing.precedence import kind
from autograph.syntax.lines import Lines, Place
from autograph.syntax.origin import fields, is_node, untouched

_COMMENT = re.compile(r"#[^\n]*")
_SPACE = " \t\f\n\\"
_ARGUMENTS = {("Call", "args"), ("Call", "keywords"), ("ClassDef", "bases"), ("ClassDef", "keywords")}


class Slot(NamedTuple):
    """A place in a parsed node's text: the child that was there, and the one that is there now."""

    was: gast.AST
    now: gast.AST
    owner: gast.AST
    field: str

    @property
    def level(self) -> int:
        """The level of precedence that the place demands."""
        unpacked = (
            kind(self.owner) == "Dict"
            and self.field == "values"
            and any(value is self.now and key is None for key, value in zip(self.owner.keys, self.owner.values))
        )
        return precedence.BIT_OR if unpacked else precedence.demand(self.owner, self.field)

    @property
    def start(self) -> Place:
        line, offset, _, _ = self.was.origin.span
        return line, offset

    @property
    def end(self) -> Place:
        _, _, line, offset = self.was.origin.span
        return line, offset

    def is_lone_generator(self) -> bool:
        """Whether a replaced generator expression was the only argument of a call, without parentheses of its own."""
        if self.now is self.was or kind(self.was) != "GeneratorExp" or kind(self.owner) != "Call":
            return False
        return bool(self.end == self.owner.origin.span[2:])

    def is_parenthesized(self, before: str, after: str) -> bool:
        """Whether the user typed parentheses around a slot, given the texts before and after it."""
        if not (before.rstrip(_SPACE).endswith("(") and after.lstrip(_SPACE).startswith(")")):
            return False
        return (kind(self.owner), self.field) not in _ARGUMENTS or before.count("(") > 1 or "," in before

    def drops_parentheses(self, before: str, after: str) -> bool:
        """Whether the user's parentheses became redundant: `(a and b)` is now `ag__.and_(...)`."""
        if not (before.endswith("(") and after.startswith(")") and _is_new_call(self.now)):
            return False
        return self.is_parenthesized(before, after) and not (in_word(before[-2:-1]) or in_word(after[1:2]))


class Slots:
    """Finds slots.

    Args:
        memo: for `untouched`.
    """

    def __init__(self, memo: dict[int, bool]) -> None:
        self.memo = memo

    def of(self, node: gast.AST, names: Sequence[str] | None = None) -> list[Slot] | None:
        """The places of a node's children (in some fields) in its text, in order; None if its shape changed."""
        found: list[Slot] = []
        if not self._collect(node, fields(node) if names is None else names, found):
            return None
        found.sort(key=lambda slot: slot.start)
        return found

    def _collect(self, node: gast.AST, names: Sequence[str], found: list[Slot]) -> bool:
        for name, was in zip(fields(node), node.origin.shape):
            if name not in names:
                continue
            now = getattr(node, name, None)
            if type(was) is not tuple or type(now) is not list:
                was, now = [was], [now]
            if len(was) != len(now) or not all(self._slot(node, name, *pair, found) for pair in zip(was, now)):
                return False
        return True

    def _slot(self, owner: gast.AST, field: str, was: Any, now: Any, found: list[Slot]) -> bool:
        if not is_node(was):
            return was is now or (type(was) is type(now) and (isinstance(was, ast.AST) or was == now))
        if not (is_node(now) and hasattr(was, "origin")):
            return False
        if kind(owner) == "JoinedStr" and kind(was) == "Constant":
            return was is now and untouched(now, self.memo)
        if was.origin.span is None or kind(was) == "FormattedValue" or field == "format_spec":
            return was is now and self._collect(now, fields(now), found)
        if kind(now) == "Tuple" and field in ("slice", "context_expr"):
            if now is not was or self.of(now) is None:
                return False  # parentheses would change what it means there
        found.append(Slot(was, now, owner, field))
        return True

    def expanded(self, slots: Sequence[Slot]) -> list[Slot]:
        """The slots, those of nodes that are spliced themselves replaced by their own: no recursion in long sums."""
        found: list[Slot] = []
        todo = list(reversed(slots))
        while todo:
            slot = todo.pop()
            inner = None
            if slot.now is slot.was and not untouched(slot.now, self.memo) and kind(slot.now) != "JoinedStr":
                inner = self.of(slot.now)
            if inner is None:
                found.append(slot)
            else:
                todo.extend(reversed(inner))
        return found


def gaps(lines: Lines, slots: Sequence[Slot], start: Place, end: Place) -> list[str]:
    """Return the texts between two places and the slots there, without comments: only punctuation and keywords."""
    places = [start, *(place for slot in slots for place in (slot.start, slot.end)), end]
    return [_COMMENT.sub("", lines.between(*pair)) for pair in zip(places[::2], places[1::2])]


def in_order(slots: Sequence[Slot], start: Place, end: Place) -> bool:
    """Whether slots follow one another between two places."""
    places = [start, *(place for slot in slots for place in (slot.start, slot.end)), end]
    return places == sorted(places)


def depth(text: str) -> int:
    """Return the number of brackets that a text opens, less those that it closes."""
    return sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))


def in_word(character: str) -> bool:
    """Whether a character may be part of a name."""
    return character.isalnum() or character == "_"


def _is_new_call(node: gast.AST) -> bool:
    """Whether a node is a call that a converter made, like `ag__.operator(...)`."""
    if kind(node) != "Call":
        return False
    while kind(node) in ("Call", "Attribute") and not hasattr(node, "origin"):
        node = getattr(node, "func", None) or node.value
    return kind(node) == "Name" and not hasattr(node, "origin")
