"""What a command says when it cannot do what it was asked."""

from __future__ import annotations

import traceback
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


class BadSyntax(Failure):
    """A syntax error in the user's file, shown as Python shows it."""

    def __init__(self, error: SyntaxError) -> None:
        super().__init__("".join(traceback.format_exception_only(type(error), error)).rstrip())

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(self.format_message(), err=True)
