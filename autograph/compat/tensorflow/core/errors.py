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


class AbortedError(OpError):
    """The operation was aborted."""


class AlreadyExistsError(OpError):
    """The object to make exists already."""


class CancelledError(OpError):
    """The operation was cancelled."""


class DataLossError(OpError):
    """Data was lost or corrupted."""


class DeadlineExceededError(OpError):
    """The operation took too long."""


class FailedPreconditionError(OpError):
    """The system is not in the state that the operation needs."""


class InternalError(OpError):
    """An internal invariant does not hold."""


class InvalidArgumentError(OpError):
    """An argument of an op is invalid."""


class NotFoundError(OpError):
    """An object that was asked for does not exist."""


class OutOfRangeError(OpError):
    """An iteration went past the end."""


class PermissionDeniedError(OpError):
    """The operation is not allowed."""


class ResourceExhaustedError(OpError):
    """There is not enough of something, such as memory."""


class UnavailableError(OpError):
    """A service is not available at the moment."""


class UnimplementedError(OpError):
    """The operation is not implemented."""


class UnknownError(OpError):
    """The cause is not known."""


class OperatorNotAllowedInGraphError(TypeError):
    """Python needs the value of a tensor that is known only when the graph runs."""


class InaccessibleTensorError(ValueError):
    """A tensor is used outside of the function, branch or loop that it was made in."""


def raised_by(error: Exception, op: str = "") -> Exception:
    """The error of TensorFlow for one that NumPy raised."""
    suffix = f" [Op:{op}]" if op else ""
    if isinstance(error, (IndexError, ValueError)) and not isinstance(error, OpError):
        text = str(error)
        if "broadcast" in text:
            text = f"required broadcastable shapes ({text})"
        found = re.fullmatch(r"index (-?\d+) is out of bounds for axis (\d+) with size \d+", text)
        if found and op in ("", "StridedSlice"):
            text = f"slice index {found[1]} of dimension {found[2]} out of bounds."
        return InvalidArgumentError(None, None, f"{text}{suffix}")
    if isinstance(error, ZeroDivisionError):
        return InvalidArgumentError(None, None, f"Integer division by zero{suffix}")
    return error


def reraise(error: Exception, op: str = "") -> NoReturn:
    """Raise the error of TensorFlow for one that NumPy raised."""
    found = raised_by(error, op)
    if found is error:
        raise error
    raise found from None
