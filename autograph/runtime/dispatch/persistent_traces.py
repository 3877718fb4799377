"""The persistent trace cache: traces on disk, for processes that make the same call.

The name of the file is a hash of a text that describes all that a trace depends on: the arguments' key and signature,
the options, and the *fingerprint* (`autograph.conversion.fingerprint`), which are the function, what it calls, and the
globals that they name. A trace is kept only if such a text describes it: numbers, strings, classes and functions of
Python's and NumPy's, functions of the user's by their text. Each process traces a function that refers to anything else
by itself, and `explain` gives the reason.

The file is a pickle. Objects that belong to the process are in it by number: the user's functions and their globals,
and the code objects that nodes come from. Of this library's classes, only those that are declared `storable` are in it.
A trace that refers to any other object, such as an array, is not saved.
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
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from autograph.common import disk_cache
from autograph.common.code_marks import Unbound, front_of
from autograph.common.defects import log
from autograph.common.statics import is_a, module_name, module_of, own_attribute
from autograph.common.trace_rules import is_own_class, wants_full_tracebacks
from autograph.errors import EngineError
from autograph.runtime import ops
from autograph.runtime.dispatch.options import ENGINES, Options, can_compile
from autograph.runtime.dispatch.trace_cache import Trace
from autograph.runtime.dispatch.trace_entry import broken, with_own_constants
from autograph.runtime.engines.numpy.engine import Outer
from autograph.runtime.engines.numpy.fast_paths import is_kept, kept
from autograph.runtime.graph.callables import place_of
from autograph.runtime.graph.graph import Block, Constant, Graph, Node, checks_graphs, map_args, user_line, walk
from autograph.runtime.graph.opdef import op_of
from autograph.runtime.graph.signature import Dynamic, Event, Guard, Leaf, Static, Traced, Where
from autograph.runtime.graph.traits import KEEPS, MAKES_OBJECTS

_BUILTINS = frozenset(
    """abs all any bool complex dict divmod enumerate filter float int isinstance len list map max min pow print range
    repr reversed round slice sorted str sum tuple zip""".split()
)
_MODULES = {module.__name__: module for module in (np, np.linalg, np.fft, math)}
_SHARED = re.compile(r"\w*|[\x00-\xff]", re.ASCII)   # texts of which Python has only one
_OPS = f"{ops.__name__}."
_RUNTIME = _OPS.removesuffix("ops.")
_DEEP = 10  # tuples in each other
_DTYPES = {char: np.dtype(char) for char in "?bhilqBHILQefdFD"}     # dtypes that their letters describe
_UNREADABLE = (pickle.UnpicklingError, ArithmeticError, AttributeError, EOFError, ImportError, LookupError, MemoryError,
               RecursionError, TypeError, ValueError)  # fmt: skip


class NotPersistent(Exception):
    """A trace is not kept on disk, because no text describes something that it depends on.

    Args:
        reason: in words; of a value, "is an object of type list".
        place: finds the user's file and line; called only if `explain` asks.
        thing: an object in the graph; `explain` looks for its name and line.
    """

    def __init__(self, reason: str, place: Callable[[], Where | None] = lambda: None, thing: Any = None) -> None:
        super().__init__(reason)
        self.place = place
        self.thing = thing


@dataclass(frozen=True)
class Unsaved:
    """The reason why a trace is not on disk. (An exception would keep the arguments of the call alive.)"""

    reason: str
    place: Callable[[], Where | None] = lambda: None


@dataclass(frozen=True)
class Fingerprint:
    """All that the trace of a function depends on besides the arguments.

    Attributes:
        text: the description.
        functions: it, and those of the user's that it may call.
        codes: their code and its conversions, each with the code objects in it.
    """

    text: str
    functions: list[FunctionType]
    codes: list[CodeType]


# As text --------------------------------------------------------------------------------------------------------------


def described(value: Any, depth: int = 0) -> str:
    """A key of a value that is the same in all processes; `depth`: in how many tuples it is.

    Raises:
        NotPersistent: there is no such key.
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
    if is_a(value, np.dtype) and value.char in _DTYPES and value.isnative and not value.metadata:
        return f"dtype {value.char}"
    if is_a(value, (np.number, np.bool_)):
        return f"{described(value.dtype)} {value.tobytes()!r}"
    if is_a(value, type):
        return _class(value, depth)
    if str(module_of(kind)).partition(".")[0] in ("builtins", "numpy") and callable(value):
        return f"op {_op(value, depth)}"
    raise _refused(value, depth)


def _refused(value: Any, depth: int = 0) -> NotPersistent:
    """The error for a value that no text describes."""
    return NotPersistent(f"{'contains' if depth else 'is'} {name_of_thing(value)}", thing=value)


def name_of_thing(value: Any) -> str:
    """A value in the words of a user: "the function hash", "an object of type numpy.ndarray"."""
    if is_a(value, ModuleType):
        return f"the module {module_name(value)}"
    if is_a(value, type):
        return f"the class {_full_name(value)}"
    if is_a(value, (FunctionType, BuiltinFunctionType)):
        return f"the function {_full_name(value)}"
    return f"an object of type {_full_name(type(value))}"


def _full_name(named: Any) -> str:
    module = own_attribute(named, "__module__") or "builtins"
    return f"{str(module).partition('.')[0]}.{named.__qualname__}".removeprefix("builtins.")


def _class(value: type, depth: int = 0) -> str:
    if value is type(None) or value is Static:      # of which keys are made
        return f"class {value.__name__}"
    found = vars(_MODULES.get(str(module_of(value))) or sys.modules["builtins"]).get(value.__name__)
    is_known = issubclass(value, (np.generic, np.ndarray, np.dtype, BaseException)) or value.__name__ in _BUILTINS
    if found is not value or not is_known:
        raise _refused(value, depth)
    return f"class {value.__module__}.{value.__name__}"


def _op(function: Any, depth: int) -> str:
    """The op that a function is; of Python's builtins, if it gives the same in all processes."""
    name: str | None = op_of(function)
    is_builtin = getattr(function, "__module__", None) == "builtins"
    if name is None or (is_builtin and function.__name__ not in _BUILTINS):
        raise _refused(function, depth)
    return name


def module_of_ops(value: ModuleType) -> str:
    """The name of a module on whose attributes, as far as the code names them, a trace depends."""
    name = next((name for name, module in _MODULES.items() if module is value), None)
    if name is None:
        raise _refused(value)
    return name


# As pickles -----------------------------------------------------------------------------------------------------------


@dataclass
class TraceFile:
    """The file of a trace, which may not be there yet.

    Attributes:
        begin: when the search for it began.
        containers: see `Traced`.
    """

    key: str
    around: Fingerprint
    begin: float
    containers: tuple[str, ...] = ()

    def recall(self, trace: Trace, named: Mapping[str, Any]) -> Traced | None:
        """Fill a trace from the file, if there is one whose guards hold for these arguments, see `broken`."""
        data = disk_cache.load(self.key, disk_cache.TRACE)
        if data is None:
            return None
        try:
            made = _Unpickler(io.BytesIO(data), self.around).load_all()
        except _UNREADABLE as error:    # of a file that is undamaged; so it is none that this one would write
            name = name_of_thing(self.around.functions[0])
            log(f"a trace of {name} on disk cannot be read ({error!r}), and is made anew")
            return None
        (graph, containers, executable, trace.engine), guards, events = made
        if broken(guards, named) is not None:
            return None
        guards = with_own_constants(guards, named)
        trace.graph, trace.executable, trace.guards, trace.events = graph, executable, guards, events
        trace.seconds = {"from disk": time.perf_counter() - self.begin}
        return Traced(graph, guards, containers, events)

    def pickled(self, trace: Trace) -> bytes:
        """The contents of the file.

        Raises:
            NotPersistent: the trace refers to something of this process only.
        """
        file = io.BytesIO()
        try:
            _Pickler(file, self.around).dump_all(trace, self.containers)
        except (pickle.PicklingError, TypeError, AttributeError, ValueError, RuntimeError) as error:
            # RuntimeError: it is too deep, or another thread changes it meanwhile
            raise NotPersistent(f"the trace cannot be pickled: {error}") from None
        return file.getvalue()

    def save(self, trace: Trace) -> Unsaved | None:
        """Save a trace; gives the reason if that cannot be done."""
        try:
            problem = disk_cache.save(self.key, self.pickled(trace), disk_cache.TRACE)
        except NotPersistent as refused:
            return _unsaved(refused, trace)
        return Unsaved(problem) if problem else None


def file_of_trace(
    trace: Trace, function: Any, options: Options, fingerprint: Callable[[Any], Fingerprint], widened: str
) -> TraceFile | Unsaved | None:
    """The file of a trace, or why it has none; None if the user has switched the files off."""
    if disk_cache.is_off() or wants_full_tracebacks() or checks_graphs():
        return None
    if widened:
        return Unsaved(widened)
    if options.engine not in ENGINES and not options.is_tiered:
        return Unsaved(f"engine={options.engine!r} decides in each process what becomes machine code")
    if _is_watched():
        return Unsaved("coverage, a debugger or a profiler follows the program")
    begin = time.perf_counter()
    try:
        described = [*_described(trace), _options_text(options)]
        around = fingerprint(function)
    except NotPersistent as refused:
        return Unsaved(str(refused), refused.place)
    except (EngineError, ImportError, OSError) as error:
        return Unsaved(str(error))
    return TraceFile(disk_cache.key_of("trace", around.text, *described), around, begin)


def _unsaved(refused: NotPersistent, trace: Trace) -> Unsaved:
    """The reason for `explain`, with the variable or line by which the trace refers to a thing."""
    thing = refused.thing
    for guard in trace.guards if thing is not None else ():
        if any(value is thing for value in guard.names.values()):
            return Unsaved(f"a guard refers to {name_of_thing(thing)}: {guard.reason}")
    place = refused.place
    for node in walk(trace.graph.block) if trace.graph is not None and thing is not None else ():
        found: list[Any] = []
        map_args(found.append, (node.args, node.kwargs))
        if any(leaf is thing or (isinstance(leaf, Constant) and leaf.value is thing) for leaf in found):
            return Unsaved(str(refused), partial(user_line, node.place))
    return Unsaved(str(refused), place)


def why_not_saved(trace: Trace, function: Any) -> list[Event]:
    """The event of `explain` for a trace of a function that is not kept on disk; none for one that is."""
    reason = trace.disk
    if isinstance(reason, TraceFile):       # it has not run yet
        try:
            reason.pickled(trace)
            return []
        except NotPersistent as refused:
            reason = _unsaved(refused, trace)
    return [Event("disk", reason.reason, reason.place() or place_of(function) or None)] if reason is not None else []


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
    leaves = [*map(_leaf, signature.paths, signature.leaves)]
    lengths = [described((path, *each)) for path, each in trace.lengths.items()]
    return [described(trace.key), described(trace.sharing), *lengths, repr((leaves, signature.paths, signature.same))]


def _leaf(path: str, leaf: Leaf) -> str:
    try:
        return f"{leaf.type} {described(leaf.cls)}" if isinstance(leaf, Dynamic) else described(leaf.value)
    except NotPersistent as refused:
        kind = f"is an object of type {_full_name(leaf.cls)}" if isinstance(leaf, Dynamic) else refused
        raise NotPersistent(f"the argument `{path}` {kind}") from None


def _options_text(options: Options) -> str:
    name = "native" if options.engine == "auto" and can_compile() else options.engine
    setting: Callable[[], Any] = getattr(importlib.import_module(ENGINES.get(name, ENGINES["numpy"])), "setting", tuple)
    switched = sorted(options.strict), sorted(options.without)
    engine = options.engine, name, options.chosen, options.fastmath, setting()
    return repr((*engine, options.static_argnames, switched, options.trace_packages))


Tables = dict[str, dict[Any, Any]]


def _tables(around: Fingerprint) -> Tables:
    """The objects of the process that a file names: by their kinds, and by numbers or names."""
    return {
        "code": dict(enumerate(around.codes)),
        "front": {number: front_of(function) for number, function in enumerate(around.functions)},
        "function": dict(enumerate(around.functions)),
        "globals": {number: function.__globals__ for number, function in enumerate(around.functions)},
        "module": _MODULES,
        "attributes": {name: vars(module) for name, module in _MODULES.items()},
        "class": {repr(value): type(value) for value in (None, ..., NotImplemented)},
    }


_CAPTURED = ("function", "front", "globals", "attributes")     # the kinds that guards read from


@disk_cache.storable
def _shared(kind: str, key: Any) -> Any:
    """An object in the tables; the unpickler calls its own function instead."""
    raise NotImplementedError


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, around: Fingerprint) -> None:
        super().__init__(file, 5)
        tables = _tables(around)
        self._keys = {id(thing): (kind, key) for kind, table in tables.items() for key, thing in table.items()}
        self._owners = {id(each): each for kind in _CAPTURED for each in tables[kind].values()}
        self._usual: set[type] = set()      # that are pickled as ever
        self._rules: dict[type, Callable[[Any], Any]] = {
            Outer: self._outer,
            FunctionType: _by_name,
            Node: _node,
            Constant: _constant,
            Graph: lambda graph: (Graph, (graph.name, graph.block)),
            BuiltinFunctionType: _builtin,
            MethodType: lambda method: (_method, (method.__self__, method.__name__)),
            np.ndarray: _number,
        }

    def dump_all(self, trace: Trace, containers: tuple[str, ...]) -> None:
        if trace.graph is not None:
            _check_texts(trace.graph.block)
        guards = [
            (guard.expression, _outer(guard.names), guard.reason, self._late(guard, guard.late))
            for guard in trace.guards
        ]
        made = trace.graph, containers, trace.executable, trace.engine
        self.dump((made, guards, trace.events))

    def _late(self, guard: Guard, late: Any) -> Any:
        """The key of a guard, see `sources.Source.key`, with the object itself in place of its id."""
        if late is None:
            return None
        op, first, *rest = late
        if isinstance(first, tuple):
            return op, self._late(guard, first), *rest
        found = self._owners.get(first)
        if found is None:
            raise NotPersistent(f"a guard looks at an object of this process only: {guard.reason}")
        return op, Outer(found) if type(found) is dict else found, *rest

    def reducer_override(self, thing: Any) -> Any:
        kind = type(thing)
        if kind in self._usual:
            return NotImplemented
        if id(thing) in self._keys:
            return _shared, self._keys[id(thing)]
        rule = self._rules.get(kind)
        if rule is not None:
            return rule(thing)
        if kind in _PLAIN or _name_of(kind) in disk_cache.STORABLE:
            self._usual.add(kind)
            return NotImplemented
        if is_a(thing, np.dtype):
            return _checked(thing) and (_dtype, (thing.char,))
        if is_a(thing, (np.number, np.bool_)):
            return _checked(thing) and (_scalar, (thing.dtype.char, thing.tobytes()))
        if is_a(thing, type) or str(module_of(kind)).partition(".")[0] == "numpy":
            return _by_name(thing)
        raise _foreign(thing)

    def _outer(self, outer: Outer) -> Any:
        if id(outer.names) not in self._keys:
            module = outer.names.get("__name__")
            raise NotPersistent(f"the graph refers to the globals of `{module}`, which the function does not name")
        return _shared, self._keys[id(outer.names)]


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, around: Fingerprint) -> None:
        super().__init__(file)
        self._tables = _tables(around)

    def find_class(self, module: str, name: str) -> Any:
        """Resolve the names that the pickler writes, and refuse all others."""
        if module == __name__ and name == "_shared":
            return lambda kind, key: self._tables[kind][key]
        if module.startswith(_RUNTIME):
            importlib.import_module(module)     # which declares what is storable
        if f"{module}.{name}" in disk_cache.STORABLE:
            return super().find_class(module, name)
        return _known(module, name)

    def load_all(self) -> tuple[Any, list[Guard], list[Event]]:
        made, guards, events = self.load()
        checked = [Guard(expression, names, reason, _late(late)) for expression, names, reason, late in guards]
        return made, checked, events


def _foreign(thing: Any) -> NotPersistent:
    """The error for an object that cannot be in a file."""
    if is_own_class(type(thing)):
        return NotPersistent("each process makes the machine code for its operations on arrays by itself")
    return NotPersistent(f"the graph refers to {name_of_thing(thing)}", thing=thing)


def _checked(thing: Any) -> str:
    try:
        return described(thing)
    except NotPersistent:
        raise _foreign(thing) from None


def _check_texts(block: Block) -> None:
    """Refuse texts that a block returns or stores: a program may ask whether one is its own object; none in a file is.

    Raises:
        NotPersistent: there is one.
    """
    kept: list[tuple[Node | None, Any]] = [(None, block.results)]
    for node in walk(block):
        kept += [(node, inner.results) for inner in node.blocks]
        if node.op in KEEPS or node.op in ("build", "call") or node.op in MAKES_OBJECTS:
            kept.append((node, (node.args, node.kwargs)))
    for holder, args in kept:
        found: list[Any] = []
        map_args(found.append, args)
        for leaf in found:
            if type(leaf) is str and _SHARED.fullmatch(leaf) is None:
                place = partial(user_line, holder.place if holder is not None else ())
                reason = f"the function returns, stores or passes on the text {leaf!r:.60}, which a file would copy"
                raise NotPersistent(reason, place)


def _late(late: Any) -> Any:
    """The key of a guard, with ids of objects again."""
    if late is None:
        return None
    op, first, *rest = late
    return op, _late(first) if isinstance(first, tuple) else id(first), *rest


_PLAIN = frozenset({range, complex, slice, np.ufunc, Unbound})


def _name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _by_name(thing: Any) -> Any:
    """Let a function or class be found by its name, if the unpickler will."""
    module, name = str(thing.__module__), thing.__qualname__
    try:
        if f"{module}.{name}" not in disk_cache.STORABLE and _known(module, name) is not thing:
            raise _foreign(thing)
    except pickle.UnpicklingError:
        raise _foreign(thing) from None
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
        is_known = home is not builtins and (_is_of_numpy(found) or (callable(found) and op_of(found) is not None))
    if not is_known:
        raise pickle.UnpicklingError(f"{module}.{name} is not among what traces are made of")
    return found


def _is_of_numpy(thing: Any) -> bool:
    if not isinstance(thing, type):
        return isinstance(thing, np.ufunc)
    return thing in (np.ndarray, np.dtype) or issubclass(thing, (np.generic, BaseException))   # `np.memmap` makes files


def _builtin(function: Any) -> Any:
    if not isinstance(function.__self__, ModuleType):       # a method of some object
        raise _foreign(function)
    return _by_name(function)


def _constant(constant: Constant) -> Any:
    if isinstance(constant.value, (list, dict, set, bytearray)):
        raise _foreign(constant.value)
    return Constant, (constant.value,)


@disk_cache.storable
def _method(owner: Any, name: str) -> Any:
    """A method of an object of this library's."""
    if _name_of(type(owner)) not in disk_cache.STORABLE:
        raise pickle.UnpicklingError(f"{name} is not a method of what traces are made of")
    return MethodType(vars(type(owner))[name], owner)


@disk_cache.storable
def _dtype(char: str) -> np.dtype[Any]:
    return _DTYPES[char]


@disk_cache.storable
def _scalar(char: str, data: bytes) -> Any:
    return np.frombuffer(data, _DTYPES[char])[0]


def _number(array: Any) -> Any:
    if not is_kept(array):
        raise _foreign(array)
    return kept, (array[()],)


def _node(node: Node) -> Any:
    slots = {
        "op": node.op, "args": node.args, "kwargs": node.kwargs, "blocks": node.blocks, "place": node.place,
        "outputs": node.outputs, "own": node.own, "effect": None,
    }  # fmt: skip
    return vars(copyreg)["__newobj__"], (Node,), (None, slots)


def _outer(names: dict[str, Any]) -> dict[str, Any]:
    return {name: Outer(value) if type(value) is dict else value for name, value in names.items()}


for _kind in (Graph, Node, Constant):
    disk_cache.storable(_kind)
disk_cache.STORABLE.add(f"{Unbound.__module__}.UNBOUND")
