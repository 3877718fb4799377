"""Configurations: the arguments that layers and their like were made with, as JSON; and objects made of these again.

    serialize(Dense(3, "relu"))    {"class_name": "Dense", "module": "keras.layers", "config": {"units": 3, …}, …}

A configuration from a file names classes and functions. They are looked up in this library, among those that
`register_keras_serializable` has registered, and in `custom_objects`; nothing is imported.
"""

from __future__ import annotations

import contextlib
import inspect
import weakref
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from inspect import Parameter
from types import FunctionType
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core.convert import constant
from autograph.compat.tensorflow.core.dtypes import DType
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Tensor

Config = dict[str, Any]
_ROOT = "autograph.compat.tensorflow."
_MODULES = ("layers", "losses", "metrics", "optimizers", "schedules", "initializers", "activations", "models")
_GIVEN: weakref.WeakKeyDictionary[Any, tuple[Any, Any]] = weakref.WeakKeyDictionary()
_compiled: weakref.WeakKeyDictionary[Any, Config] = weakref.WeakKeyDictionary()
_registered: dict[str, Any] = {}
_scopes: list[Mapping[str, Any]] = []


def noted(cls: type, args: Any, kwargs: Any) -> Any:
    """A new object that remembers the arguments that it is made with."""
    made: Any = object.__new__(cls)
    _GIVEN[made] = args, kwargs
    return made


def made_of(cls: Any, config: Config) -> Any:
    """An object made with the arguments of a configuration: a `from_config` for classes."""
    return cls(**config)


def config_of(thing: Any) -> Config:
    """The arguments to make an object like this one, as JSON has them: a `get_config` for classes."""
    kind = type(thing)
    definer = next(each for each in kind.__mro__ if "get_config" in vars(each))
    is_own = definer.__module__.startswith(_ROOT)
    source = kind if is_own else next(each for each in kind.__mro__ if each.__module__.startswith(_ROOT))
    found = {}
    args, kwargs = _GIVEN.get(thing, ((), {}))
    if is_own:
        bound = inspect.signature(kind.__init__).bind(thing, *args, **kwargs)
        for name, parameter in [*bound.signature.parameters.items()][1:]:
            if parameter.kind is Parameter.VAR_POSITIONAL and bound.arguments.get(name):
                raise NotImplementedError(f"{kind.__name__} takes any number of arguments: give it a get_config")
            given = bound.arguments.get(name, {} if parameter.kind is Parameter.VAR_KEYWORD else parameter.default)
            if parameter.kind is Parameter.VAR_KEYWORD:
                found.update(given)
            elif parameter.kind is not Parameter.VAR_POSITIONAL and name in bound.arguments:
                found[name] = given
    else:
        for name in _names_of(source):
            if hasattr(thing, name) and name not in ("name", "dtype", "trainable"):
                found[name] = getattr(thing, name)
    for name in ("name", "trainable", "dtype"):
        if hasattr(thing, name) and (name in _names_of(kind) or _takes_any(kind)):
            found[name] = getattr(thing, name)
    return {name: serialize(value) for name, value in found.items() if value is not Parameter.empty}


def note_compiled(model: Any, arguments: Config) -> None:
    """Remember the arguments that `compile` got."""
    _compiled[model] = arguments


def compiled_with(model: Any) -> Config | None:
    """The arguments that `compile` got; None if it was not called."""
    return _compiled.get(model)


def _names_of(kind: Any) -> list[str]:
    return [*inspect.signature(kind.__init__).parameters][1:]


def _takes_any(kind: Any) -> bool:
    parameters = inspect.signature(kind.__init__).parameters.values()
    return any(each.kind is Parameter.VAR_KEYWORD for each in parameters)


# To JSON --------------------------------------------------------------------------------------------------------------


def serialize(thing: Any) -> Any:
    """An object as JSON has it.

    Raises:
        ValueError: it has no configuration.
    """
    if thing is None or isinstance(thing, (bool, int, float, str)):
        return thing
    if isinstance(thing, np.generic):
        return thing.item()
    if isinstance(thing, DType):
        return thing.name
    if isinstance(thing, TensorShape):
        return thing.as_list()
    if isinstance(thing, (np.ndarray, Tensor)):
        array = np.asarray(thing)
        return {"class_name": "__array__", "config": {"value": array.tolist(), "dtype": array.dtype.name}}
    if isinstance(thing, (list, tuple)):
        items = [serialize(each) for each in thing]
        return items if isinstance(thing, list) else {"class_name": "__tuple__", "items": items}
    if isinstance(thing, dict):
        return {str(key): serialize(value) for key, value in thing.items()}
    if isinstance(thing, (FunctionType, type)) and not isinstance(thing, type):
        if thing.__name__ == "<lambda>" or thing.__qualname__ != thing.__name__:
            raise ValueError(f"{thing.__qualname__} cannot be saved: name a function at the top of a module instead")
        return {"class_name": "function", "config": thing.__name__, "module": _module_of(thing)}
    if hasattr(thing, "get_config"):
        kind = type(thing)
        names = {"class_name": kind.__name__, "module": _module_of(kind), "registered_name": _registered_name(kind)}
        return {**names, "config": {name: serialize(value) for name, value in thing.get_config().items()}}
    raise ValueError(f"{thing!r} cannot be saved: give its class a get_config, or leave it out of the configuration")


def _module_of(thing: Any) -> str | None:
    """The module of Keras that has something under its name; None for the user's own."""
    for name in _MODULES:
        if vars(_module(name)).get(thing.__name__) is thing:
            return f"keras.{name}"
    return None


def _module(name: str) -> Any:
    return import_module(f"{_ROOT}keras.{name}")


def _registered_name(kind: Any) -> str:
    return next((name for name, each in _registered.items() if each is kind), kind.__name__)


# From JSON ------------------------------------------------------------------------------------------------------------


def deserialize(record: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The object of a configuration.

    Raises:
        TypeError: its class is not known, or the arguments are none of the class's.
    """
    with custom_object_scope(custom_objects or {}):
        return _made(record)


def _made(record: Any) -> Any:
    if isinstance(record, list):
        return [_made(each) for each in record]
    if not isinstance(record, dict):
        return record
    kind = record.get("class_name")
    if kind == "__tuple__":
        return tuple([_made(each) for each in record["items"]])
    if kind == "__array__":
        return constant(record["config"]["value"], record["config"]["dtype"])
    if kind is None or "config" not in record:
        return {key: _made(each) for key, each in record.items()}
    if kind == "function":
        return _found(record["config"], record.get("module"), record["config"])
    found = _found(kind, record.get("module"), record.get("registered_name", kind))
    if not (isinstance(found, type) and hasattr(found, "from_config")):
        raise TypeError(f"{kind!r} is no class with a configuration")
    own = next(each for each in found.__mro__ if "from_config" in vars(each))
    makes_parts = own.__module__.startswith(_ROOT) and vars(own)["from_config"].__func__ is not made_of
    config = record["config"] if makes_parts else {name: _made(each) for name, each in record["config"].items()}
    return found.from_config(config)


def _found(name: Any, module: Any, registered_name: Any) -> Any:
    """The class or function of a name."""
    for scope in reversed(_scopes):
        for each in (registered_name, name):
            if each in scope:
                return scope[each]
    if registered_name in _registered:
        return _registered[registered_name]
    room = str(module).partition("keras.")[2]
    found = vars(_module(room)).get(name) if room in _MODULES and not str(name).startswith("_") else None
    if not callable(found) or not str(getattr(found, "__module__", "")).startswith(_ROOT):
        raise TypeError(
            f"Could not locate class {name!r}. Make sure custom classes are decorated with "
            "`@keras.saving.register_keras_serializable()`, or give them as custom_objects={name: class}."
        )
    return found


def register_keras_serializable(package: str = "Custom", name: str | None = None) -> Callable[[Any], Any]:
    """Register a class or function, as a decorator, so that saved models which name it can be loaded."""

    def register(thing: Any) -> Any:
        if isinstance(thing, type) and not hasattr(thing, "get_config"):
            raise ValueError(f"Cannot register a class that does not have a get_config() method: {thing.__name__}")
        _registered[f"{package}>{name or thing.__name__}"] = thing
        return thing

    return register


def get_custom_objects() -> dict[str, Any]:
    """The classes and functions that are registered."""
    return _registered


@contextlib.contextmanager
def custom_object_scope(custom_objects: Mapping[str, Any]) -> Iterator[None]:
    """While it lasts, configurations may name these classes and functions."""
    _scopes.append(custom_objects)
    try:
        yield
    finally:
        _scopes.pop()
