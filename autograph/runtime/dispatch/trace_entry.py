"""The entry of a trace, a function generated for it: checks the guards, takes the arguments apart, and runs the graph.

    def entry(a0, p1):
        try:
            a1 = p1['w']
            if not (g['scale'] is scale and a0 is not a1):
                return ag_miss
        except Exception:
            return ag_miss
        ag_trace.entered += 1
        try:
            return ag_run(a0, a1)
        except BaseException as error:
            ag_translate(error)
            raise

It takes the values of the function's parameters, and returns the result of the function, or `MISS` if a guard does not
hold. A guard that raises does not hold.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import functools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from itertools import combinations
from types import CodeType
from typing import Any, cast

from autograph.common.trace_rules import is_own, wants_full_tracebacks
from autograph.errors import AutographError
from autograph.runtime.dispatch.arguments import VARIADIC, Reading
from autograph.runtime.graph.signature import Checks, Dynamic, Guard, Signature
from autograph.runtime.tracing.environment.common_paths import statements
from autograph.runtime.tracing.environment.container_aliases import are_different


class _Miss:
    def __repr__(self) -> str:
        return "<no trace fits>"


MISS = _Miss()
Entry = Callable[..., Any]
FEW = 8  # objects: comparing each with each takes less time than making a set
_TRANSLATED = """\
try:
 return {}
except BaseException as error:
 ag_translate(error)
 raise
"""
_LEAF = re.compile(r"\ba(\d+)\b")
_PARAMETER = re.compile(r"p\d+")
# A name; a text or an attribute, in which there is none, is one match, too.
_WORD = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\.?\b[^\W\d]\w*""")
_RESERVED = re.compile(r"[apk]\d+|ag_.*")


def trim(error: BaseException) -> None:
    """Remove this library's frames from the traceback of an error, up to that of the dispatcher that caught it."""
    own = error.__traceback__
    rest = own.tb_next if own is not None else None
    while rest is not None and is_own(rest.tb_frame.f_code.co_filename):
        rest = rest.tb_next
    if own is not None and (rest is not None or isinstance(error, AutographError)) and not wants_full_tracebacks():
        own.tb_next = rest


def never(*values: Any) -> Any:
    """The entry for keys without a trace."""
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


class Builder:
    """Generates the entry of one trace.

    Attributes:
        names: the globals of the entry.
        source: its text, once it is made.
    """

    def __init__(self, parameters: Sequence[Parameter], signature: Signature, reading: Reading) -> None:
        self.parameters = parameters
        self.signature = signature
        self.reading = reading
        self.names: dict[str, Any] = {"ag_miss": MISS, **reading.constants}
        self.source = ""
        self._renamings: dict[tuple[str, int], str] = {}
        self._versions: Counter[str] = Counter()
        whole = {code: f"a{number}" for number, code in enumerate(reading.codes)}
        self.arguments = [whole.get(f"p{number}", f"p{number}") for number in range(len(parameters))]

    def make(self, trace: Any, executable: Any, guards: Sequence[Guard], containers: Sequence[str]) -> Entry:
        """An entry that runs an executable on the staged leaves, and on the containers at these paths."""
        staged = [f"a{number}" for number, leaf in enumerate(self.signature.leaves) if isinstance(leaf, Dynamic)]
        self.names["ag_translate"] = executable.translate
        executable.bind(self.names, "ag_run")
        passed = [*staged, *map(self._container, containers)]
        trace.is_bare = passed == self.arguments and not (guards or self._sameness())
        trace.checks = self._checks(guards, passed)
        return self._compile(trace, guards, _TRANSLATED.format(f"ag_run({', '.join(passed)})"))

    def _checks(self, guards: Sequence[Guard], passed: list[str]) -> Checks | None:
        """The steps of the entry, for machine code that does the same; None if it takes apart `*args` or `**kwargs`."""
        if any(parameter.kind in VARIADIC for parameter in self.parameters):
            return None
        conditions = [(guard.expression, guard.names) for guard in guards]
        conditions += [(each, self.reading.constants) for each in self._sameness()]
        places = {name: place for place, name in enumerate(self.arguments)}
        leaves = {f"a{number}": code for number, code in enumerate(self.reading.codes)}
        leaves = {name: code for name, code in leaves.items() if name not in places}
        return Checks(conditions, passed, self.reading.constants, places, leaves)

    def make_plain(self, trace: Any, function: Callable[..., Any], guards: Sequence[Guard]) -> Entry:
        """An entry that calls `function` as the user did."""
        passed = [_passed(parameter, name) for parameter, name in zip(self.parameters, self.arguments)]
        self.names["ag_run"] = function
        return self._compile(trace, guards, f"return ag_run({', '.join(passed)})")

    def _compile(self, trace: Any, guards: Sequence[Guard], run: str) -> Entry:
        conditions = list(dict.fromkeys([*map(self.condition, guards), *self._sameness()]))
        checked = statements(conditions, "return ag_miss")
        used = set(_LEAF.findall(" ".join([run, *checked])))
        assignments = [
            f"a{number} = {code}"
            for number, code in enumerate(self.reading.codes)
            if str(number) in used and f"a{number}" not in self.arguments
        ]
        body = [*assignments, *checked]
        if body:
            body = ["try:", *(f" {line}" for line in body), "except Exception:", " return ag_miss"]
        lines = [*body, "ag_trace.entered += 1", *run.splitlines()]
        self.source = f"def entry({', '.join(self.arguments)}):\n" + "".join(f"    {line}\n" for line in lines)
        self.names["ag_trace"] = trace
        exec(compile(self.source, __file__, "exec"), self.names)  # `trim` removes the frame, as one of this library
        return cast(Entry, self.names.pop("entry"))

    def _container(self, path: str) -> str:
        code = self.reading.containers.get(path)
        if code is None:
            code = f"a{self.signature.paths.index(path)}"
        return code if not _PARAMETER.fullmatch(code) else self.arguments[int(code[1:])]

    def condition(self, guard: Guard) -> str:
        """The guard's expression; names that mean something else here are renamed."""
        new = {name: self._renamed_name(name, value) for name, value in guard.names.items()}
        if any(name != key for key, name in new.items()):
            return f"({_WORD.sub(lambda word: new.get(word[0], word[0]), guard.expression)})"
        return f"({guard.expression})"

    def _renamed_name(self, name: str, value: Any) -> str:
        """The global with a value: `name`, or one made of it that is neither reserved nor another value's."""
        names, known = self.names, self._renamings.get((name, id(value)))
        if known is None:
            known = name
            while _RESERVED.fullmatch(known) or names.setdefault(known, value) is not value:
                self._versions[name] += 1
                known = f"g{self._versions[name]}_{name}"
            self._renamings[name, id(value)] = known
        return known

    def _sameness(self) -> list[str]:
        """Conditions that the same arguments, and no others, are one object."""
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
    """An argument of a call that passes on the value of a parameter."""
    if parameter.kind is Parameter.KEYWORD_ONLY:
        return f"{parameter.name}={name}"
    return "*" * (parameter.kind is Parameter.VAR_POSITIONAL) + "**" * (parameter.kind is Parameter.VAR_KEYWORD) + name


@functools.lru_cache(4096)
def _compiled(expression: str) -> CodeType:
    return compile(expression, __file__, "eval")


def broken(guards: Sequence[Guard], named: Mapping[str, Any]) -> Guard | None:
    """The first guard that does not hold.

    Args:
        named: the values of the arguments, by the names that guards use.
    """
    for guard in guards:
        try:
            holds = eval(_compiled(guard.expression), dict(guard.names), named)
        except Exception:  # as in the entry
            return guard
        if not holds:
            return guard
    return None


def holding(guards: Sequence[Guard], reading: Reading) -> Callable[[], bool] | None:
    """A function that tells whether guards hold if all arguments are different objects.

    None if they depend on more of the arguments.
    """
    guards = [guard for guard in guards if not are_different(guard)]
    made = Builder((), Signature(((), {}), (), (), (), containers={}), reading)
    if any(not _names_in(guard) <= {*guard.names, *vars(builtins)} for guard in guards):
        return None
    tests = " and ".join(map(made.condition, guards)) or "True"
    source = f"def holds():\n    try:\n        return bool({tests})\n    except Exception:\n        return False\n"
    exec(compile(source, __file__, "exec"), made.names)
    return cast("Callable[[], bool]", made.names.pop("holds"))


def _names_in(guard: Guard) -> set[str]:
    nodes = ast.walk(ast.parse(guard.expression, mode="eval"))
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def with_own_constants(guards: Sequence[Guard], named: Mapping[str, Any]) -> list[Guard]:
    """Guards from disk that hold, with the constants of this process, which are compared faster than equal ones."""
    return [_with_own_constant(guard, named) if " is value or " in guard.expression else guard for guard in guards]


def _with_own_constant(guard: Guard, named: Mapping[str, Any]) -> Guard:
    test = ast.parse(guard.expression, mode="eval").body
    first = test.values[0] if isinstance(test, ast.BoolOp) else None
    if not (isinstance(first, ast.Compare) and ast.unparse(first.comparators[0]) == "value"):
        return guard
    own = eval(_compiled(ast.unparse(first.left)), dict(guard.names), named)
    return dataclasses.replace(guard, names={**guard.names, "value": own})
