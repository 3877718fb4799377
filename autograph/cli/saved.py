"""Directories of `ag.save` on the command line: naming them and their functions."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from autograph.cli.failure import Failure, did_you_mean, similar_file
from autograph.cli.files import Target, TargetType

if TYPE_CHECKING:
    from autograph.saving.contents import Contents, SavedFunction


def is_saved(path: str) -> bool:
    """Whether a folder is a saved object."""
    return os.path.isfile(os.path.join(path, "graph.json"))


class SavedType(click.ParamType):  # type: ignore[type-arg]  # has a parameter since click 8.4
    """DIR[:SIGNATURE]"""

    name = "saved"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Target:
        if isinstance(value, Target):
            return value
        path, name = (value, None) if os.path.isdir(value) else value.rpartition(":")[::2]
        path = path or value
        if not os.path.isdir(path):
            what = "a file" if os.path.exists(path) else "not there"
            raise click.UsageError(f"{path!r} is {what}: name a directory of ag.save{similar_file(path)}", ctx)
        return Target(path, name)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="dir")]


class SourceOrSaved(TargetType):
    """FILE[:QUALNAME] or DIR[:SIGNATURE]"""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Target:
        if isinstance(value, str) and any(map(is_saved, (value, value.rpartition(":")[0]))):
            return SavedType().convert(value, param, ctx)
        return super().convert(value, param, ctx)


DIRECTORY = click.Path(exists=True, file_okay=False, path_type=Path)    # of a saved object


@contextmanager
def reported() -> Iterator[None]:
    """Convert errors of this library, and missing packages of its extras, to failures."""
    from autograph.errors import AutographError

    try:
        yield
    except (AutographError, ImportError) as error:
        raise Failure(str(error)) from error


def described(path: str | Path) -> Contents:
    """The contents of a directory.

    Raises:
        Failure: it is not one of `ag.save`, or is damaged.
    """
    with reported():
        from autograph.saving.contents import contents_of

        return contents_of(path)


def check_callbacks(found: Contents, allowed: Collection[str]) -> None:
    """Check that the user allows the Python functions and classes that loading imports.

    Raises:
        Failure: one is not allowed.
    """
    for name in found.callbacks:
        if name not in allowed:
            what = f"the saved graphs call {name}, which is Python code of its own"
            raise Failure(f"{what}: if you trust it, allow it with --allow-callbacks {name}")


def named(found: Contents, target: Target) -> SavedFunction:
    """The function that the user named, or the default one.

    Raises:
        Failure: there is none.
    """
    try:
        return found.function(target.qualname)
    except LookupError as error:
        hint = did_you_mean(target.qualname or "", [each.path for each in found.functions])
        raise Failure(f"{target.path}: {error.args[0]}{hint}") from None
