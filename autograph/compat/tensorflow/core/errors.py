"""The errors of TensorFlow's runtime, `tf.errors`, and the translation of NumPy's errors."""

from __future__ import annotations

import re
from typing import Any, NoReturn


class OpError(Exception):
    """The base class of errors of ops. It takes a message, or, as in TensorFlow, a node, an op and a message."""

    def __init__(self, node_def: Any = None, op: Any = None, message: Any = None, error_code: Any = None) -> None:
        self.node_def, self.op, self.error_code = node_def, op, error_code
        self.message = str(node_def) if message is None else message
        super().__init__(self.message)


def _error(name: str, meaning: str) -> type[OpError]:
    return type(name, (OpError,), {"__doc__": meaning, "__module__": __name__})


AbortedError = _error("AbortedError", "The operation was aborted.")
AlreadyExistsError = _error("AlreadyExistsError", "The object to make exists already.")
CancelledError = _error("CancelledError", "The operation was cancelled.")
DataLossError = _error("DataLossError", "Data was lost or corrupted.")
DeadlineExceededError = _error("DeadlineExceededError", "The operation took too long.")
FailedPreconditionError = _error("FailedPreconditionError", "The system is not in the state that the operation needs.")
InternalError = _error("InternalError", "An internal invariant does not hold.")
InvalidArgumentError = _error("InvalidArgumentError", "An argument of an op is invalid.")
NotFoundError = _error("NotFoundError", "An object that was asked for does not exist.")
OutOfRangeError = _error("OutOfRangeError", "An iteration went past the end.")
PermissionDeniedError = _error("PermissionDeniedError", "The operation is not allowed.")
ResourceExhaustedError = _error("ResourceExhaustedError", "A resource, such as memory, is exhausted.")
UnavailableError = _error("UnavailableError", "A service is not available at the moment.")
UnimplementedError = _error("UnimplementedError", "The operation is not implemented.")
UnknownError = _error("UnknownError", "The cause is not known.")


class OperatorNotAllowedInGraphError(TypeError):
    """Python needs the value of a tensor whose value only a run of the graph gives."""


class InaccessibleTensorError(ValueError, TypeError):
    """A tensor is used outside of the function, branch or loop that made it."""


def raised_by(error: Exception, op: str = "") -> Exception:
    """Translate an error of NumPy to the error that TensorFlow raises."""
    suffix = f" [Op:{op}]" if op else ""
    if isinstance(error, (IndexError, ValueError)) and not isinstance(error, OpError):
        text = str(error)
        if "broadcast" in text:
            text = f"required broadcastable shapes ({text})"
        if text.startswith("negative dimensions"):
            text = "Dimensions must be >= 0"
        core = re.search(r"core dimension .*\(size (\d+) is different from (\d+)\)", text)
        if core:
            text = f"Matrix size-incompatible: the inner dimensions of In[0] and In[1] are {core[2]} and {core[1]}"
        match = re.fullmatch(r"index (-?\d+) is out of bounds for axis (\d+) with size \d+", text)
        if match and op in ("", "StridedSlice"):
            text = f"slice index {match[1]} of dimension {match[2]} out of bounds."
        return InvalidArgumentError(None, None, f"{text}{suffix}")
    if isinstance(error, ZeroDivisionError):
        return InvalidArgumentError(None, None, f"Integer division by zero{suffix}")
    return error


_OF_PYTHON = (
    ((ValueError, TypeError), InvalidArgumentError), (StopIteration, OutOfRangeError),
    (MemoryError, ResourceExhaustedError), (NotImplementedError, UnimplementedError),
)  # fmt: skip


def raised_by_python(error: Exception) -> Exception:
    """The error that TensorFlow raises for an error of Python code that a graph or dataset calls."""
    if isinstance(error, OpError):
        return error
    kind = next((kind for classes, kind in _OF_PYTHON if isinstance(error, classes)), UnknownError)
    return kind(f"{type(error).__name__}: {error}")


def reraise(error: Exception, op: str = "") -> NoReturn:
    """Raise the error of TensorFlow that corresponds to one of NumPy."""
    translated = raised_by(error, op)
    if translated is error:
        raise error
    raise translated from None
