"""The contents of a saved directory, for people to look at: nothing of it is loaded, and nothing is imported.

`contents_of` describes functions, variables and arrays by their records alone. `graphs_of` makes the graphs of one
function; Python functions and classes that they call by name are placeholders there, which only have that name.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import Parameter
from pathlib import Path
from typing import Any, cast

import numpy as np

from autograph.errors import LoadError
from autograph.runtime.graph.signature import Instance, Static
from autograph.saving import directory as files
from autograph.saving.arrays import dtype_of
from autograph.saving.decode import Decoder
from autograph.saving.loaded import LoadedFunction, LoadedFunctions, SavedGraphs, SavedSignature
from autograph.saving.vocabulary import callbacks

Record = dict[str, Any]
_DEEP = 50      # structures in each other
DEFAULTS = ("serving_default", "__call__")      # methods that are meant where no name is given


@dataclass(frozen=True)
class SavedVariable:
    """A variable, or another array.

    Attributes:
        path: the attributes and keys that lead to it from the saved object, such as `layers.0.w`.
        trainable: None for an array that is no variable.
    """

    path: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    trainable: bool | None = None


@dataclass(frozen=True)
class SavedCall:
    """A call that a function takes.

    Attributes:
        arguments: for each leaf of the arguments its name, and its type or `= value`.
        result: the types of the results, in lists and dicts as the function returns them.
        operations: how many there are of each op.
        conditions: reasons why it would not take the call any more, such as a changed attribute.
    """

    arguments: dict[str, str]
    result: Any
    operations: Counter[str]
    conditions: list[str]


@dataclass(frozen=True)
class SavedFunction:
    """A function or method.

    Attributes:
        path: the attributes and keys that lead to it, such as `encoder.__call__`; its name if it was saved by itself.
        parameters: as in a `def`.
        place: the file and line of its source, when it was saved.
        number: of its record.
    """

    path: str
    parameters: str
    doc: str | None
    place: tuple[str, int] | None
    calls: list[SavedCall]
    number: int


@dataclass
class Contents:
    """The contents of a directory.

    Attributes:
        kind: "function", or the name of the class of the saved object.
        saved_by: versions and time.
        callbacks: the Python functions and classes that loading must allow.
        files: sizes in bytes, by name.
    """

    kind: str
    version: int
    saved_by: dict[str, str]
    callbacks: list[str]
    files: dict[str, int]
    functions: list[SavedFunction] = field(default_factory=list)
    variables: list[SavedVariable] = field(default_factory=list)
    arrays: list[SavedVariable] = field(default_factory=list)

    @property
    def operations(self) -> Counter[str]:
        """How many operations of each kind there are in all graphs."""
        return sum((call.operations for each in self.functions for call in each.calls), Counter())

    def function(self, name: str | None = None) -> SavedFunction:
        """The function of a path, or of the last part of one; without a name the only one, or the default one.

        Raises:
            LookupError: there is none, or the name could be that of several; the message lists those that there are.
        """
        names = [each.path for each in self.functions]
        wanted = DEFAULTS if name is None else (name,)
        for each in wanted:
            found = [path for path in names if path == each] or [path for path in names if path.endswith(f".{each}")]
            if name is not None or len(found) == 1:
                break
        if name is None and len(names) == 1:
            found = names
        if len(found) != 1:
            what = "a function must be named" if name is None else f"there is no function {name!r}"
            raise LookupError(f"{what}; there are: {', '.join(names) or 'none'}")
        return self.functions[names.index(found[0])]


def contents_of(directory: str | os.PathLike[str]) -> Contents:
    """Describe a directory that `ag.save` has written.

    Raises:
        LoadError: it is damaged, was changed, or has another format.
    """
    document, arrays = files.read(directory)
    with _refusing():
        return _described(directory, document, arrays)


def _described(directory: str | os.PathLike[str], document: Record, arrays: files.Arrays) -> Contents:
    objects: list[Record] = document["objects"]
    root = _record(objects, document["root"])
    names = [files.GRAPH] + ([document["arrays"]["file"]] if document["arrays"] else [])
    sizes = {name: (Path(directory) / name).stat().st_size for name in names}
    kind = root["class"].partition(":")[2] if "class" in root else root["kind"]
    found = Contents(kind, document["version"], document["saved_by"], document["callbacks"], sizes)
    seen: set[int] = set()
    for start in (document["root"], *range(len(objects))):
        for path, number in _reachable(objects, start, seen):
            record = _record(objects, number)
            if record["kind"] == "function":
                found.functions.append(_function(objects, path or record["name"], record, number))
            elif record["kind"] == "variable":
                array = _record(objects, record["array"])
                seen.add(record["array"])
                found.variables.append(_array(path or f"#{number}", array, arrays, record["trainable"]))
            elif record["kind"] == "tf.function":
                found.functions.append(_tf_function(objects, path or record["name"], record, number))
            elif record["kind"] == "tf.variable":
                found.variables.append(_tf_variable(objects, path or record["name"], record, arrays, seen))
            elif record["kind"] == "array":
                found.arrays.append(_array(path or f"#{number}", record, arrays))
    for name, each in root.get("signatures", {}).items() if root["kind"] == "tf.object" else ():
        found.functions.append(_tf_signature(objects, name, each))
    return found


def load_functions(
    directory: str | os.PathLike[str], allow_callbacks: Collection[str] = (), engine: str | None = None
) -> tuple[Contents, dict[str, LoadedFunction]]:
    """Load all functions of a directory, those of all its modules, by their paths; arguments as for `ag.load`.

    Raises:
        LoadError: it is damaged, or calls what is not allowed.
    """
    document, arrays = files.read(directory)
    with _refusing():
        found = _described(directory, document, arrays)
    decoder = Decoder(document, arrays, callbacks(document["callbacks"], allow_callbacks), LoadedFunctions(engine))
    numbers = [document["root"], *(each.number for each in found.functions)]
    _, *functions = _objects(decoder, numbers)
    return found, dict(zip([each.path for each in found.functions], functions))


def graphs_of(
    directory: str | os.PathLike[str], number: int, passes: bool = True, engine: str | None = None
) -> LoadedFunction:
    """The function of a record number, for its graphs to be shown; it must not be called.

    Raises:
        LoadError: it is not well-formed.
    """
    document, arrays = files.read(directory)
    decoder = _Shown(document, arrays, {}, LoadedFunctions(engine))
    found: LoadedFunction
    _, found = _objects(decoder, [document["root"], number])    # first that of which a method is a part
    return found if passes else found.with_options(passes=False)  # type: ignore[return-value]


def _objects(decoder: Decoder, numbers: list[int]) -> list[Any]:
    with _refusing():
        return [*map(decoder.object, numbers)]


@contextmanager
def _refusing() -> Iterator[None]:
    """Convert errors that records which are not well-formed lead to."""
    try:
        yield
    except (RecursionError, MemoryError) as error:
        raise LoadError("the saved object is nested too deeply") from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise LoadError(f"the saved object is not well-formed: {error}") from error


class _Placeholder(Exception):
    """Takes the place of a Python function or class, which is not imported. It may be raised in a graph, too."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise LoadError(f"{cls.__module__}:{cls.__qualname__} is not imported, as the graph is only shown")


class _Shown(Decoder):
    """Makes graphs that are only shown: nothing is imported, and instances of the user's classes have no methods."""

    def object(self, number: int) -> Any:
        record: Record = self._records[number] if 0 <= number < len(self._records) else {"kind": ""}
        if number in self._made or record["kind"] not in ("callback", "module", "object", "member"):
            return super().object(number)
        if "callback" in record:
            self._records[number] = {name: part for name, part in record.items() if name != "callback"}
            return super().object(number)
        made: Any = None
        if record["kind"] == "callback":
            module, _, name = record["name"].partition(":")
            made = type(name.rpartition(".")[2], (_Placeholder,), {"__module__": module, "__qualname__": name})
        elif record["kind"] == "member" and _is_placeholder(self.object(record["class"])):
            made = _Member(record["name"])
        if made is None:
            return super().object(number)
        self._made[number] = made
        return made

    def named_tuple(self, kind: Any, parts: list[Any]) -> Any:
        return tuple(parts) if _is_placeholder(kind) else super().named_tuple(kind, parts)


class _Member:
    """Takes the place of a member of an enumeration, which is not imported."""

    def __init__(self, name: str) -> None:
        self.__name__ = name


def _is_placeholder(thing: Any) -> bool:
    return isinstance(thing, type) and issubclass(thing, _Placeholder)


# Records --------------------------------------------------------------------------------------------------------------


def _record(objects: list[Record], number: int) -> Record:
    if not 0 <= number < len(objects):
        raise LoadError(f"there is no object {number}")
    return objects[number]


def _reachable(objects: list[Record], start: int, seen: set[int]) -> Iterator[tuple[str, int]]:
    """The objects that can be reached from one, each once, with the paths of attributes and keys to them."""
    waiting = [("", start)]
    while waiting:
        path, number = waiting.pop()
        if number in seen:
            continue
        seen.add(number)
        yield path, number
        parts = list(_parts(_record(objects, number)))
        waiting += [(f"{path}.{name}" if path else name, part) for name, part in reversed(parts)]


def _parts(record: Record) -> Iterator[tuple[str, int]]:
    """Names and numbers of the objects in an object."""
    kind = record["kind"]
    if kind == "tf.object":
        for name, arg in record["attributes"].items():
            yield from _numbers(name, arg)
    elif kind in ("module", "object"):
        for name, arg in record["attributes"].items():
            yield from _numbers(name, arg)
        yield from record["functions"].items()
    elif kind in ("list", "set"):
        for place, arg in enumerate(record["items"]):
            yield from _numbers(str(place), arg)
    elif kind == "tuple":
        yield from _numbers("", record["value"])
    elif "items" in record:
        for key, arg in record["items"]:
            yield from _numbers(str(key) if type(key) in (str, int) else shown(key), arg)


def _numbers(name: str, arg: Any) -> Iterator[tuple[str, int]]:
    """The objects in an argument; those of a tuple by their places."""
    if not isinstance(arg, dict):
        return
    if "object" in arg or "itself" in arg:
        yield name, arg["object"] if "object" in arg else arg["itself"]
    for place, each in enumerate(arg.get("tuple") or arg.get("parts") or ()):
        yield from _numbers(f"{name}.{place}" if name else str(place), each)


def _array(path: str, record: Record, arrays: files.Arrays, trainable: bool | None = None) -> SavedVariable:
    if record["kind"] != "array":
        raise LoadError(f"the array of {path} is none")
    stored = arrays.get(record["array"])
    size = 0 if stored is None else stored.nbytes
    return SavedVariable(path, dtype_of(record["dtype"]).name, tuple(record["shape"]), size, trainable)


def _function(objects: list[Record], path: str, record: Record, number: int) -> SavedFunction:
    place = tuple(record["place"]) if record["place"] else None
    calls = [_call(objects, each) for each in record["signatures"]]
    return SavedFunction(path, _parameters(record["parameters"]), record["doc"], place, calls, number)


def _tf_variable(
    objects: list[Record], path: str, record: Record, arrays: files.Arrays, seen: set[int]
) -> SavedVariable:
    """A variable of `tf.saved_model`, whose value may be a number or text instead of an array."""
    value = _record(objects, record["storage"])["value"]
    number = value.get("object") if isinstance(value, dict) else None
    if number is not None and _record(objects, number)["kind"] == "array":
        seen.add(number)
        return _array(path, _record(objects, number), arrays, record["trainable"])
    shape = () if number is None else tuple(_record(objects, number).get("shape", ()))
    size = 0 if record["dtype"] == "string" else np.dtype(record["dtype"]).itemsize
    return SavedVariable(path, record["dtype"], shape, size, record["trainable"])


def _tf_function(objects: list[Record], path: str, record: Record, number: int) -> SavedFunction:
    """A `tf.function` of `tf.saved_model`."""
    names = [each["name"] for each in record["parameters"]]
    calls = [_tf_call(objects, names, _record(objects, each)) for each in record["concrete"]]
    return SavedFunction(path, _parameters(record["parameters"]), record["doc"], None, calls, number)


def _tf_signature(objects: list[Record], name: str, record: Record) -> SavedFunction:
    """A signature of `tf.saved_model`: its arguments and results have names."""
    concrete = _record(objects, record["concrete"])
    call = _tf_call(objects, [], concrete)
    arguments = dict(zip(record["inputs"], _leaves(_specs(objects, concrete["arguments"]))))
    results = dict(zip(record["outputs"], _leaves(_specs(objects, concrete["results"]))))
    named = SavedCall(arguments, results, call.operations, [])
    return SavedFunction(f"signatures.{name}", ", ".join(record["inputs"]), None, None, [named], record["concrete"])


def _tf_call(objects: list[Record], names: list[str], record: Record) -> SavedCall:
    values = _Values(objects)
    values.params(record["graph"]["params"])
    values.nodes(record["graph"]["nodes"])
    described = _specs(objects, record["arguments"])
    given = described if isinstance(described, list) else []
    arguments = {name: each if isinstance(each, str) else json.dumps(each) for name, each in zip(names, given)}
    return SavedCall(arguments, _specs(objects, record["results"]), values.operations, [])


def _specs(objects: list[Record], arg: Any, depth: int = 0) -> Any:
    """Types in lists and dicts, for the specs in an argument; values are shown."""
    if not isinstance(arg, dict) or depth > _DEEP:
        return f"= {shown(arg)}"
    if "tuple" in arg:
        return [_specs(objects, each, depth + 1) for each in arg["tuple"]]
    record = _record(objects, arg["object"]) if "object" in arg else {"kind": ""}
    if record["kind"] == "tf.spec":
        dims = ["?" if size is None else str(size) for size in record["shape"] or ()]
        return f"{record['dtype']}[{', '.join(dims) if record['shape'] is not None else '...'}]"
    if record["kind"] == "list":
        return [_specs(objects, each, depth + 1) for each in record["items"]]
    if record["kind"] == "dict":
        return {str(item[0]): _specs(objects, item[1], depth + 1) for item in record["items"]}
    return f"= {shown(arg)}"


def _leaves(described: Any) -> list[str]:
    """The texts in lists and dicts, in order."""
    if isinstance(described, str):
        return [] if described.startswith("= ") else [described]
    parts = described.values() if isinstance(described, dict) else described
    return [leaf for part in parts for leaf in _leaves(part)]


def _parameters(records: list[Record]) -> str:
    """Parameters as in a `def`."""
    texts: list[str] = []
    before = ""
    for each in records:
        kind = each["kind"]
        if before == "POSITIONAL_ONLY" and kind != before:
            texts.append("/")
        if kind == "KEYWORD_ONLY" and before not in (kind, "VAR_POSITIONAL"):
            texts.append("*")
        stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(kind, "")
        texts.append(f"{stars}{each['name']}" + (f"={shown(each['default'])}" if "default" in each else ""))
        before = kind
    return ", ".join(texts + (["/"] if before == "POSITIONAL_ONLY" else []))


def _call(objects: list[Record], record: Record) -> SavedCall:
    leaves = zip(record["paths"], record["leaves"])
    arguments = {path: f"= {shown(leaf['static'])}" if "static" in leaf else leaf["type"] for path, leaf in leaves}
    graph, values = record["graph"], _Values(objects)
    values.params(graph["params"])
    values.nodes(graph["nodes"])
    results = graph["results"]
    result = values.described(results[0]) if results else None
    return SavedCall(arguments, result, values.operations, [each["reason"] for each in record["guards"]])


_MOST_PARTS = 1000      # of a result that are described: a small file can have results of very many parts


class _Values:
    """The values of a graph, in the order in which the file defines them: types, and the nodes that make them."""

    def __init__(self, objects: list[Record]) -> None:
        self.objects = objects
        self.operations: Counter[str] = Counter()
        self.types: list[str] = []
        self.makers: dict[int, Record] = {}
        self.left = _MOST_PARTS

    def params(self, values: list[list[str]]) -> None:
        self.types += [type for _, type in values]

    def nodes(self, records: list[Record]) -> None:
        for record in records:
            self.operations[record["op"]] += 1
            for block in record.get("blocks", ()):
                self.params(block.get("params", ()))
                self.nodes(block["nodes"])
            if len(record.get("outputs", ())) == 1:
                self.makers[len(self.types)] = record
            self.params(record.get("outputs", ()))

    def described(self, arg: Any) -> Any:
        """The type of an argument, in lists and dicts where the graph builds some."""
        self.left -= 1
        if self.left < 0:
            return "…"
        if not isinstance(arg, dict):
            return shown(arg)
        if "value" in arg and arg["value"] < len(self.types):
            maker = self.makers.get(arg["value"], {"op": "", "args": []})
            args = maker["args"]
            if maker["op"] == "build" and args:
                return self.described(args[0])
            if maker["op"] == "call" and args[:1] == [{"name": "autograph.rebuild_named_tuple"}] and len(args) == 3:
                return self._named_tuple(args[1], args[2])
            return self.types[arg["value"]]
        if "tuple" in arg or "list" in arg:
            return [self.described(each) for each in arg.get("tuple") or arg.get("list") or ()]
        if "dict" in arg:
            return {str(key) if type(key) is str else shown(key): self.described(each) for key, each in arg["dict"]}
        return shown(arg)

    def _named_tuple(self, like: Any, parts: Any) -> Any:
        """The parts of a named tuple by the names of its fields."""
        found = self.described(parts)
        template = _record(self.objects, like.get("itself", -1)) if isinstance(like, dict) else {}
        value = template.get("value")
        kind = _record(self.objects, value["namedtuple"]) if isinstance(value, dict) and "namedtuple" in value else {}
        names = kind.get("fields", ())
        return dict(zip(names, found)) if isinstance(found, list) and len(names) == len(found) else found


def shown(arg: Any) -> str:
    """A constant argument as text."""
    if not isinstance(arg, Mapping):
        return repr(arg)
    kind, part = next(iter(arg.items()))
    if kind in ("literal", "name"):
        return str(part)
    if kind in ("tuple", "list", "frozenset", "slice"):
        return f"{'' if kind in ('tuple', 'list') else kind}({', '.join(map(shown, part))})"
    if kind == "scalar":
        return f"{part[0]}(0x{part[1]})"
    return "…"


def signatures_of(function: LoadedFunction) -> list[SavedSignature]:
    """The signatures of a loaded function, with their graphs."""
    return cast("SavedGraphs", function.python_function).signatures


def parameters_of(function: LoadedFunction) -> list[Parameter]:
    """The parameters of a loaded function."""
    return cast("SavedGraphs", function.python_function).parameters


def example_of(function: LoadedFunction, number: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Placeholders for the arguments of a call that a function takes, for `function.graph(…)` and its like."""
    signature = signatures_of(function)[number].signature
    return signature.fill([leaf.value if isinstance(leaf, Static) else Instance(leaf) for leaf in signature.leaves])
