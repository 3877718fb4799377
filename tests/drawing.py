"""What draws programs: the choices, and the statements and expressions that programs of several kinds have in common.

strategies.py, staged_strategies.py and gradient_strategies.py say what else their programs are made of.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("AUTOGRAPH_FUZZ", "0"))  # so many new programs are drawn; if none, the same few each time
Lines = list[str]


def drawn(few: int, share: float = 1) -> Any:
    """How a test draws its programs: a share of all, if new ones are wanted."""
    return settings(
        max_examples=int(EXAMPLES * share) or few,
        derandomize=not EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
    )


def indented(lines: Lines) -> Lines:
    return ["    " + line for line in lines]


class Writer:
    """Writes a program; `statements` are how many at most, or few more."""

    longest = 3  # statements of a block

    def __init__(self, draw: st.DrawFn, statements: st.SearchStrategy[int]) -> None:
        self.draw = draw
        self.left = draw(statements)
        self.counter = 0

    def pick(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def flip(self, one_in: int = 2) -> bool:
        return self.draw(st.integers(1, one_in)) == one_in

    def fresh(self, root: str) -> str:
        self.counter += 1
        return f"{root}{self.counter}"

    def block(self, scope: Any, longest: int = 0) -> Lines:
        lines: Lines = []
        for _ in range(self.draw(st.integers(1, longest or self.longest))):
            lines += self.statement(scope)
        return indented(lines) if scope.nesting else lines

    def inside(self, scope: Any, **changes: bool) -> Lines:
        """A block one deeper."""
        return self.block(replace(scope, nesting=scope.nesting + 1, **changes), 3)

    def statement(self, scope: Any) -> Lines:
        raise NotImplementedError


def forms(text: str) -> tuple[str, ...]:
    """Forms that are separated by three spaces: {i} in them stands for an integer, {p} for a number, and so on."""
    return tuple(re.split(r" {3,}|\n *", text.strip()))


@dataclass(frozen=True)
class Scope:
    """What may stand at a place of a program that is filled into forms."""

    loop: bool = False  # `break` and `continue`
    handler: bool = False  # a bare `raise`
    nesting: int = 0
    inner: bool = False  # in a function of main's
    functions: list[str] = field(default_factory=list)  # main's own, to call
    loose: list[str] = field(default_factory=list)  # variables that may be unbound


class FormWriter(Writer):
    """Writes programs whose variables keep to their kind.

    Attributes:
        forms, names, leaves: for each kind, named by a letter, how its expressions look, the variables, and what else
            is an expression by itself.
        assigned: the kinds that are assigned.
        loops: the heads of `for` loops.
        tests: how the count of a `while` loop, {count}, is tested.
        else_in: one in how many loops has an `else`.
        deepest: how deep statements nest.
        simple, compound: the statements.
    """

    forms: ClassVar[Mapping[str, Sequence[str]]]
    names: ClassVar[Mapping[str, Sequence[str]]]
    leaves: ClassVar[Mapping[str, Sequence[str]]]
    assigned: ClassVar[str]
    loops: ClassVar[Sequence[str]]
    tests: ClassVar[Sequence[str]]
    else_in: ClassVar[int]
    deepest: ClassVar[int]
    simple: ClassVar[Sequence[Callable[..., Lines]]]
    compound: ClassVar[Sequence[Callable[..., Lines]]]

    def expression(self, kind: str, depth: int = 2) -> str:
        if depth == 0 or self.flip(3):
            return self.pick(*self.names[kind], *self.names[kind], *self.leaves[kind])
        text = self.filled(self.pick(*self.forms[kind]), depth - 1)
        return f"({text})" if self.needs_parentheses(text, depth) else text

    def needs_parentheses(self, text: str, depth: int) -> bool:
        return re.search(r"[^,] |^-", text) is not None

    def filled(self, form: str, depth: int = 1) -> str:
        """A form with expressions where it asks for them; none of these assigns in a comprehension's iterable."""
        kinds = "".join(self.forms)
        text = re.sub(rf"\{{([{kinds}])\}}", lambda found: self.expression(found[1], depth), form)
        return text.replace(":=", "<=") if " for " in form else text

    def statement(self, scope: Scope) -> Lines:
        self.left -= 1
        kinds = [*self.simple, *(self.compound if self.left > 0 and scope.nesting < self.deepest else ())]
        if scope.nesting and self.flip(8):
            return self.draw(st.sampled_from([self.jump]))(scope)
        return self.draw(st.sampled_from(kinds))(self, scope)

    def assign(self, scope: Scope) -> Lines:
        kind = self.pick(*self.assigned)
        return [f"{self.pick(*self.names[kind])} {self.pick('=', '=', '=', '+=', '-=')} {self.expression(kind)}"]

    def call(self, scope: Scope) -> Lines:
        if not scope.functions:
            return self.assign(scope)
        return [f"{self.pick('p', 'q')} = {self.pick(*scope.functions)}({self.expression('p', 1)})"]

    def jump(self, scope: Scope) -> Lines:
        raise NotImplementedError

    def if_(self, scope: Scope) -> Lines:
        lines = [f"if {self.expression('c')}:", *self.inside(scope)]
        if self.flip(3):
            lines += [f"elif {self.expression('c')}:", *self.inside(scope)]
        return lines + (["else:", *self.inside(scope)] if self.flip() else [])

    def while_(self, scope: Scope) -> Lines:
        count = self.fresh("count")
        lines = [self.filled(f"{count} = {self.pick('3', '2', 'min(abs({i}), 3)')}")]
        if self.flip(4):
            lines += ["while True:", f"    if not {count} > 0:", "        break"]      # which ends if it is NaN, too
        else:
            lines += [self.filled(f"while {self.pick(*self.tests)}:").replace("{count}", count)]
        return [*lines, f"    {count} -= 1", *self.inside(scope, loop=True)]

    def for_(self, scope: Scope) -> Lines:
        head = f"for {self.filled(self.pick(*self.loops))}:"
        return [head, *self.inside(scope, loop=True), *self.loop_else(scope)]

    def loop_else(self, scope: Scope) -> Lines:
        return ["else:", *self.inside(scope)] if self.flip(self.else_in) else []
