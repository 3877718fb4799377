"""The user's functions themselves, rather than their text: their file is imported, or they are in a saved directory."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from autograph.cli import traces
from autograph.cli.failure import BadSyntax, Failure, did_you_mean, similar_file
from autograph.cli.files import Target, TargetType

if TYPE_CHECKING:
    from autograph.saving.contents import Contents, SavedFunction


def load(path: str, qualname: str) -> Any:
    """The object of this name in a file, which is imported; its output meanwhile goes to stderr.

    Raises:
        Failure: the file cannot be imported, or there is nothing of this name in it.
    """
    with contextlib.redirect_stdout(sys.stderr):
        found: Any = _module(path)
        for number, name in enumerate(parts := qualname.split(".")):
            try:
                found = getattr(found, name)
            except AttributeError:
                where = ".".join(parts[:number])
                inside = f"{where} in {path}" if where else path
                names = [".".join([*parts[:number], each]) for each in dir(found) if each[:2] != "__"]
                hint = did_you_mean(".".join(parts[: number + 1]), names)
                raise Failure(f"there is no {name!r} in {inside}{hint}") from None
    return found


def _module(path: str) -> ModuleType:
    """Import a file as the module that it is: by itself, or in its package."""
    file = Path(path).resolve()
    folder, parts = file.parent, [file.stem]
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    sys.path[:0] = [str(folder)]
    try:
        for number in range(1, len(parts)):
            importlib.import_module(".".join(parts[:number]))
        return _execute(_free_name(".".join(parts), file), file)
    except SyntaxError as error:
        raise BadSyntax(error) from error
    except (Exception, SystemExit) as error:
        shown = traces.of_the_program(error.__traceback__)
        shown_error = "".join(traceback.format_exception(type(error), error, shown)).rstrip()
        raise Failure(f"{path} cannot be imported:\n{shown_error}") from error


def _free_name(name: str, file: Path) -> str:
    """The name of a module, with underscores behind it where modules of other files have that name."""
    while (module := sys.modules.get(name)) is not None:
        origin = getattr(module, "__file__", None) or ""
        if os.path.exists(origin) and os.path.samefile(origin, file):
            break
        name += "_"
    return name


def _execute(name: str, file: Path) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise Failure(f"{str(file)!r} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


# Saved directories ----------------------------------------------------------------------------------------------------


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
