"""Errors that a user can act on: each carries the user's file and line."""

from __future__ import annotations


class AutographError(Exception):
    """Base of every error this library raises on its own behalf.

    Args:
        message: what went wrong, what was expected and how to mend it.
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
    """The source of a function cannot be had, or is not the source of the running code."""


class ConversionError(AutographError):
    """A piece of code cannot be converted at all (never: 'was left plain')."""
