"""Errors that a user can act on: each carries the user's file and line."""

from __future__ import annotations


class AutographError(Exception):
    """Base of every error this library raises on its own behalf.

    Args:
        message: the problem, its cause, and how to solve it.
        filename: the user's file, where one is concerned.
        lineno: the line in that file, counted from 1.
    """

    def __init__(self, message: str, filename: str | None = None, lineno: int | None = None) -> None:
        super().__init__(message, filename, lineno)
        self.message = message
        self.filename = filename
        self.lineno = lineno

    def __str__(self) -> str:
        if self.filename is None:
            return self.message
        place = self.filename if self.lineno is None else f"{self.filename}:{self.lineno}"
        return f"{place}: {self.message}"


class SourceError(AutographError):
    """The source of a function is not available, or is not the source of the running code."""


class StagingError(AutographError):
    """Code cannot be staged.

    It needs a value that is known only when the graph runs, or uses a construct that the backend does not stage. The
    message says how to write it instead.
    """


class TracingError(AutographError):
    """A call cannot be traced, or has no graph because it runs as plain Python."""


class InternalError(AutographError):
    """This library has a bug: it neither traced a call, nor reported a reason. Please report it."""


class StrictError(AutographError):
    """A function staged with `strict=` met something that `strict=` forbids."""


class SignatureError(AutographError, TypeError):
    """Arguments do not fit the `input_signature=` of a function, or the call that a concrete function is for."""


class EngineError(AutographError):
    """The chosen engine is not installed, or cannot run a graph."""


class BackendError(AutographError):
    """A backend that a distribution offers cannot be loaded or registered."""


class DerivativeError(AutographError):
    """A gradient cannot be computed.

    An operation has no derivative, or the result or a differentiated input is not a float.
    """


class UnstagedDerivativeError(DerivativeError, StrictError):
    """A gradient is wanted of a function that runs as plain Python; only staged code has derivatives."""


class SaveError(AutographError):
    """A function or object cannot be saved. The message says why, with the user's line."""


class LoadError(AutographError):
    """A directory cannot be loaded.

    It is damaged, was changed, has another format or a newer version, or asks for something that is not allowed.
    """


class DrawingError(AutographError):
    """The picture of a graph cannot be drawn: Graphviz is not installed, or fails."""


class SourceWarning(UserWarning):
    """A staged function runs as plain Python, because its source is missing, or is not that of the running code."""


class RetraceWarning(UserWarning):
    """A function was traced so often that tracing takes most of the time."""
