"""A small backend for tests: it records every construct that reaches it, and runs it once for each way it can go.

    with recorded() as backend:
        x = Staged("x")
        converted(x)
    assert backend.log == [("if_stmt", ("y",)), ("while_stmt", ("n",))]

Of an `if` it runs both branches, of a loop one iteration, each from the same state; variables that may end up with
different values become `Staged`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from autograph.operators.backend import Backend, register, traced_by, unregister
from autograph.operators.state import UNBOUND

_BINARY = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "and": "&", "or": "|", "xor": "^",
}  # fmt: skip


class Staged:
    """A value that nobody knows yet; `text` says how it came about."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"Staged({self.text})"

    def __getitem__(self, index: Any) -> Staged:
        return Staged(f"{self.text}[{show(index)}]")

    def __neg__(self) -> Staged:
        return Staged(f"-{self.text}")

    def _unknown(self, *_: Any) -> Any:
        raise TypeError(f"{self!r} has no concrete value")

    __bool__ = __iter__ = __index__ = __len__ = __int__ = __float__ = __contains__ = _unknown
    __hash__ = object.__hash__


def show(value: Any) -> str:
    return value.text if isinstance(value, Staged) else repr(value)


def _binary(name: str, sign: str) -> None:
    def forward(self: Staged, other: Any) -> Staged:
        return Staged(f"({self.text} {sign} {show(other)})")

    def backward(self: Staged, other: Any) -> Staged:
        return Staged(f"({show(other)} {sign} {self.text})")

    setattr(Staged, f"__{name}__", forward)
    setattr(Staged, f"__r{name}__", backward)


for _name, _sign in _BINARY.items():
    _binary(_name, _sign)


def merged(one: Any, other: Any) -> Any:
    """What is known of a value that is `one` on one path and `other` on another."""
    if one is other or (type(one) is type(other) and not isinstance(one, Staged) and one == other):
        return one
    return Staged(f"phi({show(one)}, {show(other)})")


class Recorder(Backend):
    """See the module. `log` has an entry (construct, names or operands) for whatever was staged."""

    name = "recording"

    def __init__(self, plain_loops: bool = False) -> None:
        self.log: list[tuple[Any, ...]] = []
        self.plain_loops = plain_loops

    @property
    def constructs(self) -> list[str]:
        return [entry[0] for entry in self.log]

    def owns(self, value: Any) -> bool:
        return isinstance(value, Staged)

    def if_stmt(self, test, body, orelse, state):
        self.log.append(("if_stmt", state.names))
        before = state.snapshot()
        results, outcomes = [], []
        for branch in (body, orelse):
            state.restore(before)
            results.append(branch() if branch else None)
            outcomes.append(state.get())
        state.restore(before)
        state.set(map(merged, *outcomes))
        return merged(*results)

    def if_exp(self, test, body, orelse):
        self.log.append(("if_exp", show(test)))
        return merged(body(), orelse())

    def while_stmt(self, first, test, body, state, until, options):
        return self._loop("while_stmt", self.owns(first), body, state, until, options, test)

    def for_stmt(self, iterable, body, state, until, options, first):
        staged = self.owns(iterable) or self.owns(first)
        return self._loop("for_stmt", staged, lambda: body(Staged("item")), state, until, options)

    def _loop(self, construct, staged, iteration, state, until, options, test=None):
        if not staged:
            if self.plain_loops:
                self.log.append((f"plain {construct}", state.names))
            return NotImplemented
        self.log.append((construct, state.names) if options is None else (construct, state.names, options))
        before, values = state.snapshot(), state.get()
        iteration()
        for thunk in (until, test):
            if thunk is not None:
                thunk()
        after = state.get()
        state.restore(before)
        state.set(map(merged, values, after))
        return None

    def and_(self, first, rest, test=False):
        return self._fold("and_", first, rest)

    def or_(self, first, rest, test=False):
        return self._fold("or_", first, rest)

    def _fold(self, construct, first, rest):
        self.log.append((construct, 1 + len(rest)))
        for term in rest:
            first = merged(first, term())
        return first

    def not_(self, value):
        self.log.append(("not_", show(value)))
        return Staged(f"not {show(value)}")

    def in_(self, element, container):
        if not (self.owns(element) or self.owns(container)):
            return NotImplemented
        self.log.append(("in_", show(element), show(container)))
        return Staged(f"({show(element)} in {show(container)})")

    def list_comp(self, iterable, element, condition, done, first):
        return self._comprehension("list_comp", iterable, (element, condition), done, first)

    def set_comp(self, iterable, element, condition, done, first):
        return self._comprehension("set_comp", iterable, (element, condition), done, first)

    def dict_comp(self, iterable, key, value, condition, done, first):
        return self._comprehension("dict_comp", iterable, (key, value, condition), done, first)

    def gen_exp(self, iterable, element, condition, first):
        return self._comprehension("gen_exp", iterable, (element, condition), None, first)

    def _comprehension(self, construct, iterable, functions, done, first):
        if not (self.owns(iterable) or self.owns(first)):
            return NotImplemented
        self.log.append((construct, done))
        item = Staged("item") if self.owns(iterable) else next(iter(iterable))
        return [show(function(item)) for function in functions if function]

    def assert_stmt(self, test, message):
        self.log.append(("assert_stmt", show(test), message and message()))

    def raise_(self, exception):
        self.log.append(("raise_", type(exception)))
        return NotImplemented

    def ref(self, value):
        self.log.append(("ref", type(value)))
        return NotImplemented

    def builtin(self, name, args, kwargs):
        if not any(map(self.owns, (*args, *kwargs.values()))):
            return NotImplemented
        self.log.append((name, *map(show, args)))
        return Staged(f"{name}({', '.join(map(show, args))})")


@contextmanager
def recorded(tracing: bool = False, plain_loops: bool = False, backend: Any = None) -> Iterator[Any]:
    """Register a `Recorder` or another backend for as long as it lasts; `tracing`: and let it trace."""
    backend = backend or Recorder(plain_loops)
    with ExitStack() as stack:
        register(backend)
        stack.callback(unregister, backend)
        if tracing:
            stack.enter_context(traced_by(backend))
        yield backend


__all__ = ["UNBOUND", "Recorder", "Staged", "merged", "recorded", "show"]
