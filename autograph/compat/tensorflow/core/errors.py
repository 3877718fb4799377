"""The errors of TensorFlow's runtime, `tf.errors`; and what NumPy's errors come to."""

from __future__ import annotations

import re
from typing import Any, NoReturn


class OpError(Exception):
    """The base of what ops raise. It is made of a message, or as TensorFlow makes it: of node, op and message."""

    def __init__(self, node_def: Any = None, op: Any = None, message: Any = None, error_code: Any = None) -> None:
        self.node_def, self.op, self.error_code = node_def, op, error_code
        self.message = str(node_def) if message is None else message
        super().__init__(self.message)


class AbortedError(OpError):
    """The operation was aborted."""


class AlreadyExistsError(OpError):
    """What was to be made is there already."""


class CancelledError(OpError):
    """The operation was cancelled."""


class DataLossError(OpError):
    """Data was lost or corrupted."""


class DeadlineExceededError(OpError):
    """It took too long."""


class FailedPreconditionError(OpError):
    """The system is not in the state that the operation needs."""


class InternalError(OpError):
    """Something is broken inside."""


class InvalidArgumentError(OpError):
    """An op was given what it cannot take."""


class NotFoundError(OpError):
    """Something that was asked for is not there."""


class OutOfRangeError(OpError):
    """An iteration went past the end."""


class PermissionDeniedError(OpError):
    """It is not allowed."""


class ResourceExhaustedError(OpError):
    """There is not enough of something, such as memory."""


class UnavailableError(OpError):
    """What is needed is not there at the moment."""


class UnimplementedError(OpError):
    """Nobody has implemented that."""


class UnknownError(OpError):
    """Something else."""


class OperatorNotAllowedInGraphError(TypeError):
    """Python needs the value of a tensor that is known only when the graph runs."""


class InaccessibleTensorError(ValueError):
    """A tensor is used outside of the function, branch or loop that it was made in."""


def raised_by(error: Exception, op: str = "") -> Exception:
    """What an error that NumPy raised comes to."""
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
    """Raise what an error of NumPy's comes to."""
    found = raised_by(error, op)
    if found is error:
        raise error
    raise found from None
