"""From records of JSON and arrays to objects and graphs; see `encode` for the records.

Nothing in a file is believed: names are looked up in `vocabulary`, numbers must be those of records, and each graph
goes through the verifier. Nothing is imported but what the caller allows, and no code of a file is run, as it has none.
"""

from __future__ import annotations

import collections
import dis
import importlib
import sys
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any, ClassVar, Protocol

import numpy as np

from autograph.common.cpython_internals import HEAP
from autograph.common.line_tables import Position, with_lines
from autograph.common.statics import is_a, own_attribute
from autograph.errors import LoadError
from autograph.modules import Module
from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Place, Value, map_args
from autograph.runtime.graph.types import Type
from autograph.runtime.graph_text.parser import TermReader, parse_type
from autograph.runtime.graph_text.verifier import check
from autograph.runtime.tracing.proxies.source_location import Handling
from autograph.saving import vocabulary
from autograph.saving.arrays import array_of, scalar_of
from autograph.variables import Variable

Record = dict[str, Any]
Array = np.ndarray[Any, Any]
_LITERALS = 10_000      # characters of a literal
_FRAMES = 1000          # of a place
_BIT_GENERATORS = {name: getattr(np.random, name) for name in ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")}


class Functions(Protocol):
    """Makes the functions of records."""

    def blank(self) -> Any:
        """A function without graphs: its graphs may call it."""

    def fill(self, made: Any, decoder: Decoder, record: Record) -> None:
        """Give a blank function the graphs of a record."""


class Decoder:
    """Makes the objects of a table of records, each once, and the graphs that refer to them.

    Args:
        document: the contents of the file, checked against the schema.
        arrays: those of its file of arrays, by name.
        callbacks: the Python functions and classes that graphs may call, by their names `module:qualname`.
        functions: makes a function without graphs, and gives it those of a record.

    Attributes:
        makers: make objects of records, by their kinds.
        shells, fillers: the same for objects that may contain themselves, which are made first, and filled then.
    """

    makers: ClassVar[dict[str, Callable[[Any, Record], Any]]]
    shells: ClassVar[dict[str, Callable[[Any, Record], Any]]]
    fillers: ClassVar[dict[str, Callable[[Any, Record, Any], None]]]

    def __init__(
        self,
        document: Record,
        arrays: Mapping[str, Array],
        callbacks: Mapping[str, Any],
        functions: Functions,
    ) -> None:
        self._records: list[Record] = document["objects"]
        self._codes: list[list[Any]] = document["codes"]
        self._places: list[Any] = document["places"]
        self._arrays = arrays
        self._callbacks = callbacks
        self.methods = {name for each in self._records for name in each.get("functions", ())}
        self.functions = functions
        self._made: dict[int, Any] = {}
        self._types: dict[str, Type] = {}
        self._place_of: dict[int, Place] = {}
        self._positions: dict[int, set[tuple[int | None, ...]]] = {}    # of the frames, by the numbers of their codes
        for number, *position in (frame for place in self._places for frame in _frames_of(place)):
            self._positions.setdefault(number, set()).add(tuple(position))
        self._code_of: dict[int, tuple[CodeType, dict[tuple[Any, ...], int]]] = {}
        self._unfinished: set[int] = set()

    # Objects ----------------------------------------------------------------------------------------------------------

    def object(self, number: int) -> Any:
        """The object of a number.

        Raises:
            LoadError: there is none, or it cannot be made.
        """
        if number in self._made:
            return self._made[number]
        if not 0 <= number < len(self._records):
            raise LoadError(f"there is no object {number}")
        record = self._records[number]
        kind = record["kind"]
        fill = self.fillers.get(kind)
        if fill is not None:    # it may contain itself
            made = self._made[number] = self.shells[kind](self, record)
            fill(self, record, made)
            return made
        if kind not in self.makers:
            raise LoadError("tf.saved_model.save has written the object: load it with tf.saved_model.load")
        if number in self._unfinished:
            raise LoadError(f"the object {number} is a part of itself")
        self._unfinished.add(number)
        made = self._made[number] = self.makers[kind](self, record)
        return made

    def _array(self, record: Record) -> Array:
        return array_of(record, self._arrays)

    def _variable(self, record: Record) -> Variable:
        array = self.object(record["array"])
        if type(array) is not np.ndarray:
            raise LoadError("the array of a variable is none")
        made: Variable = object.__new__(Variable)
        made.value, made.trainable, made.name = array, record["trainable"], record["name"]
        return made

    def _callback(self, record: Record) -> Any:
        name = record["name"]
        if name not in self._callbacks:
            raise LoadError(
                f"the saved graph calls {vocabulary.shown(name)}, which is Python code of its own: if you trust it, "
                f"allow it: load(…, allow_callbacks=[{vocabulary.shown(name)}])"
            )
        return self._callbacks[name]

    def _namedtuple(self, record: Record) -> type:
        """The class of named tuples of this name: that of the program if it is there, else a new one."""
        module, _, qualname = record["name"].partition(":")
        fields = tuple(record["fields"])
        found: Any = sys.modules.get(module)
        for name in qualname.split("."):
            found = own_attribute(found, "__dict__", {}).get(name)
        if is_a(found, type) and issubclass(found, tuple) and vars(found).get("_fields") == fields:
            known: type = found
            return known
        name = qualname.rpartition(".")[2]
        are_names = all(vocabulary.is_identifier(each) and each[0] != "_" for each in fields)
        if not are_names or len(set(fields)) < len(fields):
            raise LoadError(f"{vocabulary.shown(fields)} are no fields of a named tuple")
        _check_identifier(name)
        make: Callable[..., type] = collections.namedtuple
        return make(name, fields, module=module)

    def _random(self, record: Record) -> Any:
        state = self.arg(record["state"])
        try:
            if record["class"] == "RandomState":
                made = np.random.RandomState()
                made.set_state(state)
                return made
            generator = _BIT_GENERATORS[state["bit_generator"]]()
            generator.state = state
        except (KeyError, TypeError, ValueError, OverflowError, IndexError) as error:
            raise LoadError(f"the state of a random generator is none: {error!r}") from error
        return np.random.Generator(generator)

    def _member(self, record: Record) -> Any:
        kind = self.object(record["class"])
        try:
            return kind[record["name"]]
        except (KeyError, TypeError) as error:
            raise LoadError(f"{vocabulary.shown(record['name'])} is no member of {kind!r}") from error

    def _instance(self, record: Record) -> Any:
        if "callback" in record:
            kind = self.object(record["callback"])
            if not is_a(kind, type):
                raise LoadError(f"{vocabulary.shown(record['class'])} is no class")
        else:
            kind = class_of(record["class"], record["kind"] == "module", "__call__" in record["functions"])
        return object.__new__(kind)

    def _default_dict(self, record: Record) -> Any:
        factory = self.held(record["factory"])
        if not (factory is None or callable(factory)):
            raise LoadError("the factory of a defaultdict cannot be called")
        return collections.defaultdict(factory)

    def _fill_instance(self, record: Record, made: Any) -> None:
        for name, each in record["attributes"].items():
            if not vocabulary.is_attribute(name):
                raise LoadError(f"{vocabulary.shown(name)} is no name of an attribute")
            object.__setattr__(made, name, self._data(each))
        for name, number in record["functions"].items():
            _check_identifier(name)
            made.__dict__[name] = self.object(number)
        if record["omitted"]:
            made.__dict__["_omitted"] = dict(record["omitted"])

    def _fill_list(self, record: Record, made: list[Any]) -> None:
        made.extend(self._data(each) for each in record["items"])

    def _fill_set(self, record: Record, made: set[Any]) -> None:
        made.update(self._key(self._data(each)) for each in record["items"])

    def _fill_dict(self, record: Record, made: dict[Any, Any]) -> None:
        made.update((self._key(self._data(key)), self._data(value)) for key, value in record["items"])

    @staticmethod
    def _key(value: Any) -> Any:
        try:
            hash(value)
        except TypeError as error:
            raise LoadError(f"a key cannot be a {type(value).__name__}") from error
        return value

    def held(self, record: Any) -> Any:
        """The object of an argument outside of graphs, where an object by reference is the object."""
        value = self.arg(record)
        return value.value if type(value) is Constant else value

    def _data(self, record: Any) -> Any:
        """The object of an argument that is a part of another object, in which graphs may find it.

        Raises:
            LoadError: it is a class that can be changed, or a function, whose attributes lead to this library.
        """
        found = self.held(record)
        if hasattr(type(found), "__ag_staged__"):
            raise LoadError("a loaded function must be a method of an object, or be called by a graph")
        if is_a(found, type) and found.__flags__ & HEAP:
            raise LoadError(f"the class {vocabulary.shown(found.__name__)} cannot be a part of a saved object")
        return found

    def _within(self, number: int) -> Any:
        """The object of a number as a graph has it: of a loaded function, only the call."""
        made = self.object(number)
        return _bare(made) if hasattr(type(made), "__ag_staged__") else made

    # Arguments --------------------------------------------------------------------------------------------------------

    def arg(self, record: Any, values: Callable[[int], Value] | None = None) -> Any:
        """The argument of a record.

        Args:
            values: gives the values of a graph, by number.
        """
        if not isinstance(record, dict):
            return record
        (kind, part), *_ = record.items()
        if kind == "value" and values is not None:
            return values(part)
        if kind == "literal":
            return self._literal(part)
        if kind == "name":
            return vocabulary.lookup(part)
        if kind == "object":
            return self.object(part) if values is None else self._within(part)
        if kind == "itself":
            return Constant(self.object(part) if values is None else self._within(part))
        if kind == "tuple":
            return tuple([self.arg(each, values) for each in part])
        if kind == "list":
            return [self.arg(each, values) for each in part]
        if kind == "dict":
            return {self._key(self.arg(key, values)): self.arg(value, values) for key, value in part}
        if kind == "frozenset":
            return frozenset(self._key(self.arg(each, values)) for each in part)
        if kind == "scalar":
            return scalar_of(*part)
        if kind == "slice" and len(part) == 3:
            return slice(*[self.arg(each, values) for each in part])
        if kind == "namedtuple":
            return self.named_tuple(self.object(part), [self.arg(each, values) for each in record["parts"]])
        raise LoadError(f"there is no argument {vocabulary.shown(record)}")

    def named_tuple(self, kind: Any, parts: list[Any]) -> Any:
        if not is_a(kind, type) or not issubclass(kind, tuple) or len(getattr(kind, "_fields", ())) != len(parts):
            raise LoadError("a named tuple has other fields than its class")
        return tuple.__new__(kind, parts)

    def _literal(self, text: str) -> Any:
        if len(text) > _LITERALS:
            raise LoadError(f"a literal has {len(text)} characters")
        reader = TermReader(text, 1, {}, {})
        try:
            found = reader.arg()
            reader.end()
        except Exception as error:
            raise LoadError(f"the literal {vocabulary.shown(text)} cannot be read") from error
        if callable(found) and not is_a(found, (np.dtype, np.generic)):
            raise LoadError(f"{vocabulary.shown(text)} is no literal")
        return found

    def type(self, text: str) -> Type:
        """The type of a text."""
        found = self._types.get(text)
        if found is None:
            if len(text) > _LITERALS:
                raise LoadError(f"a type has {len(text)} characters")
            try:
                found = self._types[text] = parse_type(text)
            except Exception as error:
                raise LoadError(f"the type {vocabulary.shown(text)} cannot be read: {error}") from error
        return found

    # Graphs -----------------------------------------------------------------------------------------------------------

    def graph(self, record: Record) -> Graph:
        """A new graph.

        Raises:
            LoadError: it is not well-formed, or does something that a saved graph must not.
        """
        return check(_GraphDecoder(self).graph(record))

    def place(self, number: int) -> Place:
        """A place in the program that was saved."""
        found = self._place_of.get(number)
        if found is None:
            if not 0 <= number < len(self._places):
                raise LoadError(f"there is no place {number}")
            record = self._places[number]
            frames = record["frames"] if isinstance(record, dict) else record
            if len(frames) > _FRAMES:
                raise LoadError(f"a place has {len(frames)} frames")
            found = tuple(self._frame(*frame) for frame in frames)
            if isinstance(record, dict):
                found = Handling(found)
                found.exceptions = [self._handled(number, *each) for each in record["handled"]]
            self._place_of[number] = found
        return found

    def _handled(self, number: int, kind: Any, args: Any, state: Any, place: int | None) -> Any:
        kind, args, state = self.held(kind), self.held(args), self.held(state)
        if not (is_a(kind, type) and issubclass(kind, BaseException) and type(args) is tuple and type(state) is dict):
            raise LoadError("a handled exception is none")
        if place is not None and place >= number:
            raise LoadError("the place of a handled exception comes after it")
        return kind, args, state, () if place is None else self.place(place)

    def _frame(self, number: int, *position: int | None) -> tuple[CodeType, int]:
        """A code object that has the name and place of the user's, and the instruction that is at a position."""
        if number not in self._code_of:
            if not 0 <= number < len(self._codes):
                raise LoadError(f"there is no code {number}")
            self._code_of[number] = blank_code(self._codes[number]), {}
        instruction = self._instruction(number, position)
        return self._code_of[number][0], instruction

    def _instruction(self, number: int, position: tuple[int | None, ...]) -> int:
        code, instructions = self._code_of[number]
        if not instructions:
            ordered = sorted(self._positions[number], key=lambda each: [part or 0 for part in each])
            instructions.update((each, 2 * at) for at, each in enumerate(ordered))
            body = _NOTHING * (len(ordered) - 1) + code.co_code[-2:]
            spans = [(2, Position(*each)) for each in ordered]
            code = with_lines(code.replace(co_code=body), spans, code.co_firstlineno)
            self._code_of[number] = code, instructions
        return instructions[position]


def _bare(function: Any) -> Callable[..., Any]:
    """A function that calls another one, and has no attributes that lead to it."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def _frames_of(place: Any) -> list[list[Any]]:
    found: list[list[Any]] = place["frames"] if isinstance(place, dict) else place
    return found


_TEMPLATE = (lambda: None).__code__
_NOTHING = bytes([dis.opmap["NOP"], 0])
_ENDS = (".py", ".pyx", ".ipynb", ">")      # of the names of files; tracebacks read the lines of those that exist


def blank_code(record: list[Any]) -> CodeType:
    """Code of a name and file that does nothing."""
    filename, name, qualname, line = record
    if not filename.endswith(_ENDS) or "\0" in filename:
        filename = f"<saved {name[:80]}>"
    names = {"co_qualname": qualname} if sys.version_info >= (3, 11) else {}
    return _TEMPLATE.replace(co_filename=filename, co_name=name, co_firstlineno=line, **names)


class _GraphDecoder:
    """Makes one graph; values are numbered in the order in which the file defines them."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder
        self.values: list[Value] = []

    def graph(self, record: Record) -> Graph:
        graph = Graph(record["name"])
        self.block(record, graph.block)
        return graph

    def block(self, record: Record, block: Block) -> None:
        for name, type in record.get("params", ()):
            self.values.append(block.add_param(self.decoder.type(type), name))
        for each in record["nodes"]:
            block.append(self.node(each))
        results = record["results"]
        block.results = None if results is None else tuple([self.decoder.arg(each, self.value) for each in results])

    def value(self, number: int) -> Value:
        if not 0 <= number < len(self.values):
            raise LoadError(f"there is no value {number} yet")
        return self.values[number]

    def node(self, record: Record) -> Node:
        decoder, op = self.decoder, record["op"]
        vocabulary.check_op(op)
        args = tuple([decoder.arg(each, self.value) for each in record["args"]])
        kwargs = {name: decoder.arg(each, self.value) for name, each in record.get("kwargs", {}).items()}
        for name in kwargs:
            _check_identifier(name)
        leaves: list[Any] = []
        map_args(leaves.append, (args, kwargs))
        vocabulary.check_arguments(op, leaves)
        vocabulary.check_attribute(op, args, decoder.methods)
        blocks = tuple(Block() for _ in record.get("blocks", ()))
        for block, each in zip(blocks, record.get("blocks", ())):
            self.block(each, block)
        place = record.get("place")
        node = Node(op, args, kwargs, blocks, () if place is None else decoder.place(place))
        node.own = record.get("own", False)
        for name, type in record.get("outputs", ()):
            self.values.append(node.add_output(decoder.type(type), name))
        return node


# Classes of loaded objects --------------------------------------------------------------------------------------------


def _omitted(self: Any, name: str) -> Any:
    """Say why there is no such attribute."""
    found = self.__dict__.get("_omitted", {}).get(name)
    reason = f", since it was {found}, which cannot be saved" if found else ""
    raise AttributeError(f"the loaded {type(self).__name__} has no attribute {name!r}{reason}", name=name, obj=self)


class LoadedObject:
    """An object that was saved, without the methods of its class."""

    def __repr__(self) -> str:
        return f"<loaded {type(self).__name__} with {', '.join(vars(self)) or 'no attributes'}>"


def _call(self: Any, *args: Any, **kwargs: Any) -> Any:
    return self.__dict__["__call__"](*args, **kwargs)


def _call_traced(self: Any, trace: Any) -> Any:
    """The replacement of a loaded object that traced code calls."""
    return trace.context.calls.replacement(self.__dict__["__call__"])


_CLASSES: dict[tuple[str, bool, bool], type] = {}


def class_of(name: str, is_module: bool, is_called: bool) -> type:
    """The class of a loaded object: this library's own, or one with the name of that which was saved."""
    module, _, qualname = name.partition(":")
    if module.startswith(("autograph.nn.", "autograph.optim.")) and is_module:
        importlib.import_module("autograph.nn")
        importlib.import_module("autograph.optim")
        found: Any = vars(sys.modules[module]).get(qualname) if module in sys.modules else None
        if is_a(found, type) and issubclass(found, Module):
            kind: type = found
            return kind
    key = name, is_module, is_called
    made = _CLASSES.get(key)
    if made is None:
        short = qualname.rpartition(".")[2]
        _check_identifier(short)
        base = Module if is_module else LoadedObject
        body: dict[str, Any] = {"__module__": "autograph.saving", "__qualname__": short, "__getattr__": _omitted}
        body["__saved_class__"] = name
        if is_called:
            body |= {"__call__": _call, "__ag_traced__": _call_traced}
        made = _CLASSES[key] = type(short, (base,), body)
    return made


def _check_identifier(name: str) -> None:
    if not vocabulary.is_identifier(name):
        raise LoadError(f"{vocabulary.shown(name)} is no name")


Decoder.shells = {
    "list": lambda decoder, record: [],
    "set": lambda decoder, record: set(),
    "dict": lambda decoder, record: {},
    "ordered dict": lambda decoder, record: collections.OrderedDict(),
    "default dict": Decoder._default_dict,
    "module": Decoder._instance,
    "object": Decoder._instance,
    "function": lambda decoder, record: decoder.functions.blank(),
}
Decoder.fillers = {
    "list": Decoder._fill_list,
    "set": Decoder._fill_set,
    "dict": Decoder._fill_dict,
    "ordered dict": Decoder._fill_dict,
    "default dict": Decoder._fill_dict,
    "module": Decoder._fill_instance,
    "object": Decoder._fill_instance,
    "function": lambda decoder, record, made: decoder.functions.fill(made, decoder, record),
}
Decoder.makers = {
    "array": Decoder._array,
    "tuple": lambda decoder, record: decoder.arg(record["value"]),
    "variable": Decoder._variable,
    "callback": Decoder._callback,
    "namedtuple": Decoder._namedtuple,
    "random": Decoder._random,
    "member": Decoder._member,
}
