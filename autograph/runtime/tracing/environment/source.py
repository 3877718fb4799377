"""Sources of captured objects: globals, closure cells, attributes, and items of these.

A source says it twice: to the graph, which reads the value anew at each run, and to the guards, which look at it
before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any

from autograph.common import pytree
from autograph.common.pytree import Kind
from autograph.runtime.graph.graph import Constant
from autograph.runtime.tracing.proxies.graph_break import SourceKey


@dataclass(frozen=True)
class Source:
    """Where something comes from.

    Attributes:
        op, args: the node that reads it when the graph runs.
        expression, names: the same for guards.
        text: what a user calls it.
    """

    op: str
    args: tuple[Any, ...]
    expression: str
    names: tuple[tuple[str, Any], ...]
    text: str

    @property
    def key(self) -> SourceKey:
        return (self.op, *map(_key_of, self.args))

    @property
    def depth(self) -> int:
        """How many attributes and items it takes to get there."""
        count, source = 0, self
        while source.args and isinstance(source.args[0], Source):
            count, source = count + 1, source.args[0]
        return count

    def item(self, key: Any) -> Source:
        is_plain = type(key) in (int, str, bool, bytes, type(None))
        written, names = (repr(key), ()) if is_plain else (f"key_{id(key)}", ((f"key_{id(key)}", key),))
        args = self, key if is_plain else Constant(key)
        names = (*self.names, *names)
        return Source("getitem", args, f"{self.expression}[{written}]", names, f"{self.text}[{pytree.written(key)}]")

    def attribute(self, name: str) -> Source:
        if not name.isidentifier() or iskeyword(name):
            expression, text = (f"getattr({owner}, {name!r})" for owner in (self.expression, self.text))
            return Source("getattr", (self, name), expression, self.names, text)
        return Source("getattr", (self, name), f"{self.expression}.{name}", self.names, f"{self.text}.{name}")

    def part(self, kind: Kind, key: Any) -> Source:
        """Where a part of a structure is that lies here: an item, or an attribute."""
        return self.item(key) if kind.step(key).startswith("[") else self.attribute(key)


def constant(thing: Any, name: str, text: str) -> Source:
    """Where a thing is found that is the same one at each run; `name`: what guards call it."""
    return Source("constant", (Constant(thing),), name, ((name, thing),), text)


def with_distinct_names(sources: Iterable[Source]) -> tuple[list[str], dict[str, Any]]:
    """The expressions of sources, with the names in them, of which none has two meanings."""
    expressions: list[str] = []
    names: dict[str, Any] = {}
    for number, source in enumerate(sources):
        (root, rest), own = re.match(r"(\w+)(.*)", source.expression, re.DOTALL).groups(), dict(source.names)  # type: ignore[union-attr]
        if root in own:
            own[f"{root}_{number}"] = own.pop(root)
            root = f"{root}_{number}"
        expressions.append(root + rest)
        names |= own
    return expressions, names


def _key_of(arg: Any) -> Any:
    if isinstance(arg, Constant):
        return id(arg.value)
    return arg.key if isinstance(arg, Source) else arg
