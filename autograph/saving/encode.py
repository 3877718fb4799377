"""From objects and graphs to records of JSON, and arrays.

    arg      ::=  null | true | false | integer | float | text          as in JSON; floats have a point or an exponent
               |  {"value": number}        a value of the graph          {"leaf": number}    a leaf of the arguments
               |  {"literal": text}        as `graph_text.notation` writes it: `f32(0.5)`, `dtype(f64)`, `b'x'`, `nan`
               |  {"name": text}           a function or class, see `vocabulary`
               |  {"object": number}       an object of the table         {"itself": number}  the same, by reference
               |  {"tuple": [arg, …]}   |  {"list": [arg, …]}
               |  {"dict": [[arg, arg], …]}  |  {"slice": [arg, arg, arg]}  |  {"frozenset": [arg, …]}
               |  {"scalar": [dtype, bytes in hexadecimal digits]}      a number or time of NumPy without a literal
               |  {"namedtuple": number of the class, "parts": [arg, …]}

An object that occurs several times is one object of the table, so that it is one after loading, too.
"""

from __future__ import annotations

import collections
import math
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

import numpy as np

from autograph.common.statics import ATOMS, is_a, own_attribute
from autograph.errors import LoadError, SaveError
from autograph.modules import Module
from autograph.runtime.dispatch.concrete_function import ConcreteFunction
from autograph.runtime.dispatch.function import BoundFunction, Function, staged_function
from autograph.runtime.engines.numpy.line_table import Places, pieces_of
from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Place, Value, map_args, user_line, walk
from autograph.runtime.graph.recursion import Itself
from autograph.runtime.graph_text import notation
from autograph.runtime.tracing.materialize import make_function
from autograph.runtime.tracing.proxies.source_location import Handling
from autograph.saving import vocabulary
from autograph.saving.arrays import KINDS, array_record, overlapping
from autograph.variables import Variable

Record = dict[str, Any]
_LARGEST = 2**53        # beyond it, many programs take an integer for a float
_LONG = 2**31           # characters
READS = {"getattr", "getitem"}
_WRITES = {"setattr", "setitem", "delitem"}
_BY_REFERENCE = READS | _WRITES | {"is", "if", "while"}    # operations that do not look at the class of an object


class Encoder:
    """Makes the records of objects, each once, and of what these refer to.

    Args:
        allowed: names `module:qualname` of functions and classes that may be called by name.
        function_record: makes the record of a staged function.

    Attributes:
        records: of the objects, by number.
        arrays: by the names that the records have for them.
        codes, places: the user's functions and places that nodes come from.
        callbacks: the names of the allowed functions and classes that occur.
        later: the rest of the work, for when all graphs have their records.
        root: the object to save.
        function: file and line of the function that is being saved, for errors about no node of it.
    """

    def __init__(self, allowed: Collection[str], function_record: Callable[[Encoder, Any], Record]) -> None:
        self.records: list[Record] = []
        self.arrays: dict[str, np.ndarray[Any, Any]] = {}
        self.codes: list[list[Any]] = []
        self.places: list[Any] = []
        self.callbacks: dict[str, None] = {}
        self.later: list[Callable[[], None]] = []
        self._allowed = frozenset(allowed)
        self._function_record = function_record
        self._things: list[Any] = []        # the objects, by number
        self._numbers: dict[Any, int] = {}  # by identity
        self._needed: dict[int, dict[str, None]] = {}    # of objects, by identity: attributes and keys
        self._about: dict[int, Any] = {}    # where objects are used, by number: for errors
        self._from: dict[int, Any] = {}     # and the functions that refer to them first
        self._frames: dict[Any, int] = {}
        self._placed: dict[Place, int] = {}
        self._read = Places()
        self.root: Any = None
        self.function: tuple[str, int] | tuple[()] = ()

    # Objects ----------------------------------------------------------------------------------------------------------

    def number(self, thing: Any, about: Any = None) -> int:
        """The number of an object in the table.

        Args:
            about: the node that refers to it, or the name of the attribute or argument that does; for errors.
        """
        key = id(thing) if type(thing) is not BoundFunction else (id(thing.__func__), id(thing.__self__))
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._things)
            self._things.append(thing)
            self._about[found], self._from[found] = about, self.function
        return found

    def run(self) -> None:
        """Make the records of all objects that have a number.

        Raises:
            SaveError: one cannot be saved; says where it is used.
        """
        known: dict[int, int] = {}      # of objects that have a record: how much graphs needed of them
        while True:
            self._make_functions()
            needed = [len(self._needed.get(id(thing), ())) for thing in self._things]
            stale = [number for number, count in enumerate(needed) if known.get(number) != count]
            if not stale:
                break
            for number in stale:    # a graph may need more of an object that has a record already
                self.function = self._from[number]
                known[number] = needed[number]
                if not is_function(self._things[number]):
                    self.records[number] = self.record(self._things[number], self._about[number])
        for first, second in overlapping([thing for thing in self._things if type(thing) is np.ndarray]):
            both = f"shapes {first.shape} and {second.shape}"
            raise SaveError(
                f"two arrays of {both} share memory, which a saved copy of each would not: save a copy of one of them"
            )

    def _make_functions(self) -> None:
        """Make the records of new functions, whose graphs say what is needed of other objects; blank ones of these."""
        while len(self.records) < len(self._things) or self.later:
            if len(self.records) < len(self._things):
                thing = self._things[len(self.records)]
                self.records.append({})
                if is_function(thing):
                    self.records[self.number(thing)] = self._function_record(self, thing)
            else:       # guards, once all is known that graphs refer to
                later, self.later = self.later, []
                for finish in later:
                    finish()

    def record(self, thing: Any, about: Any) -> Record:
        """The record of an object that is no staged function.

        Raises:
            SaveError: it cannot be saved.
        """
        kind = type(thing)
        if kind is np.ndarray:
            name = f"array{self.number(thing)}"
            return array_record(thing, name, self.arrays, lambda reason: self.refused(reason, about))
        if issubclass(kind, Variable):
            attributes = {"array": self.number(thing.value, about), "trainable": thing.trainable, "name": thing.name}
            return {"kind": "variable", **attributes}
        if kind is list:
            return {"kind": "list", "items": [self.arg(part, about) for part in thing]}
        if kind is set:
            return {"kind": "set", "items": [self.arg(part, about) for part in thing]}
        if kind is dict:
            return {"kind": "dict", "items": list(self._items(thing, about))}
        if kind is collections.OrderedDict:
            return {"kind": "ordered dict", "items": list(self._items(thing, about))}
        if kind is collections.defaultdict:
            factory = self.arg(thing.default_factory, about)
            return {"kind": "default dict", "factory": factory, "items": list(self._items(thing, about))}
        if kind is tuple or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
            return {"kind": "tuple", "value": self.arg(thing, about)}
        if kind in (np.random.Generator, np.random.RandomState):
            return self._random(thing, about)
        if is_a(thing, Enum):
            return {"kind": "member", "class": self.number(kind, about), "name": thing.name}
        if is_a(thing, (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)) or callable(thing):
            if not issubclass(kind, Module):
                return self._named(thing, about)
        return self._instance(thing, about)

    def _items(self, thing: dict[Any, Any], about: Any) -> Iterator[list[Any]]:
        """The items of a dict; of the globals of a module, those that graphs need."""
        keys: Iterable[Any] = thing
        if "__name__" in thing and "__builtins__" in thing:
            keys = [name for name in self._needed.get(id(thing), {}) if name in thing]
        for key in keys:
            yield [self.arg(key, about), self.arg(thing[key], f"the global `{key}`" if keys is not thing else about)]

    def _random(self, thing: Any, about: Any) -> Record:
        state = thing.bit_generator.state if type(thing) is np.random.Generator else thing.get_state(legacy=False)
        return {"kind": "random", "class": type(thing).__name__, "state": self.arg(state, about)}

    def _named(self, thing: Any, about: Any) -> Record:
        """The record of a function or class that is called by name."""
        full = full_name(thing)
        is_tuple = is_a(thing, type) and thing.__bases__ == (tuple,) and hasattr(thing, "_fields")
        if is_tuple and full not in self._allowed:
            return {"kind": "namedtuple", "name": full, "fields": list(thing._fields)}
        if thing is make_function:
            raise self.refused("a function made here is kept or handed on, and a saved graph contains no code", about)
        if isinstance(thing, Itself):
            raise self.refused(
                f"{thing.__name__} calls itself as deep as its arguments say, which a saved graph cannot do. "
                "Name the arguments that determine the depth in static_argnames", about,
            )  # fmt: skip
        if not is_found(thing, full):
            raise self.refused(f"{_described(thing)} is neither data nor found by a name, and cannot be saved", about)
        if full not in self._allowed:
            raise self.refused(
                f"{_described(thing)} is Python code of its own, which a saved graph does not contain. Write the "
                f"function without it, or allow it both when saving and when loading: allow_callbacks=[{full!r}]",
                about,
            )
        self.callbacks[full] = None
        return {"kind": "callback", "name": full}

    def _instance(self, thing: Any, about: Any) -> Record:
        """The record of an object with attributes: a module, or one that graphs read."""
        kind = type(thing)
        is_module = issubclass(kind, Module)
        needed = self._needed.get(id(thing), {})
        is_whole = is_module or thing is self.root
        own: dict[str, Any] = own_attribute(thing, "__dict__", {}) if is_whole else {}
        if not (needed or is_whole):
            raise self.refused(f"{_described(thing)} cannot be saved", about)
        attributes: Record = {}
        omitted: dict[str, str] = {}
        functions = self._methods(thing)
        for name in dict.fromkeys([*own, *needed]):
            value = own[name] if name in own else getattr(thing, name, None)
            if is_function(value):
                functions[name] = value
            elif name in needed or self._is_saved(value):
                attributes[name] = self.arg(value, f"the attribute `{name}` of {_described(thing)}")
            else:
                omitted[name] = _described(value)
        name = vars(kind).get("__saved_class__", full_name(kind))
        record: Record = {"kind": "module" if is_module else "object", "class": name}
        record |= {"attributes": attributes, "omitted": omitted}
        record["functions"] = {name: self.number(each) for name, each in functions.items()}
        if full_name(kind) in self._allowed:
            record["callback"] = self.number(kind, about)
        return record

    def _methods(self, thing: Any) -> dict[str, Any]:
        """The methods of an object that are saved: those of modules, and of the object to save."""
        return methods_of(thing) if isinstance(thing, Module) or thing is self.root else {}

    def check_use(self, thing: Any, node: Node) -> None:
        """Check that a node which uses an object otherwise than by reference does not need the methods of its class."""
        kind = type(thing)
        is_known = kind.__module__ in _MODULES or is_a(thing, (tuple, dict)) or callable(thing) or is_a(thing, Variable)
        if not is_known and full_name(kind) not in self._allowed:
            raise self.refused(
                f"{_described(thing)} is used by `{node.op}`, which may call methods of its class. A saved graph does "
                "not contain these: allow both to save and to load the class by name, "
                f"allow_callbacks=[{full_name(kind)!r}]",
                node,
            )

    def _is_saved(self, value: Any, depth: int = 0) -> bool:
        """Whether a value is saved as an attribute although no graph needs it: it is data, a module or a function."""
        if type(value) in ATOMS or is_a(value, (Variable, Module, np.ndarray, np.generic)):
            return not (type(value) is np.ndarray and value.dtype.hasobject)
        if type(value) in (list, tuple, dict, set) and depth < _DEEP:
            parts = [*value, *value.values()] if type(value) is dict else value
            return all(self._is_saved(part, depth + 1) for part in parts)
        return notation.literal(value) is not None and vocabulary.name_of(value) is not None

    # Graphs -----------------------------------------------------------------------------------------------------------

    def graph(self, graph: Graph, given: dict[Value, Any]) -> Record:
        """The record of a graph.

        Args:
            given: objects that take the place of some of its parameters.
        """
        return _GraphEncoder(self, given).graph(graph)

    def has(self, thing: Any) -> bool:
        """Whether an object is in the table already."""
        return id(thing) in self._numbers and type(thing) not in ATOMS

    def need(self, thing: Any, name: Any, node: Node | None) -> None:
        """Note that a graph or guard reads an attribute or key of an object."""
        self.number(thing, node)
        if type(name) is str:
            self._needed.setdefault(id(thing), {})[name] = None

    def place(self, place: Place) -> int | None:
        """The number of a place in the user's program; None if it is unknown."""
        if not place:
            return None
        found = self._placed.get(place) if type(place) is tuple else None
        if found is None:
            frames = [self._frame(pieces[0][0], *pieces[-1]) for pieces in pieces_of(place)]
            record: Any = frames
            if isinstance(place, Handling) and place.exceptions:
                handled = [
                    [self.arg(kind, None), self.arg(args, None), self.arg(state, None), self.place(places)]
                    for kind, args, state, places in place.exceptions
                ]
                record = {"frames": frames, "handled": handled}
            found = len(self.places)
            self.places.append(record)
            if type(place) is tuple:
                self._placed[place] = found
        return found

    def _frame(self, whole: types.CodeType, code: types.CodeType, instruction: int) -> list[Any]:
        key = whole.co_filename, whole.co_name, getattr(whole, "co_qualname", whole.co_name), whole.co_firstlineno
        if key not in self._frames:
            self._frames[key] = len(self.codes)
            self.codes.append([*key])
        return [self._frames[key], *self._read.position(code, instruction)]

    # Arguments --------------------------------------------------------------------------------------------------------

    def arg(self, arg: Any, about: Any, values: Callable[[Value], Any] | None = None) -> Any:
        """The record of an argument: nested as it is, with values and objects by number.

        Args:
            about: the node that has it, or words for it.
            values: gives the record of a value of the graph.
        """
        kind = type(arg)
        if kind is Value:
            assert values is not None, "values occur in graphs only"
            return values(arg)
        if arg is None or kind is bool or kind is str:
            return arg
        if kind is int:
            return arg if -_LARGEST <= arg <= _LARGEST else {"literal": notation.literal(arg)}
        if kind is float:
            return arg if math.isfinite(arg) else {"literal": repr(arg)}
        if kind is slice:
            return {"slice": [self.arg(part, about, values) for part in (arg.start, arg.stop, arg.step)]}
        if kind is tuple or (kind is list and values is not None):
            return {kind.__name__: [self.arg(part, about, values) for part in arg]}
        if kind is dict and values is not None:
            return {"dict": [[self.arg(k, about, values), self.arg(v, about, values)] for k, v in arg.items()]}
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            parts = [self.arg(part, about, values) for part in arg]
            return {"namedtuple": self.number(kind, about), "parts": parts}
        if kind is Constant:
            return {"itself": self.number(arg.value, about)}
        if kind is frozenset:
            return {"frozenset": [self.arg(part, about) for part in arg]}
        if issubclass(kind, np.generic) and notation.literal(arg) is None and arg.dtype.kind in KINDS:
            return {"scalar": [arg.dtype.str, arg.tobytes().hex()]}
        name = vocabulary.name_of(arg)
        if name is not None:
            return {"name": name}
        written = notation.literal(arg) if not callable(arg) else None
        return {"literal": written} if written is not None else {"object": self.number(arg, about)}

    def refused(self, reason: str, about: Any) -> SaveError:
        """The error for an object that cannot be saved, with the line that uses it."""
        place = (user_line(about.place) if isinstance(about, Node) else None) or self.function
        where = f"{about}: " if isinstance(about, str) else ""
        return SaveError(f"{where}{reason}", *(place or ()))


class _GraphEncoder:
    """Makes the record of one graph."""

    def __init__(self, encoder: Encoder, given: dict[Value, Any]) -> None:
        self.encoder = encoder
        self.numbers: dict[Value, int] = {}
        self.known: dict[Value, Any] = dict(given)      # the objects that values are, as far as that is known
        self.given = given

    def graph(self, graph: Graph) -> Record:
        _survey(graph, self.known, self.encoder)
        params = [self.define(param) for param in graph.params if param not in self.given]
        return {"name": graph.name, "params": params, **self.block(graph.block)}

    def block(self, block: Block) -> Record:
        nodes, results = [self.node(node) for node in block.nodes], block.results
        found = None if results is None else [self.encoder.arg(each, None, self.value) for each in results]
        return {"nodes": nodes, "results": found}

    def define(self, value: Value) -> list[Any]:
        self.numbers[value] = len(self.numbers)
        return [value.name, notation.type_text(value.type, _no_reference)]

    def value(self, value: Value) -> Record:
        if value in self.given:
            return {"itself": self.encoder.number(self.given[value])}
        return {"value": self.numbers[value]}

    def node(self, node: Node) -> Record:
        encoder = self.encoder
        record: Record = {"op": node.op, "args": [encoder.arg(arg, node, self.value) for arg in node.args]}
        if node.kwargs:
            record["kwargs"] = {name: encoder.arg(arg, node, self.value) for name, arg in node.kwargs.items()}
        if node.blocks:
            blocks = [{"params": [*map(self.define, each.params)], **self.block(each)} for each in node.blocks]
            record["blocks"] = blocks
        if node.outputs:
            record["outputs"] = [*map(self.define, node.outputs)]
        place = encoder.place(node.place)
        if place is not None:
            record["place"] = place
        if node.own:
            record["own"] = True
        try:
            vocabulary.check_op(node.op)
            vocabulary.check_attribute(node.op, node.args)
        except LoadError as error:
            raise encoder.refused(str(error), node) from None
        return record


def _survey(graph: Graph, known: dict[Value, Any], encoder: Encoder) -> None:
    """Follow the objects that a graph reads from other objects, and note what it needs of which."""
    for node in walk(graph.block):
        if node.op not in _BY_REFERENCE:
            found: list[Any] = []
            map_args(found.append, (node.args, node.kwargs))
            for each in (_known(leaf, known) for leaf in found):
                if each is not None:
                    encoder.check_use(each, node)
        thing = part_read(node, known, writing=True)
        if thing is not None:
            encoder.need(thing, node.args[1], node)
            part = part_of(thing, node.op, node.args[1]) if node.op in READS else None
            if part is not None and type(part) not in ATOMS:
                known[node.output] = part


def part_read(node: Node, known: Mapping[Value, Any], writing: bool = False) -> Any:
    """The object of which a node reads an attribute or item with a known name, or also sets it; None for others."""
    is_one = (node.op in READS and node.outputs) or (writing and node.op in _WRITES)
    if not is_one or len(node.args) < 2 or type(node.args[1]) not in (str, int):
        return None
    return _known(node.args[0], known)


def _known(leaf: Any, known: Mapping[Value, Any]) -> Any:
    """The object that an argument is, as far as that is known."""
    return leaf.value if isinstance(leaf, Constant) else known.get(leaf) if isinstance(leaf, Value) else None


def part_of(thing: Any, op: str, name: Any) -> Any:
    """An attribute or item that a graph reads of an object; None if there is none."""
    try:
        return getattr(thing, name) if op == "getattr" else thing[name] if type(thing) in (dict, list, tuple) else None
    except (AttributeError, LookupError, TypeError):
        return None
_MODULES = frozenset({"builtins", "numpy", "numpy.random.mtrand", "numpy.random._generator"})   # of known classes
_DEEP = 20  # containers in each other


def is_function(thing: Any) -> bool:
    """Whether something is a staged function."""
    return staged_function(thing) is not None or issubclass(type(thing), (BoundFunction, ConcreteFunction, Function))


def methods_of(thing: Any) -> dict[str, Any]:
    """The staged functions among the methods of an object, bound to it, by name."""
    found: dict[str, Any] = {}
    for kind in reversed(type(thing).__mro__):
        for name, part in vars(kind).items():
            if is_function(part):
                found[name] = part
            else:
                found.pop(name, None)
    return {name: BoundFunction(staged_function(part) or part, thing) for name, part in found.items()}


def is_found(thing: Any, full: str) -> bool:
    """Whether a module that is there has this function or class under this name."""
    module, _, qualname = full.partition(":")
    found: Any = sys.modules.get(module)
    for name in qualname.split("."):
        found = vars(found).get(name) if is_a(found, (type, types.ModuleType)) else None
    return any(each is thing for each in (found, getattr(found, "__func__", None))) or (
        found is not None and own_attribute(thing, "__dict__", {}).get("__wrapped__") is found     # as `do_not_convert`
    )


def full_name(thing: Any) -> str:
    """The name of a function or class, with its module: `module:qualname`."""
    return f"{own_attribute(thing, '__module__')}:{own_attribute(thing, '__qualname__')}"


def _described(thing: Any) -> str:
    if is_a(thing, type):
        return f"the class {thing.__qualname__}"
    name = own_attribute(thing, "__qualname__")
    return f"the function {name}" if isinstance(name, str) else f"an object of class {type(thing).__qualname__}"


def _no_reference(thing: Any) -> str:
    raise SaveError(f"an array of dtype {thing} is not saved: no name describes the dtype")
