"""The dispatcher: the function that a call comes to first, generated for each staged function.

It has the parameters of the user's function, so that Python binds the arguments, fills in defaults and raises the
errors of wrong calls. It computes the key of the arguments, looks up the entry of their trace, and calls it, see
`trace_entry.py`; `_DISPATCHER` is its text.

Once a trace has been entered often, it is in the inline cache (Hölzle and others, 1991): before computing keys, a test
compares the arguments with those of that trace, which takes half the time. If the entry has nothing to check, the
dispatcher runs the graph itself, which saves a frame. For `norm(x, axis=None)`:

    if ag_type(x) is ag_array and x.shape == ag_k0_0 and x.dtype is ag_k0_1 and axis is ag_k1_0:
        ag_result = ag_enter(x, axis)
        if ag_result is not ag_miss:
            return ag_result
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import operator
import re
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from textwrap import indent
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any, cast

import numpy as np

from autograph.common import pytree
from autograph.common.code_marks import staged
from autograph.common.line_tables import Position, with_lines
from autograph.common.statics import class_has
from autograph.runtime.dispatch.arguments import (
    LONG_TEXT,
    MANY,
    NUMBERS,
    VARIADIC,
    is_keyed_by_class,
    key_of,
    key_of_parts,
)
from autograph.runtime.dispatch.trace_cache import Trace
from autograph.runtime.dispatch.trace_entry import MISS, never, trim
from autograph.runtime.graph.callables import parameters_of, user_code
from autograph.runtime.graph.signature import Checks

# Classes of scalars that are keys by themselves: one trace serves all values of a class.
ATOMS: frozenset[type] = NUMBERS | {
    kind for kind in np.sctypeDict.values() if issubclass(kind, (np.number, np.bool_)) and kind is not np.timedelta64
}

Described = tuple[tuple[str, Any, bool], ...]     # name, kind, and whether there is a default, of each parameter

_CHECKED = "checked"     # in the place of tests that are machine code
FEW_TESTS = 4   # which Python does as fast as it calls machine code
MOST = 40  # constants of a test: to test more takes longer than to compute a key


# The dispatcher -------------------------------------------------------------------------------------------------------


def make_dispatcher(
    function: Any,
    parameters: Sequence[Parameter],
    keyers: Mapping[str, Callable[[Any], Any]],
    names: dict[str, Any],
    cached: Trace | None = None,
    template: str = "",
    is_inner: bool = False,
) -> FunctionType:
    """The dispatcher of `function`.

    Args:
        function: the user's function; the dispatcher gets its name and place.
        keyers: functions that compute the keys of the parameters that the policy mentions.
        names: `active`, `eager`, `divert`, `find` and `slow`, see `_DISPATCHER`.
        cached: the trace in the inline cache, which is tried first.
        template: another one than `_DISPATCHER`.
        is_inner: whether a trampoline calls it, which has the name and place of the user's function then.
    """
    prefix = _prefix(parameters)
    described = tuple((p.name, p.kind, p.default is not Parameter.empty) for p in parameters)
    tests, inline = ((), {}) if cached is None else _inline_cache(cached, parameters, keyers)
    names = {**names, **inline}
    is_bare = cached is not None and cached.is_bare and tests != (_CHECKED,)
    trap = _trap_of(function, parameters)
    code = _dispatcher_code(described, frozenset(keyers), prefix, tests, is_bare, trap, template or _DISPATCHER)
    common: dict[str, Any] = {"type": type, "map": map, "len": len, "atoms": ATOMS, "array": np.ndarray, "never": never}
    common |= {"miss": MISS, "key": key_of, "parts": key_of_parts, "errors": BaseException, "trim": trim}
    common |= {"unkeyed": Exception, "all": all, "same": operator.is_, "has": class_has}
    own = {f"key_of_{name}": keyer for name, keyer in keyers.items()}
    namespace = {prefix + name: value for name, value in {**common, **own, **names}.items()}
    namespace["__builtins__"] = builtins    # torch.compile looks for them
    if cached is not None and is_bare:
        cached.executable.bind(namespace, f"{prefix}run")
    if trap is not None:
        namespace[f"{prefix}misfit"] = functools.partial(_misfit, function, parameters)
    placed = code.replace(co_filename=__file__) if is_inner else _placed(code, function)
    made = FunctionType(placed, namespace)
    _dress(made, function, parameters)
    if trap is not None:
        positional = [p for p in parameters if p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]
        made.__defaults__ = tuple(MISS if p.default is Parameter.empty else p.default for p in positional)
        made.__kwdefaults__ = {**dict.fromkeys(trap, MISS), **(made.__kwdefaults__ or {})}
    return made


def _inline_cache(
    cached: Trace, parameters: Sequence[Parameter], keyers: Mapping[str, Callable[[Any], Any]]
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The tests of the inline cache, and the objects that they name; no tests if a call needs its key."""
    if not is_plain(cached.key):
        return (), {}
    keys = [cached.key] if len(parameters) == 1 else cached.key
    found = [_test(f"§k{n}", p, key, keyers.get(p.name)) for n, (p, key) in enumerate(zip(parameters, keys))]
    tests = tuple(code for code, _ in found)
    names: dict[str, Any] = {"cached": cached, "enter": cached.entry}
    constants = {f"k{n}_{i}": part for n, (_, parts) in enumerate(found) for i, part in enumerate(parts)}
    checked = _checked_entry(cached, parameters, tests, constants)
    return (tests, names | constants) if checked is None else ((_CHECKED,), names | {"checked": checked})


def _checked_entry(
    trace: Trace, parameters: Sequence[Parameter], tests: tuple[str, ...], constants: dict[str, Any]
) -> Callable[..., Any] | None:
    """Machine code that does what the tests and the entry of a trace do; None if there is none."""
    is_own = trace.checks is not None and trace.entry is trace.own_entry
    if not is_own or (trace.is_bare and len(tests) < FEW_TESTS) or _prefix(parameters) != "ag_":
        return None
    key = tests, tuple(map(id, constants.values()))
    if key not in trace.checked:
        names = {f"ag_{name}": value for name, value in constants.items()}
        names |= {"ag_type": type, "ag_len": len, "ag_array": np.ndarray}
        read = [(test.replace("§", "ag_"), names) for test in tests]
        checks = dataclasses.replace(cast("Checks", trace.checks), tests=read, parameters=[p.name for p in parameters])
        made = trace.executable.checked(checks, MISS)
        trace.checked[key] = made and (made[0], constants)      # which keeps the ids
        trace.counters += [] if made is None else [made[1]]
    found = trace.checked[key]
    return None if found is None else cast("Callable[..., Any]", found[0])


def make_counter(
    function: Any, parameters: Sequence[Parameter], ticks: Any, plain: Callable[..., Any], sample: Callable[..., Any]
) -> FunctionType:
    """A function with these parameters that calls another one, or `sample` where `ticks` say so, with their values."""
    names = {"ticks": ticks, "plain": plain, "sample": sample}
    return make_dispatcher(function, parameters, {}, names, template=_COUNTER)


class Target(weakref.ref[Any]):
    """A weak reference in the code of a trampoline: garbage collection does not follow code."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return Target, (_nothing,)      # a function that is unpickled gets other code


def _nothing() -> None: ...


def trampoline(function: FunctionType, parameters: Sequence[Parameter], target: Callable[..., Any]) -> CodeType:
    """Code for a copy of `function` that calls `target` with its arguments, as long as that is alive.

    It has the closure of the function, and names what the function's code names. Without its target, which another
    thread may have replaced, it does what the function's code does, in whichever function it is.
    """
    described = tuple((p.name, p.kind, False) for p in parameters)
    code = _trampoline_code(described, function.__code__.co_freevars, _prefix(parameters))
    plain = functools.partial(_in_place, function.__code__)
    known = {"§target": Target(target), "§plain": plain, "§errors": BaseException, "§trim": trim}
    constants = (known.get(each, each) if type(each) is str else each for each in code.co_consts)
    return staged(_placed(code, function).replace(co_consts=tuple(constants)), function.__code__)


def _in_place(code: CodeType, inner: FunctionType) -> FunctionType:
    """A function of `code` with the globals and cells of another one."""
    return FunctionType(code, inner.__globals__, code.co_name, None, inner.__closure__)


# The text of a trampoline; its constants are replaced.
_TRAMPOLINE = """\
def around():
    {free}
    def dispatch({header}):
        §target = '§§target'
        try:
            §target = §target()
            if §target is None:
                §target = '§§plain'
                §target = §target(lambda: ({named}))
            return §target({passed})
        except '§§errors' as §error:
            §target = '§§trim'
            §target(§error)
            del §target     # debuggers show the frame
            raise
"""
_PASSED = {
    Parameter.KEYWORD_ONLY: "{0}={0}", Parameter.VAR_POSITIONAL: "*{0}", Parameter.VAR_KEYWORD: "**{0}",
}


@functools.lru_cache(maxsize=512)
def _trampoline_code(parameters: Described, free: tuple[str, ...], prefix: str) -> CodeType:
    passed = ", ".join(_PASSED.get(kind, "{0}").format(name) for name, kind, _ in parameters)
    named = "".join(f"{name}, " for name in free)
    text = _filled(
        _TRAMPOLINE,
        header=_header(parameters),
        passed=passed,
        free=f"{' = '.join(free)} = None\n" if free else "",
        named=named,
    )
    text = re.sub("(?<!§)§(?!§)", prefix, text).replace("§§", "§")
    code: Any = compile(text, "<autograph dispatcher>", "exec")
    for _ in range(2):
        code = next(constant for constant in code.co_consts if isinstance(constant, CodeType))
    return with_lines(code, [(len(code.co_code), Position(1))], 1)


def _trap_of(function: Any, parameters: Sequence[Parameter]) -> tuple[str, ...] | None:
    """The names of arguments that a partial or method lacks or does not take: calling it raises Python's error.

    None for other functions, whose dispatcher raises that error by itself.
    """
    if not isinstance(function, (functools.partial, MethodType)):
        return None
    required = [p.name for p in parameters if p.kind not in VARIADIC and p.default is Parameter.empty]
    if all(p.kind is not Parameter.VAR_KEYWORD for p in parameters):
        return tuple(required)
    inner: Any = function
    while isinstance(inner, (functools.partial, MethodType)):
        inner = inner.func if isinstance(inner, functools.partial) else inner.__func__
    own = {p.name for p in parameters}
    inside = parameters_of(inner)
    if all(p.name not in own for p in inside):
        return ()       # these are any parameters, as the function cannot be called
    return *required, *(p.name for p in inside if p.kind is Parameter.POSITIONAL_OR_KEYWORD and p.name not in own)


def _misfit(function: Any, parameters: Sequence[Parameter], values: Sequence[Any], rest: Any, named: Any) -> Any:
    """Call a function with arguments that it does not take."""
    args: list[Any] = []
    keywords: dict[str, Any] = {}
    for p, value in zip(parameters, values):
        if p.kind is Parameter.VAR_POSITIONAL:
            args += value
        elif p.kind is Parameter.VAR_KEYWORD:
            keywords |= value
        elif value is not MISS and p.kind is not Parameter.KEYWORD_ONLY and not keywords:
            args.append(value)
        elif p.kind is not Parameter.POSITIONAL_ONLY and value is not p.default:
            keywords[p.name] = value
    keywords |= named
    return function(*args, *rest, **{name: value for name, value in keywords.items() if value is not MISS})


def _dress(made: FunctionType, function: Any, parameters: Sequence[Parameter]) -> None:
    """Give a function the defaults and the name of the user's, which the errors of wrong calls name."""
    defaults = {p.name: p.default for p in parameters if p.default is not Parameter.empty}
    keywords = {p.name for p in parameters if p.kind is Parameter.KEYWORD_ONLY}
    made.__defaults__ = tuple(value for name, value in defaults.items() if name not in keywords) or None
    if type(function) is FunctionType:
        made.__kwdefaults__ = function.__kwdefaults__   # itself, as the user may change it
    else:
        made.__kwdefaults__ = {name: value for name, value in defaults.items() if name in keywords} or None
    made.__name__ = getattr(function, "__name__", made.__name__)
    made.__qualname__ = getattr(function, "__qualname__", made.__name__)


def _prefix(parameters: Sequence[Parameter]) -> str:
    """A prefix for the dispatcher's own variables, with which no name of a parameter begins."""
    prefix = "ag_"
    while any(p.name.startswith(prefix) for p in parameters):
        prefix += "_"
    return prefix


# The text of a dispatcher; `§` is the prefix of its own names.
_DISPATCHER = """\
def dispatch({header}):
    try:
        {misfit}
        if §active or §eager:
            §result = §divert(({values}))
            if §result is not §miss:
                return §result
        {cached}
        try:
            {keys}
            §result = §find({key}, §never)
        except §unkeyed:
            return §slow(({values}))
        §result = §result({values})
        return §result if §result is not §miss else §slow(({values}))
    except §errors as §result:
        §trim(§result)
        {forget}
        raise
"""
# The same for tier 0, where `call_counter` cannot extend the function.
_COUNTER = """\
def dispatch({header}):
    try:
        {misfit}
        for §result in §ticks:
            if not §result:
                return §plain({values})
            break
        return §sample(({values}))
    except §errors as §result:
        §trim(§result)
        {forget}
        raise
"""
_ENTER = """\
if {test}:
    §result = §enter({values})
    if §result is not §miss:
        return §result
"""
_RUN = """\
if {test}:
    §cached.entered += 1
    try:
        return §run({values})
    except §errors as §result:
        §cached.executable.translate(§result)
        raise
"""
_CALL_CHECKED = """\
try:
    §result = §checked({values})
except §errors as §result:
    §cached.executable.translate(§result)
    raise
if §result is not §miss:
    return §result
"""
_PART = re.compile(r"^( *)\{(\w+)\}\n|\{(\w+)\}", re.MULTILINE)


def _filled(template: str, **parts: str) -> str:
    """A template with its parts; one that has its own line may have several lines, or none."""
    return _PART.sub(lambda found: indent(parts[found[2]], found[1]) if found[2] else parts[found[3]], template)


@functools.lru_cache(maxsize=512)
def _dispatcher_code(
    parameters: Described,
    keyed: frozenset[str],
    prefix: str,
    tests: tuple[str, ...],
    is_bare: bool,
    trap: tuple[str, ...] | None,
    template: str,
) -> CodeType:
    """Code of one line, so that it can be moved to any line."""
    names = [name for name, _, _ in parameters]
    values = "".join(f"{name}, " for name in names)
    header = _header(parameters if trap is None else _trapped(parameters, trap, prefix))
    others = [name for name in (f"{prefix}rest", f"{prefix}more") if f"*{name}" in header]
    test, cached = " and ".join(tests), ""
    if "§key" in test or "§parts" in test:
        test, cached = "§result", f"try:\n    §result = {test}\nexcept §unkeyed:\n    §result = False\n"
    if tests == (_CHECKED,):
        cached = _filled(_CALL_CHECKED, values=values)
    elif tests:
        cached += _filled(_RUN if is_bare else _ENTER, test=test, values=values)
    keys = "".join(_key_statement(f"§{at}", name, kind, name in keyed) for at, (name, kind, _) in enumerate(parameters))
    key = "§0" if len(names) == 1 else f"({''.join(f'§{number}, ' for number in range(len(names)))})"
    forget = "".join(f"§{number} = None\ndel §{number}\n" for number in range(len(names)))  # debuggers show the frame
    forget += "".join(f"del {name}\n" for name in others)
    misfit = _misfit_text(names, values, others, trap or ())
    text = _filled(
        template, header=header, misfit=misfit, values=values, cached=cached, keys=keys, key=key, forget=forget
    )
    return _compiled(text.replace("§", prefix))


def _misfit_text(names: list[str], values: str, others: list[str], trap: tuple[str, ...]) -> str:
    """Code that calls `_misfit` if arguments do not fit."""
    tests = others + [f"{name} is {'' if name in names else 'not '}§miss" for name in trap]
    if not tests:
        return ""
    named = [f"{name!r}: {name}" for name in trap if name not in names]
    named += [f"**{name}" for name in others if name.endswith("more")]
    rest = next((name for name in others if name.endswith("rest")), "()")
    return f"if {' or '.join(tests)}:\n    return §misfit(({values}), {rest}, {{{', '.join(named)}}})\n"


def _key_statement(target: str, name: str, kind: Any, keyed: bool) -> str:
    if keyed or kind in VARIADIC:
        return f"{target} = {f'§key_of_{name}' if keyed else '§parts'}({name})\n"
    return (
        f"{target} = §type({name})\nif {target} not in §atoms:\n"
        f"    {target} = ({name}.shape, {name}.dtype) if {target} is §array else §key({name})\n"
    )


def _test(
    mark: str, parameter: Parameter, key: Any, keyer: Callable[[Any], Any] | None
) -> tuple[str, Sequence[Any]]:
    """Cheap code that is true only if the key of an argument is `key`; and the constants that it names.

    Args:
        mark: with which the names of the constants begin.
        keyer: computes the key, if the policy mentions the parameter.
    """
    name, constants = parameter.name, Constants(mark)
    if keyer is not None and (key is list or key is dict) and keyer(key()) is key:      # for all lists or dicts
        return f"§type({name}) is {constants.named(key)}", constants
    if parameter.kind not in VARIADIC:
        test = _array_test if keyer else _long_test if key in (list, tuple, str) else _value_test
        found = test(name, key, constants)
        if found is not None and len(constants) <= MOST:
            return found, constants
    constants = Constants(mark)
    made = f"§key_of_{name}" if keyer else "§parts" if parameter.kind in VARIADIC else "§key"
    return f"{made}({name}) == {constants.named(key)}", constants


class Constants(list[Any]):
    """Constants of a test, which have numbers behind `mark` for their names."""

    def __init__(self, mark: str) -> None:
        super().__init__()
        self._mark = mark

    def named(self, value: Any) -> str:
        """The name of one more constant."""
        self.append(value)
        return f"{self._mark}_{len(self) - 1}"

    def once(self, value: Any) -> str:
        """The same, but one name for one object."""
        number = next((number for number, each in enumerate(self) if each is value), None)
        return self.named(value) if number is None else f"{self._mark}_{number}"


def _array_test(code: str, key: Any, constants: Constants) -> str | None:
    """Code that is true only if the value of `code` is a number, array or object of a key; None for other keys."""
    if isinstance(key, type):
        return f"§type({code}) is {constants.named(key)}" if key in ATOMS or is_keyed_by_class(key) else None
    shape = key[0]
    if not isinstance(shape, tuple) or (None in shape and any(shape)):
        return None
    fits = f"{code}.ndim == {len(shape)}" if None in shape else f"{code}.shape == {constants.named(shape)}"
    return f"§type({code}) is §array and {fits} and {code}.dtype is {constants.named(key[1])}"


def _long_test(code: str, key: Any, constants: Constants) -> str:
    """The same for a long list, tuple or string, see `is_whole`. (Inside of another one, it might be no whole.)"""
    if key is str:
        return f"§type({code}) is {constants.named(key)} and §len({code}) > {LONG_TEXT}"
    is_long = f"§type({code}) is {constants.named(key)} and §len({code}) > {MANY}"
    return f"{is_long} and (§type({code}[0]) in §atoms or not §has(§type({code}[0]), '__ag_apart__'))"


def _value_test(code: str, key: Any, constants: Constants) -> str | None:
    """The same for any argument that the policy does not mention, and for its parts."""
    if isinstance(key, type) or isinstance(key[0], tuple):
        return _array_test(code, key, constants)
    kind, *parts = key
    if kind in _SINGLE:
        return f"{code} is {constants.named(parts[0])}"
    tests = [f"§type({code}) is {constants.once(kind)}"]
    if kind is str:
        tests.append(f"{code} == {constants.named(parts[0])}")
    elif kind in (list, tuple) and NUMBERS.issuperset(parts):
        types = {part: constants.named(part) for part in dict.fromkeys(parts)}
        tests.append(f"§len({code}) == {len(parts)}")   # a list of their types would take several times as long
        tests += [f"§type({code}[{number}]) is {types[part]}" for number, part in enumerate(parts)]
    elif kind in (list, tuple) and type(parts[-1]) is str:      # types, and strings
        strings = kind(parts[len(parts) // 2 :])
        tests.append(f"[*§map(§type, {code})] == {constants.named([str] * len(strings))}")
        tests.append(f"{code} == {constants.named(strings)}")
    elif kind in (list, tuple) and all(isinstance(part, type) and is_keyed_by_class(part) for part in parts):
        tests.append(f"§len({code}) == {len(parts)}")   # `==` might run code of a metaclass
        tests.append(f"§all(§map(§same, §map(§type, {code}), {constants.named(parts)}))")
    elif kind in (list, tuple):
        tests.append(f"§len({code}) == {len(parts)}")
        tests += _part_tests({f"{code}[{number}]": part for number, part in enumerate(parts)}, constants)
    elif kind is dict and all(type(name) is str for name in parts[0]):
        names, *parts = parts
        tests.append(f"[*{code}] == {constants.named(list(names))}")
        named = {f"{code}[{constants.named(name)}]": part for name, part in zip(names, parts)}
        tests += _part_tests(named, constants)
    elif kind is not dict and pytree.may_be_nested(kind) and (facts := pytree.facts_of_fields(kind)) is not None:
        names, *parts = parts
        tag, known, fields = map(constants.once, (facts.tag, facts, names))
        tests += [f"{tag}[0] == {known}.known", f"(*{code}.__dict__,) == {fields}"]
        tests += _part_tests({f"{code}.{name}": part for name, part in zip(names, parts)}, constants)
    else:
        return None
    return None if None in tests else " and ".join(tests)


def _part_tests(parts: Mapping[str, Any], constants: Constants) -> list[Any]:
    return [_value_test(code, key, constants) if len(constants) <= MOST else None for code, key in parts.items()]


_SINGLE = frozenset({FunctionType, bool, type(None)})


def is_plain(key: Any) -> bool:
    """Whether comparing a key runs no code of the user's."""
    if type(key) is tuple:
        return all(map(is_plain, key))
    return type(key) in _PLAIN or isinstance(key, (type, np.dtype))     # of a class with `==` there is no key


_PLAIN = frozenset({type, type(None), bool, int, str, bytes, FunctionType, BuiltinFunctionType})


def _header(parameters: Described) -> str:
    """Parameters as a `def` has them; each default is None and set later."""
    default = {True: None, False: Parameter.empty}
    return str(Signature([Parameter(name, kind, default=default[has]) for name, kind, has in parameters]))[1:-1]


def _trapped(parameters: Described, trap: tuple[str, ...], prefix: str) -> Described:
    """Parameters, and those that take the arguments that the function does not take; `trap`: see `_trap_of`."""
    names = [name for name, _, _ in parameters]
    each = [(name, kind, has_default or name in trap) for name, kind, has_default in parameters]
    each += [(name, Parameter.KEYWORD_ONLY, True) for name in trap if name not in names]
    kinds = {kind for _, kind, _ in each}
    each += [(prefix + name, kind, False) for name, kind in zip(("rest", "more"), VARIADIC) if kind not in kinds]
    return tuple(sorted(each, key=lambda parameter: parameter[1]))


def make_binder(function: Any, parameters: Sequence[Parameter]) -> Callable[..., tuple[Any, ...]]:
    """A function with the same parameters that gives their values."""
    described = tuple((p.name, p.kind, p.default is not Parameter.empty) for p in parameters)
    made = FunctionType(_placed(_binder_code(described), function), {})
    _dress(made, function, parameters)
    return cast("Callable[..., tuple[Any, ...]]", made)


@functools.lru_cache(maxsize=512)
def _binder_code(parameters: Described) -> CodeType:
    values = "".join(f"{name}, " for name, _, _ in parameters)
    return _compiled(f"def bind({_header(parameters)}):\n return ({values})")


def _compiled(text: str) -> CodeType:
    """The function of a text, with all instructions on the first line."""
    module = compile(text, "<autograph dispatcher>", "exec")
    code = next(constant for constant in module.co_consts if isinstance(constant, CodeType))
    return with_lines(code, [(len(code.co_code), Position(1))], 1)


def _placed(code: CodeType, function: Any) -> CodeType:
    """`code` with the name, and on the first line, of the user's function."""
    user = user_code(function)
    if user is None:
        return code
    changes: dict[str, Any] = {"co_qualname": getattr(user, "co_qualname", "")} if sys.version_info >= (3, 11) else {}
    return code.replace(
        co_filename=user.co_filename, co_firstlineno=user.co_firstlineno, co_name=user.co_name, **changes
    )
