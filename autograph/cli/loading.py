"""The user's functions themselves, rather than their text: their file is imported."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from autograph.cli import traces
from autograph.cli.failure import BadSyntax, Failure, did_you_mean


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
