"""Traces on disk: what a call was traced, optimized and compiled to, for processes that make the same call.

The name of the file is a hash of a text that describes all that a trace depends on: the arguments' key and signature,
the options, and the *fingerprint* (`autograph.conversion.fingerprint`), which are the function, what it calls, and the
globals that they name. A trace is kept only if such a text describes it: numbers, strings, classes and functions of
Python's and NumPy's, functions of the user's by their text. A function that refers to anything else is traced by each
process.

The file is a pickle. Objects that belong to the process are in it by number: the user's functions and their globals,
and the code objects that nodes come from. Of this library's classes only those are in it that are made for that; what
cannot be in it (an array that the graph knows, an object of the user's) keeps all from being kept.
"""

from __future__ import annotations

import builtins
import copyreg
import importlib
import io
import math
import pickle
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from autograph.common import disk_cache
from autograph.common.code_marks import UNBOUND, Unbound
from autograph.common.statics import is_a, module_of
from autograph.common.trace_rules import wants_full_tracebacks
from autograph.errors import EngineError
from autograph.runtime import ops
from autograph.runtime.dispatch.options import ENGINES, Options
from autograph.runtime.dispatch.trace_cache import Trace
from autograph.runtime.dispatch.trace_entry import broken
from autograph.runtime.engines.numpy.engine import Outer
from autograph.runtime.engines.numpy.fast_paths import is_kept, kept
from autograph.runtime.graph.graph import Block, Constant, Graph, Node, checks_graphs, map_args, walk
from autograph.runtime.graph.opdef import op_of
from autograph.runtime.graph.signature import Dynamic, Event, Guard, Static, Traced
from autograph.runtime.graph.traits import KEEPS

_BUILTINS = frozenset(
    """abs all any bool complex dict divmod enumerate filter float int isinstance len list map max min pow print range
    repr reversed round slice sorted str sum tuple zip""".split()
)
_MODULES = {module.__name__: module for module in (np, np.linalg, np.fft, math)}
_SHARED = re.compile(r"\w*|[\x00-\xff]", re.ASCII)   # texts of which Python has only one
_OPS = f"{ops.__name__}."
_RUNTIME = _OPS.removesuffix("ops.")
_DEEP = 10  # tuples in each other
_NATIVE = "?bhilqBHILQefdFD"    # dtypes that their letters describe
_UNREADABLE = (pickle.UnpicklingError, ArithmeticError, AttributeError, EOFError, ImportError, LookupError, MemoryError,
               RecursionError, TypeError, ValueError)  # fmt: skip


class NotPersistent(Exception):
    """Something is not to be kept, as no text describes it."""


@dataclass(frozen=True)
class Fingerprint:
    """All that the trace of a function depends on besides the arguments.

    Attributes:
        text: describes it.
        functions: it, and those of the user's that it may call.
        codes: theirs, and what they are converted to, each with the code objects in it.
    """

    text: str
    functions: list[FunctionType]
    codes: list[CodeType]


# As text --------------------------------------------------------------------------------------------------------------


def described(value: Any, depth: int = 0) -> str:
    """A key of a value that is the same in all processes; `depth`: in how many tuples it is.

    Raises:
        NotPersistent: nothing does.
    """
    kind = type(value)
    if kind is int:
        return hex(value)
    if kind in (bool, str, bytes, type(None), type(...)):
        return repr(value)
    if kind is float:
        return str(value.hex())
    if kind is complex:
        return f"complex({value.real.hex()}, {value.imag.hex()})"
    if kind is tuple and depth < _DEEP:
        return f"({', '.join([described(part, depth + 1) for part in value])})"
    if is_a(value, np.dtype) and value.char in _NATIVE and value.isnative and not value.metadata:
        return f"dtype {value.char}"
    if is_a(value, (np.number, np.bool_)):
        return f"{described(value.dtype)} {value.tobytes()!r}"
    if is_a(value, type):
        return _class(value)
    if str(module_of(kind)).partition(".")[0] in ("builtins", "numpy") and callable(value):
        return f"op {_op(value)}"
    raise NotPersistent


def _class(value: type) -> str:
    if value is type(None) or value is Static:      # of which keys are made
        return f"class {value.__name__}"
    found = vars(_MODULES.get(str(module_of(value))) or sys.modules["builtins"]).get(value.__name__)
    known = issubclass(value, (np.generic, np.ndarray, np.dtype, BaseException)) or value.__name__ in _BUILTINS
    if found is not value or not known:
        raise NotPersistent
    return f"class {value.__module__}.{value.__name__}"


def _op(function: Any) -> str:
    """The op that a function is; of Python's builtins, if it gives the same in all processes."""
    name: str | None = op_of(function)
    is_builtin = getattr(function, "__module__", None) == "builtins"
    if name is None or (is_builtin and function.__name__ not in _BUILTINS):
        raise NotPersistent
    return name


def module_of_ops(value: ModuleType) -> str:
    """The name of a module of which all that matters is what is asked of it."""
    name = next((name for name, module in _MODULES.items() if module is value), None)
    if name is None:
        raise NotPersistent
    return name


# As pickles -----------------------------------------------------------------------------------------------------------


class TraceFile:
    """Where a trace is on disk, or is to be."""

    def __init__(self, key: str, around: Fingerprint, begin: float) -> None:
        """
        Args:
            begin: when the search for it began.
        """
        self._key = key
        self._around = around
        self._begin = begin

    def recall(self, trace: Trace, named: Mapping[str, Any]) -> Traced | None:
        """Let a trace be what is there, if there is something that fits these arguments, see `trace_entry.broken`."""
        data = disk_cache.load(self._key, disk_cache.TRACE)
        if data is None:
            return None
        try:
            made = _Unpickler(io.BytesIO(data), self._around).load_all()
        except _UNREADABLE:     # of a file that is undamaged; so it is none that this one would write
            return None
        (graph, containers, executable, trace.engine), guards, events = made
        if broken(guards, named) is not None:
            return None
        trace.graph, trace.executable, trace.guards, trace.events = graph, executable, guards, events
        trace.seconds = {"from disk": time.perf_counter() - self._begin}
        return Traced(graph, guards, containers, events)

    def save(self, trace: Trace, containers: tuple[str, ...]) -> None:
        """Keep a trace, if it can be kept."""
        trace.keep = lambda: None
        file = io.BytesIO()
        try:
            _Pickler(file, self._around).dump_all(trace, containers)
        except (NotPersistent, pickle.PicklingError, TypeError, AttributeError, ValueError, RuntimeError):
            return          # RuntimeError: it is too deep, or another thread makes more of it meanwhile
        disk_cache.save(self._key, file.getvalue(), disk_cache.TRACE)


def place_of_trace(
    trace: Trace, function: Any, options: Options, fingerprint: Callable[[Any], Fingerprint | None]
) -> TraceFile | None:
    """Where the trace of a function is on disk, or is to be; None if it is not to be kept."""
    if disk_cache.folder() is None or wants_full_tracebacks() or checks_graphs() or options.engine not in ENGINES:
        return None
    if _is_watched():
        return None
    begin = time.perf_counter()
    try:
        described = [*_described(trace), _options_text(options)]
        around = fingerprint(function)
    except (NotPersistent, EngineError, ImportError, OSError):
        return None
    return None if around is None else TraceFile(disk_cache.key_of("trace", around.text, *described), around, begin)


def _is_watched() -> bool:
    """Whether coverage, a debugger or a profiler follows the lines or calls that run.

    They follow what tracing runs, too, so they must see the same whether or not a trace is on disk.
    """
    monitoring = getattr(sys, "monitoring", None)  # since Python 3.12
    if monitoring is not None and any(monitoring.get_tool(number) for number in range(6)):
        return True
    follow = sys.gettrace, sys.getprofile, threading.gettrace, threading.getprofile
    return any(get() is not None for get in follow)


def _described(trace: Trace) -> list[str]:
    """The arguments that a trace is for."""
    signature = trace.signature
    leaves = [
        f"{leaf.type} {described(leaf.cls)}" if isinstance(leaf, Dynamic) else described(leaf.value)
        for leaf in signature.leaves
    ]
    lengths = [described((path, *each)) for path, each in trace.lengths.items()]
    return [described(trace.key), described(trace.sharing), *lengths, repr((leaves, signature.paths, signature.same))]


def _options_text(options: Options) -> str:
    setting: Callable[[], Any] = getattr(importlib.import_module(ENGINES[options.engine]), "setting", tuple)
    switched = sorted(options.strict), sorted(options.without)
    engine = options.engine, options.chosen, options.fastmath, setting()
    return repr((*engine, options.static_argnames, switched, options.trace_packages))


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, around: Fingerprint) -> None:
        super().__init__(file, 5)
        self._globals = {id(function.__globals__): number for number, function in enumerate(around.functions)}
        self._functions = {id(function): number for number, function in enumerate(around.functions)}
        self._things: dict[int, Any] = {id(each): each for f in around.functions for each in (f, f.__globals__)}
        self._things |= {id(vars(module)): vars(module) for module in _MODULES.values()}
        self._codes = {id(code): number for number, code in enumerate(around.codes)}
        self._usual: set[type] = set()      # that are pickled as ever
        self._rules: dict[type, Callable[[Any], Any]] = {
            CodeType: lambda code: self._numbered("code", self._codes, code),
            Outer: self._outer,
            FunctionType: self._function,
            Node: _node,
            Constant: self._constant,
            Graph: lambda graph: (Graph, (graph.name, graph.block)),
            BuiltinFunctionType: _builtin,
            MethodType: lambda method: (_method, (method.__self__, method.__name__)),
            np.ndarray: _number,
        }

    def dump_all(self, trace: Trace, containers: tuple[str, ...]) -> None:
        if trace.graph is not None and _gives_texts(trace.graph.block):
            raise NotPersistent
        guards = [
            (guard.expression, _outer(guard.names), guard.reason, self._late(guard.late)) for guard in trace.guards
        ]
        made = trace.graph, containers, trace.executable, trace.engine
        self.dump((made, guards, [(event.kind, event.message, event.place) for event in trace.events]))

    def _late(self, late: Any) -> Any:
        """The key of a guard, see `sources.Source.key`, with the object itself in place of its id."""
        if late is None:
            return None
        op, first, *rest = late
        if isinstance(first, tuple):
            return op, self._late(first), *rest
        found = self._things.get(first)
        if found is None:
            raise NotPersistent
        return op, Outer(found) if type(found) is dict else found, *rest

    def reducer_override(self, thing: Any) -> Any:
        kind = type(thing)
        if kind in self._usual:
            return NotImplemented
        rule = self._rules.get(kind)
        if rule is not None:
            return rule(thing)
        if kind in _PLAIN or _name_of(kind) in disk_cache.STORABLE:
            self._usual.add(kind)
            return NotImplemented
        if is_a(thing, np.dtype):
            return described(thing) and (_dtype, (thing.char,))
        if is_a(thing, ModuleType):
            return _module, (module_of_ops(thing),)
        if is_a(thing, (np.number, np.bool_)):
            return described(thing) and (_scalar, (thing.dtype.char, thing.tobytes()))
        if is_a(thing, type) and thing in _NAMELESS:
            return _kind_of, (_NAMELESS[thing],)
        if is_a(thing, type) or str(module_of(kind)).partition(".")[0] == "numpy":
            return _by_name(thing)
        raise NotPersistent

    def _outer(self, outer: Outer) -> Any:
        name = next((name for name, module in _MODULES.items() if vars(module) is outer.names), None)
        return self._numbered("names", self._globals, outer.names) if name is None else (_names, (name,))

    def _function(self, function: FunctionType) -> Any:
        if id(function) not in self._functions:
            return _by_name(function)
        return self._numbered("function", self._functions, function)

    def _constant(self, constant: Constant) -> Any:
        if isinstance(constant.value, (list, dict, set, bytearray)):
            raise NotPersistent
        return Constant, (constant.value,)

    @staticmethod
    def _numbered(what: str, numbers: dict[int, int], thing: Any) -> Any:
        if id(thing) not in numbers:
            raise NotPersistent
        return _numbered, (what, numbers[id(thing)])


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, around: Fingerprint) -> None:
        super().__init__(file)
        self._around = around

    def find_class(self, module: str, name: str) -> Any:
        """Resolve the names that the pickler writes, and no others, whatever the file has."""
        if module == __name__ and name == "_numbered":
            return self._find
        if f"{module}.{name}" in _HERE:
            return _HERE[f"{module}.{name}"]
        if module.startswith(_RUNTIME):
            importlib.import_module(module)     # which declares what is storable
        if f"{module}.{name}" in disk_cache.STORABLE:
            return super().find_class(module, name)
        return _known(module, name)

    def _find(self, what: str, number: int) -> Any:
        if what == "code":
            return self._around.codes[number]
        function = self._around.functions[number]
        return function if what == "function" else function.__globals__

    def load_all(self) -> tuple[Any, list[Guard], list[Event]]:
        made, guards, events = self.load()
        checked = [Guard(expression, names, reason, _late(late)) for expression, names, reason, late in guards]
        return made, checked, [Event(*event) for event in events]


def _gives_texts(block: Block) -> bool:
    """Whether a block gives back texts, of which one may ask whether they are the program's own; read anew, none is."""
    kept: list[Any] = [block.results]
    for node in walk(block):
        kept += [inner.results for inner in node.blocks]
        if node.op in KEEPS or node.op in ("build", "call"):
            kept += [node.args, node.kwargs]
    found: list[Any] = []
    map_args(found.append, kept)
    return any(type(leaf) is str and _SHARED.fullmatch(leaf) is None for leaf in found)


def _late(late: Any) -> Any:
    """The key of a guard, with ids of objects again."""
    if late is None:
        return None
    op, first, *rest = late
    return op, _late(first) if isinstance(first, tuple) else id(first), *rest


_PLAIN = frozenset({range, complex, slice, np.ufunc, Unbound})


_NAMELESS: dict[Any, Any] = {type(value): value for value in (None, ..., NotImplemented)}


def _name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _by_name(thing: Any) -> Any:
    """Let a function or class be found by its name, if the unpickler will."""
    module, name = str(thing.__module__), thing.__qualname__
    try:
        is_named = f"{module}.{name}" in _HERE or f"{module}.{name}" in disk_cache.STORABLE
        if not is_named and _known(module, name) is not thing:
            raise NotPersistent
    except pickle.UnpicklingError as error:
        raise NotPersistent from error
    return NotImplemented


def _known(module: str, name: str) -> Any:
    """A function or class of Python's or NumPy's, or an op of this library, of which no call does more than compute.

    Raises:
        pickle.UnpicklingError: it is none of those.
    """
    home = importlib.import_module(module) if module.startswith(_OPS) else _MODULES.get(module, builtins)
    found = vars(home).get(name)
    if module == builtins.__name__:
        is_known = name in _BUILTINS or (isinstance(found, type) and issubclass(found, BaseException))
    else:
        is_known = home is not builtins and (_is_numpys(found) or (callable(found) and op_of(found) is not None))
    if not is_known:
        raise pickle.UnpicklingError(f"{module}.{name} is not among what traces are made of")
    return found


def _is_numpys(thing: Any) -> bool:
    if not isinstance(thing, type):
        return isinstance(thing, np.ufunc)
    return thing in (np.ndarray, np.dtype) or issubclass(thing, (np.generic, BaseException))   # `np.memmap` makes files


def _builtin(function: Any) -> Any:
    if not isinstance(function.__self__, ModuleType):       # a method of some object
        raise NotPersistent
    return _by_name(function)


def _method(owner: Any, name: str) -> Any:
    """A method of an object of this library's."""
    if _name_of(type(owner)) not in disk_cache.STORABLE:
        raise pickle.UnpicklingError(f"{name} is not a method of what traces are made of")
    return MethodType(vars(type(owner))[name], owner)


def _kind_of(value: Any) -> type:
    """A class without a name."""
    if type(value) not in _NAMELESS:
        raise pickle.UnpicklingError(f"{type(value)} is not among what traces are made of")
    return type(value)


def _dtype(char: str) -> np.dtype[Any]:
    if char not in _NATIVE:
        raise pickle.UnpicklingError(f"{char} is not a dtype of what traces are made of")
    return np.dtype(char)


def _scalar(char: str, data: bytes) -> Any:
    return np.frombuffer(data, _dtype(char))[0]


def _number(array: Any) -> Any:
    if not is_kept(array):
        raise NotPersistent
    return kept, (array[()],)


def _node(node: Node) -> Any:
    slots = {
        "op": node.op, "args": node.args, "kwargs": node.kwargs, "blocks": node.blocks, "place": node.place,
        "outputs": node.outputs, "own": node.own, "effect": None,
    }  # fmt: skip
    return vars(copyreg)["__newobj__"], (Node,), (None, slots)


def _numbered(what: str, number: int) -> Any:
    """Objects that the unpickler replaces by its own."""
    raise NotImplementedError


def _outer(names: dict[str, Any]) -> dict[str, Any]:
    return {name: Outer(value) if type(value) is dict else value for name, value in names.items()}


def _module(name: str) -> ModuleType:
    return _MODULES[name]


def _names(module: str) -> dict[str, Any]:
    return vars(_MODULES[module])


# The names in the rules of the pickler.
_HERE: dict[str, Any] = {
    f"{thing.__module__}.{thing.__qualname__}": thing
    for thing in (Graph, Node, Constant, _dtype, _kind_of, _method, _module, _names, _numbered, _scalar)
} | {f"{Unbound.__module__}.UNBOUND": UNBOUND}
