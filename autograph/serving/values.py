"""Plain data, such as JSON has, as arguments of saved functions; and their results as plain data.

An input is a parameter of the function, by its name. Its value has the structure of the argument: a list for an array,
an object for a dict. Nothing is converted that would change a value: fractions are no integers, and an array of NumPy
must have the dtype of the signature. In rows, all arrays get one more axis, the first, over the examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter
from typing import Any, TypeAlias

import numpy as np

from autograph.errors import AutographError
from autograph.runtime.graph.signature import Dynamic, Leaf, Signature, Static
from autograph.runtime.graph.types import PYTHON_TYPES, TensorType
from autograph.saving.contents import parameters_of, signatures_of
from autograph.saving.loaded import LoadedFunction

Call: TypeAlias = tuple[list[Any], dict[str, Any]]
# The kinds of arrays that lists may become, by the kind of the wanted dtype; empty lists are of any kind.
_KINDS = {"b": "b", "i": "iu", "u": "iu", "f": "iuf", "c": "iufc", "U": "U", "M": "U", "m": "i"}


class InputError(AutographError):
    """The inputs do not fit a function, or its results have no form that was asked for."""


class Inputs:
    """The inputs of a loaded function.

    Attributes:
        calls: for each signature its inputs by name, as texts of their types.
    """

    def __init__(self, path: str, function: LoadedFunction) -> None:
        self.path = path
        self.function = function
        self._signatures = [_Inputs(each.signature, parameters_of(function)) for each in signatures_of(function)]
        self.calls = [each.types() for each in self._signatures]

    @property
    def only(self) -> str:
        """The name of the only input.

        Raises:
            InputError: there are several, or none.
        """
        names = {tuple(each.parts) for each in self._signatures}
        if len(names) != 1 or len(*names) != 1:
            raise InputError(f"{self.path} has several inputs, so give them by name: {self._written()}")
        return next(iter(*names))

    def arguments(self, given: Mapping[str, Any], rows: bool = False) -> Call:
        """The arguments of a call, for the first signature that they fit.

        Args:
            given: the inputs by name: plain data or arrays.
            rows: whether each is a list over examples.

        Raises:
            InputError: they fit none.
        """
        reasons = []
        for each in self._signatures:
            try:
                return each.arguments(given, rows)
            except InputError as error:
                reasons.append(str(error))
        if len(reasons) == 1:
            raise InputError(reasons[0])
        raise InputError(f"{self.path} takes other inputs: {'; '.join(dict.fromkeys(reasons))}")

    def unknown(self, names: Mapping[str, Any]) -> list[str]:
        """The names that are none of an input."""
        known = {name for each in self._signatures for name in each.parts}
        return [name for name in names if name not in known]

    def names(self) -> list[str]:
        """The names of the inputs of all signatures."""
        return [*dict.fromkeys(name for each in self._signatures for name in each.parts)]

    def _written(self) -> str:
        return " or ".join(f"({', '.join(f'{name}: {type}' for name, type in call.items())})" for call in self.calls)


class _Inputs:
    """The inputs of one signature: for each name a structure with numbers of leaves."""

    def __init__(self, signature: Signature, parameters: list[Parameter]) -> None:
        self.signature = signature
        positional = [each for each in parameters if each.kind in _POSITIONAL]
        rest = next((each.name for each in parameters if each.kind is Parameter.VAR_POSITIONAL), "")
        args, kwargs = signature.tree
        names = [
            positional[place].name if place < len(positional) else f"{rest}[{place - len(positional)}]"
            for place in range(len(args))
        ]
        self.count = len(args)
        self.parts: dict[str, Any] = {**dict(zip(names, args)), **kwargs}
        self.defaults = {each.name: each.default for each in parameters if each.default is not Parameter.empty}

    def types(self) -> dict[str, str]:
        return {name: self._type(part) for name, part in self.parts.items()}

    def _type(self, part: Any) -> str:
        if type(part) is int:
            return str(self.signature.leaves[part])
        if isinstance(part, dict):
            return f"{{{', '.join(f'{key!r}: {self._type(each)}' for key, each in part.items())}}}"
        return f"({', '.join(map(self._type, part))})"

    def arguments(self, given: Mapping[str, Any], rows: bool) -> Call:
        for name in given:
            if name not in self.parts:
                raise InputError(f"there is no input {name!r}; there are: {', '.join(self.parts) or 'none'}")
        values = [self._input(name, part, given, rows) for name, part in self.parts.items()]
        return values[: self.count], dict(zip([*self.parts][self.count :], values[self.count :]))

    def _input(self, name: str, part: Any, given: Mapping[str, Any], rows: bool) -> Any:
        if name in given:
            return self._build(part, given[name], name, rows)
        if name in self.defaults:
            return self.defaults[name]
        if type(part) is int and isinstance(leaf := self.signature.leaves[part], Static):
            return leaf.value
        raise InputError(f"the input {name!r} is missing, which is {self._type(part)}")

    def _build(self, part: Any, value: Any, path: str, rows: bool) -> Any:
        """The argument of a value, in the structure of the signature."""
        if type(part) is int:
            return _leaf(self.signature.leaves[part], value, path, rows)
        fields = getattr(type(part), "_fields", None)
        inner = part if isinstance(part, dict) else dict(zip(fields or range(len(part)), part))
        values = _columns(value, inner, path) if rows else _items(value, inner, path)
        built = [self._build(each, values[key], f"{path}[{key!r}]", rows) for key, each in inner.items()]
        if isinstance(part, dict):
            return dict(zip(inner, built))
        return tuple.__new__(type(part), built) if fields else type(part)(built)


_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def _items(value: Any, inner: Mapping[Any, Any], path: str) -> dict[Any, Any]:
    """The parts of a value, for those of a structure."""
    if isinstance(value, (list, tuple)) and len(value) == len(inner) and [*inner] == [*range(len(inner))]:
        return dict(enumerate(value))
    if isinstance(value, dict) and {str(key) for key in value} == {str(key) for key in inner}:
        return {key: value[key] if key in value else value[str(key)] for key in inner}
    raise InputError(f"`{path}` has the parts {', '.join(map(str, inner))}, and the value is {_described(value)}")


def _columns(rows: list[Any], inner: Mapping[Any, Any], path: str) -> dict[Any, Any]:
    """For each part of a structure its values in all examples."""
    found = [_items(row, inner, path) for row in rows]
    return {key: [row[key] for row in found] for key in inner}


def _leaf(leaf: Leaf, value: Any, path: str, rows: bool) -> Any:
    if isinstance(leaf, Dynamic) and isinstance(leaf.type, TensorType):
        if leaf.type.kind == "array":
            return _array(leaf.type, value, path)
        if rows:
            raise InputError(f"`{path}` is one number ({leaf.type}) for all instances: send `inputs` instead")
        return _number(leaf.type, value, path)
    if rows:
        value, *others = value
        if any(each != value for each in others):
            raise InputError(f"`{path}` must be the same in all instances")
    if isinstance(leaf, Static):
        if type(value) is type(leaf.value) and value == leaf.value:
            return leaf.value
        raise InputError(f"`{path}` is a part of the signature, and must be {leaf.value!r}")
    if str(leaf.type) == "str" and isinstance(value, str):
        return value
    raise InputError(f"`{path}` is {leaf.described}, which plain data cannot give")


def _array(wanted: TensorType, value: Any, path: str) -> Any:
    """The array of a value: itself, if it is one."""
    found = value if isinstance(value, np.ndarray) else _from_list(wanted, value, path)
    fits = found.dtype == wanted.dtype and found.ndim == wanted.ndim
    if not fits or any(length not in (None, own) for length, own in zip(wanted.shape, found.shape)):
        raise InputError(f"`{path}` is {TensorType(found.dtype, found.shape)}, and not {wanted}")
    return found


def _from_list(wanted: TensorType, value: Any, path: str) -> Any:
    try:
        found = np.array(value)
        if found.dtype.kind in _KINDS.get(wanted.dtype.kind, "") or found.size == 0:
            with np.errstate(over="raise"):
                return found.astype(wanted.dtype) if found.dtype.kind != "i" else np.array(value, wanted.dtype)
    except (ValueError, TypeError, OverflowError, FloatingPointError) as error:
        raise InputError(f"`{path}` is no array {wanted}: {error}") from error
    raise InputError(f"`{path}` is {_described(value)}, which is no array {wanted}")


def _number(wanted: TensorType, value: Any, path: str) -> Any:
    """A number of Python or NumPy."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item() if wanted.kind == "python" or value.dtype == wanted.dtype else value[()]
    kind = PYTHON_TYPES.get(wanted.dtype) if wanted.kind == "python" else None
    if kind is None and wanted.kind != "python":
        return _from_list(wanted, value, path)[()] if np.ndim(value) == 0 else _array(wanted, value, path)
    allowed = _NUMBERS.get(kind, ())
    if not isinstance(value, allowed) or (isinstance(value, bool) and kind is not bool):
        raise InputError(f"`{path}` is {_described(value)}, and not a number {wanted}")
    return (kind or type(value))(value)


_NUMBERS: dict[Any, Any] = {int: int, float: (int, float), complex: (int, float, complex), bool: bool}


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return str(TensorType(value.dtype, value.shape))
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


# Results --------------------------------------------------------------------------------------------------------------


def named(result: Any) -> Any:
    """The outputs of a result by name, if there are several; else the only one."""
    if isinstance(result, tuple):
        fields = getattr(type(result), "_fields", None)
        result = dict(zip(fields or [f"output_{place}" for place in range(len(result))], result))
    if isinstance(result, dict) and len(result) == 1:
        (result,) = result.values()
    return result


def outputs(result: Any) -> dict[str, Any]:
    """The arrays and numbers of a result by name.

    Raises:
        InputError: it has other parts.
    """
    found = named(result)
    found = found if isinstance(found, dict) else {"output_0": found}
    for name, part in found.items():
        if not isinstance(part, (np.ndarray, np.generic, bool, int, float, complex)):
            raise InputError(f"the result {name!r} is no array or number, but of class {type(part).__name__}")
    return {str(name): part for name, part in found.items()}


def plain(result: Any) -> Any:
    """A result as JSON has it: arrays are lists.

    Raises:
        InputError: it has no such form.
    """
    if isinstance(result, (np.ndarray, np.generic)) and result.dtype.kind in "biufU":
        return result.tolist()
    if isinstance(result, (np.ndarray, np.generic)) and result.dtype.kind in "Mm":
        return result.astype(str).tolist()
    if result is None or isinstance(result, (bool, int, float, str)):
        return result
    if isinstance(result, dict):
        return {str(key): plain(part) for key, part in result.items()}
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return {name: plain(part) for name, part in zip(result._fields, result)}
    if isinstance(result, (list, tuple)):
        return [plain(part) for part in result]
    kind = result.dtype if isinstance(result, (np.ndarray, np.generic)) else type(result).__name__
    raise InputError(f"a result of type {kind} has no form in JSON; ask for an array in the format .npy instead")


def in_rows(result: Any, count: int) -> list[Any]:
    """The results for each of the examples, as JSON has them.

    Raises:
        InputError: a part of it is not an array over the examples.
    """
    if isinstance(result, dict):
        columns = {str(key): in_rows(part, count) for key, part in result.items()}
        return [dict(zip(columns, row)) for row in zip(*columns.values())]
    if isinstance(result, (list, tuple)) and result:
        parts = [in_rows(part, count) for part in result]
        return [[*row] for row in zip(*parts)]
    if not isinstance(result, np.ndarray) or result.ndim == 0 or len(result) != count:
        what = TensorType(result.dtype, result.shape) if isinstance(result, np.ndarray) else type(result).__name__
        raise InputError(f"a result is {what}, and has no entry for each of {count} instances: send `inputs` instead")
    found: list[Any] = plain(result)
    return found
