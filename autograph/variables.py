"""Variables: arrays that are changed in place, and that functions, modules and optimizers share.

A variable is an ordinary object that holds one array, and writes into it. So staging needs no special case for it: its
methods are traced like the user's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from autograph.common.pytree import Within, resolve

if TYPE_CHECKING:
    from typing_extensions import Self


class Variable(NDArrayOperatorsMixin):
    """A mutable array: `assign`, `v[i] = x`, `v += x` and the like change it in place.

    Args:
        initial: anything that `np.array` takes; it is copied.
        trainable: whether it is one of the trainable variables of a module, which optimizers change.
        name: shown in errors and by `repr`.
        dtype: of the array; by default that of `initial`.

    Attributes:
        value: the array itself; it is always the same one.

    Example:
        >>> v = ag.Variable([1.0, 2.0], name="v")
        >>> v[0] = 5
        >>> v.assign_add(1)
        Variable(array([6., 3.]), name='v')
        >>> float(np.sum(v * 2))
        18.0
    """

    __ag_apart__ = True  # lists of variables are traced item by item, however long they are

    def __init__(self, initial: Any, trainable: bool = True, name: str | None = None, dtype: Any = None) -> None:
        self.value: np.ndarray[Any, Any] = np.array(initial, dtype=dtype)
        self.trainable = trainable
        self.name = name

    @property
    def shape(self) -> Any:
        return self.value.shape

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    @property
    def ndim(self) -> int:
        return self.value.ndim

    @property
    def size(self) -> int:
        return self.value.size

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy of the array."""
        return np.copy(self.value)

    # Changes ----------------------------------------------------------------------------------------------------------

    def assign(self, value: Any) -> Self:
        """Set all elements.

        Args:
            value: an array of the same shape.

        Returns:
            the variable.

        Raises:
            ValueError: the shapes differ.
            TypeError: the dtype cannot hold values of the dtype of `value`, as integers cannot hold fractions.
        """
        value = _array(value)
        if np.shape(value) != self.value.shape:
            raise ValueError(self._refusal("assigned", f"an array of shape {np.shape(value)}"))
        self._check_dtype("assigned", value)
        self.value[...] = value
        return self

    def assign_add(self, value: Any) -> Self:
        """Add an array.

        Args:
            value: an array or number, which is broadcast.

        Returns:
            the variable.

        Raises:
            ValueError: it cannot be broadcast to the shape of the variable.
            TypeError: as for `assign`.
        """
        self.value += self._checked("added", value)
        return self

    def assign_sub(self, value: Any) -> Self:
        """Subtract an array.

        Args:
            value: an array or number, which is broadcast.

        Returns:
            the variable.

        Raises:
            ValueError: it cannot be broadcast to the shape of the variable.
            TypeError: as for `assign`.
        """
        self.value -= self._checked("subtracted", value)
        return self

    def _checked(self, verb: str, value: Any) -> Any:
        value = _array(value)
        shape = np.shape(value)
        if shape != self.value.shape and not _is_broadcast(shape, self.value.shape):
            raise ValueError(self._refusal(verb, f"an array of shape {shape}"))
        self._check_dtype(verb, value)
        return value

    def _check_dtype(self, verb: str, value: Any) -> None:
        dtype = np.result_type(self.value, value)
        if not np.can_cast(dtype, self.value.dtype, "same_kind"):
            raise TypeError(self._refusal(verb, f"values of dtype {dtype}"))

    def _refusal(self, verb: str, what: str) -> str:
        name = f"the variable {self.name!r}" if self.name is not None else "a variable"
        preposition = "from" if verb == "subtracted" else "to"
        return f"{what} cannot be {verb} {preposition} {name} of shape {self.value.shape} and dtype {self.value.dtype}"

    # As an array ------------------------------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.value, dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        arrays = [array_of(each) for each in inputs]
        if out is None:
            return function(*arrays, **kwargs)
        function(*arrays, out=tuple([array_of(each) for each in out]), **kwargs)
        return out[0] if len(out) == 1 else out

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*_arrays_in(args), **_arrays_in(kwargs))

    def __getattr__(self, name: str) -> Any:
        """Other attributes of arrays: `v.sum()`, `v.reshape(-1)`, `v.flat`."""
        if name.startswith("_") or name == "value":  # a variable that is being made has no value yet
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.value, name)

    def __getitem__(self, index: Any) -> Any:
        return self.value[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.value[index] = value

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value)

    def __contains__(self, element: Any) -> bool:
        return element in self.value

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __complex__(self) -> complex:
        return complex(self.value)

    def __index__(self) -> int:
        return self.value.__index__()

    __hash__ = object.__hash__

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def __repr__(self) -> str:
        text = np.array_repr(self.value).replace("\n", "\n" + " " * len("Variable("))
        name = f", name={self.name!r}" if self.name is not None else ""
        return f"Variable({text}{name}{'' if self.trainable else ', trainable=False'})"


class _AsItIs:
    """A function that traces call and do not trace into. It takes values of the graph for arrays.

    If such a value is a variable when the graph runs, as an item of a list may be, NumPy converts it.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def __call__(self, value: Any) -> Any:
        return self._function(value)

    def __ag_traced__(self, trace: Any) -> Callable[[Any], Any]:
        return self._function


@_AsItIs
def array_of(value: Any) -> Any:
    """The array of a variable; other values are returned as they are."""
    return value.value if issubclass(type(value), Variable) else value  # `isinstance` would read `__class__`


def _array(value: Any) -> Any:
    """Convert lists and variables to arrays. Python numbers stay, so that they adopt the dtype of the other operand."""
    return np.asarray(value) if _is_sequence(value) else value


@_AsItIs
def _is_sequence(value: Any) -> bool:
    return issubclass(type(value), (list, tuple, Variable))


def _is_broadcast(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether NumPy can broadcast one shape to another."""
    return len(shape) <= len(wanted) and all(shape[-n] in (1, wanted[-n]) for n in range(1, len(shape) + 1))


def _arrays_in(args: Any) -> Any:
    """Replace the variables in arguments by their arrays."""
    return resolve(_array_in, args)


def _array_in(args: Any) -> Any:
    if isinstance(args, Variable):
        return args.value
    if isinstance(args, (list, tuple)):
        return Within(zip(args), type(args))
    if isinstance(args, dict):
        return Within(zip(args.values()), lambda made: dict(zip(args, made)))
    return args
