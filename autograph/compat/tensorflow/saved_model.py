"""`tf.saved_model`: variables, and the graphs of functions, in a file; they run without the code they came from.

The file is a pickle: load only what you trust. It is read by the version of Python that has written it.
"""

from __future__ import annotations

import inspect
import io
import marshal
import pickle
import sys
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from autograph.common import pytree
from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.tensor import Tensor
from autograph.compat.tensorflow.module import Module
from autograph.compat.tensorflow.ops.variables import Variable
from autograph.compat.tensorflow.staging.function import ConcreteFunction, Function, Method
from autograph.compat.tensorflow.staging.signatures import key_of
from autograph.compat.tensorflow.staging.tracing import Traced
from autograph.runtime.graph.graph import Node
from autograph.runtime.tracing.proxies.proxy import is_tensor as is_proxy

_FILE = "saved_model.pickle"


def save(obj: Any, export_dir: str, signatures: Any = None, options: Any = None) -> None:
    """Save an object's variables, the graphs of its functions, and the modules in it.

    Args:
        signatures: further functions, by their names, or one.
    """
    if not isinstance(signatures, dict):
        signatures = {} if signatures is None else {"serving_default": signatures}
    saved = _saved(obj, {})
    saved.signatures = {name: _function(each) for name, each in signatures.items()}
    write(saved, Path(export_dir) / _FILE)


def load(export_dir: str, tags: Any = None, options: Any = None) -> Any:
    """Load an object with the attributes of the saved one."""
    return read(Path(export_dir) / _FILE)


def write(saved: Any, file: Path) -> None:
    """Write an object to a file, and make the folder if need be."""
    buffer = io.BytesIO()
    pickle.dump(sys.version_info[:2], buffer)
    _Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(saved)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(buffer.getvalue())


def read(file: Path) -> Any:
    """Read an object from a file."""
    if not file.exists():
        raise OSError(f"SavedModel file does not exist at: {file}")
    with file.open("rb") as stream:
        version = pickle.load(stream)
        if version != sys.version_info[:2]:
            raise OSError(f"{file} has been saved by Python {version[0]}.{version[1]}; load it with that")
        return pickle.load(stream)


class Loaded(Module):
    """The saved parts of an object.

    Attributes:
        signatures: the functions that were saved under names of their own.
    """

    signatures: dict[str, Any]


class LoadedFunction:
    """The graphs of a function.

    Args:
        parameters: of the function.
        traces: its graphs with what they return, by the keys of the arguments that they take.
    """

    def __init__(self, name: str, parameters: Any, wanted: Any, traces: dict[Any, tuple[Any, Any]]) -> None:
        self.__name__ = name
        self._parameters = parameters
        self._wanted = wanted
        self._traces = traces
        self._compiled: dict[Any, Traced] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bound = inspect.Signature(self._parameters).bind(*args, **kwargs)
        bound.apply_defaults()
        tensors: list[Tensor] = []
        values = list(bound.arguments.values())
        wanted = self._wanted or [None] * len(values)
        key = tuple([key_of(value, tensors, spec) for value, spec in zip(values, wanted)])
        if key not in self._traces:
            raise ValueError(
                f"Could not find a matching concrete function to call: {self.__name__} was saved with "
                f"{len(self._traces)} graphs, none of which takes {args} {kwargs or ''}"
            )
        if key not in self._compiled:
            self._compiled[key] = Traced(*self._traces[key])
        return self._compiled[key]([tensor._value for tensor in tensors])

    def __getstate__(self) -> Any:
        return {**vars(self), "_compiled": {}}


def _saved(value: Any, known: dict[int, Any]) -> Any:
    """The object to save for another one."""
    if id(value) in known:
        return known[id(value)]
    if isinstance(value, (Function, ConcreteFunction, Method)):
        return _function(value)
    if isinstance(value, Module):
        found = known[id(value)] = Loaded(vars(value).get("_name"))
        inherited = {name: part for kind in type(value).__mro__ for name, part in vars(kind).items()}
        for name in [*(name for name, part in inherited.items() if isinstance(part, Function)), *vars(value)]:
            part = _saved(getattr(value, name), known)
            if part is not None:
                setattr(found, name, part)
        return found
    if pytree.kind_of(value) is not None:
        return pytree.map(lambda leaf: _saved(leaf, known), value)
    if isinstance(value, (Variable, Tensor, str, bytes, int, float)):
        return value
    return None


def _function(value: Any) -> LoadedFunction:
    """The graphs of a function; one with a signature is traced, if it has not been."""
    concrete = value if isinstance(value, ConcreteFunction) else None
    whole = value._function if isinstance(value, (ConcreteFunction, Method)) else value
    if whole.input_signature is not None:
        whole.get_concrete_function()
    traces = {
        key: (each._traced.graph, each._traced.structure)
        for key, each in whole._traces.items()
        if concrete is None or each is concrete
    }
    parameters = [each.replace(annotation=inspect.Parameter.empty) for each in whole._parameters]
    return LoadedFunction(whole._name, parameters, whole.input_signature, traces)


# Pickling -------------------------------------------------------------------------------------------------------------


class _Pickler(pickle.Pickler):
    """Writes functions without a name by their parts, and omits objects of use only while tracing."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, graphs.FuncGraph) or is_proxy(value):
            return _nothing, ()
        if isinstance(value, Node):  # without the lines of the user's program that it is from
            parts = {name: getattr(value, name) for name in ("op", "args", "kwargs", "blocks", "outputs", "own")}
            return Node.__new__, (Node,), (None, {**parts, "place": (), "effect": None})
        if isinstance(value, CodeType):
            return marshal.loads, (marshal.dumps(value),)
        if isinstance(value, ModuleType):
            return _module, (value.__name__,)
        if isinstance(value, CellType):
            return _cell, (value.cell_contents,)
        if type(value) is FunctionType and not _has_name(value):
            rest = value.__name__, value.__defaults__, value.__closure__, value.__kwdefaults__
            return _made, (value.__code__, value.__module__, *rest)
        return NotImplemented


def _has_name(function: FunctionType) -> bool:
    """Whether a function is found by its name in its module."""
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function and function.__module__ != "__main__"


def _nothing() -> None:
    return None


def _module(name: str) -> ModuleType:
    __import__(name)
    return sys.modules[name]


def _cell(value: Any) -> CellType:
    return CellType(value)


def _made(code: CodeType, module: str, name: str, defaults: Any, closure: Any, kwdefaults: Any) -> FunctionType:
    function = FunctionType(code, vars(_module(module)), name, defaults, closure)
    function.__kwdefaults__ = kwdefaults
    return function
