"""The errors of a command, one line each."""

from __future__ import annotations

import difflib
import os
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any, NoReturn

import click


class Failure(click.ClickException):
    """One clear line on stderr, or for a syntax error the place in the user's file, and exit status 2."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"autograph: {self.format_message()}", err=True)

    def exit(self) -> NoReturn:
        """Say it, and end the process."""
        self.show()
        raise SystemExit(self.exit_code)


@contextmanager
def attempt(doing: str, path: object) -> Iterator[None]:
    """Convert an error of the system to a failure: "cannot write 'out.py': Permission denied".

    Args:
        doing: "read" or "write".
    """
    try:
        yield
    except OSError as error:
        raise Failure(f"cannot {doing} {str(path)!r}: {error.strerror}") from error


def did_you_mean(name: str, choices: Iterable[str], alike: float = 0.6) -> str:
    """A hint at the choice that looks most like a name that is none; empty if no choice does."""
    close = difflib.get_close_matches(name, list(choices), n=1, cutoff=alike)
    return f". Did you mean {close[0]}?" if close else ""


def similar_file(path: str) -> str:
    """A hint at the file that looks most like one that is not there."""
    folder = os.path.dirname(path)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return ""
    return did_you_mean(path, [os.path.join(folder, name) for name in names])


class TooDeep(Failure):
    """A file that is nested too deeply for Python itself, or for this library."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} is nested too deeply to be parsed: split its longest expression or block up")


class BadSyntax(Failure):
    """A syntax error in the user's file, shown as Python shows it."""

    def __init__(self, error: SyntaxError) -> None:
        super().__init__("".join(traceback.format_exception_only(type(error), error)).rstrip())

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(self.format_message(), err=True)
