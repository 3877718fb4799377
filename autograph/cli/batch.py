"""Going through many files: what fails in one is reported, the others are still done, and progress is shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from autograph.cli import display

T = TypeVar("T")
R = TypeVar("R")


class Batch:
    """The files of one command, and how many of them failed.

    Args:
        alone: whether the user named one file only, so that its failure is the command's.
        quiet: whether the command prints to standard output while it works, so that a bar would be in the way there.
    """

    def __init__(self, alone: bool = False, quiet: bool = False) -> None:
        self.alone = alone
        self.failed = 0
        console = Console(stderr=True)
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
        hidden = alone or not console.is_terminal or (quiet and display.in_colour())
        self._progress = Progress(*columns, console=console, transient=True, disable=hidden)

    def each(self, work: Callable[[T], R], items: Collection[T], description: str = "Converting") -> Iterator[R]:
        """What `work` makes of each item that does not fail.

        Raises:
            click.ClickException: the only item fails.
        """
        with self._progress:
            for item in self._progress.track(items, description=description):
                try:
                    result = work(item)
                except click.ClickException as error:
                    if self.alone:
                        raise
                    self.fail(error)
                    continue
                yield result

    def fail(self, error: click.ClickException) -> None:
        """Report what failed, and go on."""
        self.failed += 1
        error.show()

    @property
    def status(self) -> int:
        """The exit status of the command."""
        return 1 if self.failed else 0
