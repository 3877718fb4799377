"""The way into a trace, written for each trace: check the guards, take the arguments apart, run.

    def entry(a0, p1):
        try:
            a1 = p1['w']
            if not (g['scale'] is scale and a0 is not a1):
                return ag_miss
        except Exception:
            return ag_miss
        ag_trace.calls += 1
        try:
            return ag_run(a0, a1)
        except BaseException as error:
            ag_translate(error)
            raise

It gets the values of the function's parameters, and gives what the function returns, or `MISS` if a guard does not
hold. A guard that raises does not hold.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from itertools import combinations
from types import CodeType
from typing import Any, cast

from autograph.common.trace_rules import is_own, wants_full_tracebacks
from autograph.errors import AutographError
from autograph.runtime.dispatch.arguments import Reading
from autograph.runtime.graph.signature import Dynamic, Guard, Signature


class _Miss:
    def __repr__(self) -> str:
        return "<no trace fits>"


MISS = _Miss()
Entry = Callable[..., Any]
FEW = 8  # objects; to compare each with each takes less time than to make a set
_TRANSLATED = """\
try:
 return {}
except BaseException as error:
 ag_translate(error)
 raise
"""
_LEAF = re.compile(r"\ba(\d+)\b")
_ARGUMENT = re.compile(r"[apk]\d+")
_PARAMETER = re.compile(r"p\d+")
_TAKEN = re.compile(r"[apk]\d+|ag_.*")


def trim(error: BaseException) -> None:
    """Take this library's frames, behind that of the dispatcher that caught `error`, out of its traceback."""
    own = error.__traceback__
    rest = own.tb_next if own is not None else None
    while rest is not None and is_own(rest.tb_frame.f_code.co_filename):
        rest = rest.tb_next
    if own is not None and (rest is not None or isinstance(error, AutographError)) and not wants_full_tracebacks():
        own.tb_next = rest


def never(*values: Any) -> Any:
    """The entry of a trace that is not there."""
    return MISS


def first_of(entries: Sequence[Entry]) -> Entry:
    """An entry that tries several, in order."""
    if len(entries) == 1:
        return entries[0]

    def try_each(*values: Any) -> Any:
        for entry in entries:
            result = entry(*values)
            if result is not MISS:
                return result
        return MISS

    return try_each


def bind(executable: Any, names: dict[str, Any], name: str) -> None:
    """Call what an engine made by that name, also when it makes it anew."""
    names[name] = executable.run
    if hasattr(executable, "bind"):
        executable.bind(names, name)


class Builder:
    """Writes the entry of one trace.

    Attributes:
        names: what the entry's code names.
        source: the code, once it is made.
    """

    def __init__(self, parameters: Sequence[Parameter], signature: Signature, reading: Reading) -> None:
        self.parameters = parameters
        self.signature = signature
        self.reading = reading
        self.names: dict[str, Any] = {"ag_miss": MISS, **reading.constants}
        self.source = ""
        whole = {code: f"a{number}" for number, code in enumerate(reading.codes)}
        self.arguments = [whole.get(f"p{number}", f"p{number}") for number in range(len(parameters))]

    def make(self, trace: Any, executable: Any, guards: Sequence[Guard], containers: Sequence[str]) -> Entry:
        """An entry that runs what the engine made on the staged leaves, and on the containers at these paths."""
        staged = [f"a{number}" for number, leaf in enumerate(self.signature.leaves) if isinstance(leaf, Dynamic)]
        self.names["ag_translate"] = executable.translate
        bind(executable, self.names, "ag_run")
        passed = [*staged, *map(self._container, containers)]
        trace.is_bare = passed == self.arguments and not (guards or self._sameness())
        return self._compile(trace, guards, _TRANSLATED.format(f"ag_run({', '.join(passed)})"))

    def make_plain(self, trace: Any, function: Callable[..., Any], guards: Sequence[Guard]) -> Entry:
        """An entry that calls `function` as the user did."""
        passed = [_passed(parameter, name) for parameter, name in zip(self.parameters, self.arguments)]
        self.names["ag_run"] = function
        return self._compile(trace, guards, f"return ag_run({', '.join(passed)})")

    def _compile(self, trace: Any, guards: Sequence[Guard], run: str) -> Entry:
        conditions = list(dict.fromkeys([*map(self.condition, guards), *self._sameness()]))
        checked = [f"if not ({' and '.join(conditions)}):", " return ag_miss"] if conditions else []
        used = set(_LEAF.findall(" ".join([run, *checked])))
        taken = [
            f"a{number} = {code}"
            for number, code in enumerate(self.reading.codes)
            if str(number) in used and f"a{number}" not in self.arguments
        ]
        body = [*taken, *checked]
        if body:
            body = ["try:", *(f" {line}" for line in body), "except Exception:", " return ag_miss"]
        lines = [*body, "ag_trace.calls += 1", *run.splitlines()]
        self.source = f"def entry({', '.join(self.arguments)}):\n" + "".join(f"    {line}\n" for line in lines)
        self.names["ag_trace"] = trace
        exec(compile(self.source, __file__, "exec"), self.names)  # a frame of this library's, for who trims tracebacks
        return cast(Entry, self.names.pop("entry"))

    def _container(self, path: str) -> str:
        code = self.reading.containers.get(path)
        if code is None:
            code = f"a{self.signature.paths.index(path)}"
        return code if not _PARAMETER.fullmatch(code) else self.arguments[int(code[1:])]

    def condition(self, guard: Guard) -> str:
        """The guard's expression, or the call of a function that computes it if its names mean something else here."""
        if all(
            self.names.setdefault(name, value) is value and not _reserved(name) for name, value in guard.names.items()
        ):
            return f"({guard.expression})"
        named = _names_in(guard.expression) - {*guard.names}
        parameters = ", ".join(sorted(each for each in named if _ARGUMENT.fullmatch(each)))
        name = f"ag_guard{len(self.names)}"
        self.names[name] = eval(
            compile(f"lambda {parameters}: {guard.expression}", __file__, "eval"), dict(guard.names)
        )
        return f"{name}({parameters})"

    def _sameness(self) -> list[str]:
        """That the same arguments, and no others, are one object."""
        conditions = []
        firsts: dict[int, str] = {}
        kinds: dict[type, list[str]] = {}
        for kind, code, identity, _ in self.reading.references:
            code = self._renamed(code)
            if identity in firsts:
                conditions.append(f"{code} is {firsts[identity]}")
            else:
                firsts[identity] = code
                kinds.setdefault(kind, []).append(code)
        for codes in kinds.values():
            if len(codes) <= FEW:
                conditions += [f"{one} is not {other}" for one, other in combinations(codes, 2)]
            else:
                conditions.append(f"len({{{', '.join(f'id({code})' for code in codes)}}}) == {len(codes)}")
        return conditions

    def _renamed(self, code: str) -> str:
        if code in self.reading.codes:
            return f"a{self.reading.codes.index(code)}"
        return self.arguments[int(code[1:])] if _PARAMETER.fullmatch(code) else code


def _passed(parameter: Parameter, name: str) -> str:
    """How a call hands over the value of a parameter."""
    if parameter.kind is Parameter.KEYWORD_ONLY:
        return f"{parameter.name}={name}"
    return "*" * (parameter.kind is Parameter.VAR_POSITIONAL) + "**" * (parameter.kind is Parameter.VAR_KEYWORD) + name


def _reserved(name: str) -> bool:
    return _TAKEN.fullmatch(name) is not None


@functools.lru_cache(4096)
def _names_in(expression: str) -> frozenset[str]:
    return frozenset(each.id for each in ast.walk(ast.parse(expression)) if isinstance(each, ast.Name))


@functools.lru_cache(4096)
def _compiled(expression: str) -> CodeType:
    return compile(expression, __file__, "eval")


def broken(guards: Sequence[Guard], named: Mapping[str, Any]) -> Guard | None:
    """The first guard that does not hold if what of the arguments guards may name is this."""
    for guard in guards:
        try:
            holds = eval(_compiled(guard.expression), dict(guard.names), named)
        except Exception:  # the same as when the entry checks it
            return guard
        if not holds:
            return guard
    return None
