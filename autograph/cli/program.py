"""Runs a program as `python` does, with modules converted as they are imported."""

from __future__ import annotations

import atexit
import importlib.util
import os
import pkgutil
import sys
from dataclasses import dataclass
from importlib.machinery import BuiltinImporter, ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

import click
from click.shell_completion import CompletionItem

from autograph import importing
from autograph.cli import traces
from autograph.cli.failure import Failure, did_you_mean, similar_file

MAIN = "__main__"


class ProgramType(click.Path):
    """SCRIPT, or MODULE after -m."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        if not ctx.params.get("is_module"):
            return super().shell_complete(ctx, param, incomplete)
        return [CompletionItem(name) for name in _modules() if name.startswith(incomplete)]


def _modules() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules() if not module.name.startswith("_"))


@dataclass(frozen=True)
class Program:
    """A script, folder, archive or module to run, its arguments, and the patterns of modules to convert."""

    target: str
    is_module: bool
    arguments: tuple[str, ...]
    patterns: tuple[str, ...]

    def run(self) -> None:
        """Run it as `__main__`; its exceptions are raised, and will be shown without the frames of this library."""
        hook = importing.install(self.patterns)
        module = sys.modules[MAIN] = ModuleType(MAIN)
        vars(module).update(__annotations__={}, __builtins__=sys.modules["builtins"])
        sys.argv[:] = ["-m" if self.is_module else self.target, *self.arguments]
        if not getattr(sys.flags, "safe_path", sys.flags.isolated):
            folder = "" if self.target == "-" else os.path.dirname(os.path.realpath(self.target))
            sys.path[0] = os.getcwd() if self.is_module else folder
        try:
            code = self._load(module, hook)
            atexit.register(_tell_what_was_not_converted, hook)
            exec(code, vars(module))
        except SystemExit:
            raise
        except BaseException as error:
            atexit.unregister(_tell_what_was_not_converted)  # it may have come to that
            traces.hide_library(error)
            raise

    def _load(self, module: ModuleType, hook: importing.Hook) -> CodeType:
        """The program's code; `module` gets the names that Python gives its `__main__`."""
        if self.is_module:
            spec = _find(self.target)
            sys.argv[0] = str(spec.origin)
            return _module_code(spec, module, hook)
        if self.target == "-":
            vars(module).update(__file__="<stdin>", __cached__=None, __loader__=BuiltinImporter)
            return _script_code(sys.stdin.buffer.read(), module, hook)
        path = os.path.join(os.getcwd(), self.target)  # as Python does, which does not tidy it up
        if (inside := PathFinder.find_spec(MAIN, [path])) is not None:
            sys.path[0] = path  # a folder or an archive is where its program finds its modules
            return _module_code(inside, module, hook)
        vars(module).update(__file__=path, __cached__=None, __loader__=SourceFileLoader(MAIN, path))
        return _script_code(self._read(path), module, hook)

    def _read(self, path: str) -> bytes:
        if os.path.isdir(path):
            raise Failure(f"cannot run the folder {self.target!r}: there is no __main__.py in it")
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            hint = similar_file(self.target) if isinstance(error, FileNotFoundError) else ""
            raise Failure(f"cannot open {self.target!r}: {error.strerror}{hint}") from error


def _script_code(data: bytes, module: ModuleType, hook: importing.Hook) -> CodeType:
    filename = str(module.__file__)
    if not hook.matches(MAIN):
        return compile(data, filename, "exec", dont_inherit=True)
    if isinstance(module.__loader__, SourceFileLoader):
        module.__loader__ = importing.ConvertingLoader(MAIN, filename, hook)
    code, hook.modules[MAIN] = importing.compile_converted(data, filename)
    return code


def _module_code(spec: ModuleSpec, module: ModuleType, hook: importing.Hook) -> CodeType:
    if hook.matches(MAIN) and not isinstance(spec.loader, importing.ConvertingLoader):
        spec = hook.adopt(spec)
    get_code = getattr(spec.loader, "get_code", None)
    code: CodeType | None = get_code(spec.name) if get_code else None
    if code is None:
        raise Failure(f"cannot run {spec.name!r}: it has no Python code")
    if isinstance(spec.loader, importing.ConvertingLoader):
        hook.modules[MAIN] = hook.modules[spec.name]
    elif spec.name in hook.left_alone:
        hook.left_alone[MAIN] = hook.left_alone[spec.name]
    names = {"file": spec.origin, "cached": spec.cached, "loader": spec.loader, "package": spec.parent, "spec": spec}
    vars(module).update({f"__{name}__": value for name, value in names.items()})
    return code


def _find(name: str) -> ModuleSpec:
    """The module that `python -m name` runs; the packages around it are imported."""
    if not name or name.startswith("."):
        raise Failure(f"cannot run {name!r}: give the full name of a module")
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise Failure(f"cannot run {name!r}: {error.msg}") from error
    if spec is None:
        hint = did_you_mean(name, _modules(), alike=0.8)
        raise Failure(f"cannot run {name!r}: there is no module of this name{hint}")
    if spec.submodule_search_locations is None:
        return spec
    if importlib.util.find_spec(f"{name}.{MAIN}") is None:
        raise Failure(f"cannot run the package {name!r}: it has no module {MAIN}")
    return _find(f"{name}.{MAIN}")


def _tell_what_was_not_converted(hook: importing.Hook) -> None:
    """A pattern for which nothing was converted is probably a mistake."""
    for pattern in hook.patterns:
        matches = importing.Hook([pattern]).matches
        if any(map(matches, hook.modules)) or sys.__stderr__ is None:
            continue
        alone = [f"{name}: {why}" for name, why in hook.left_alone.items() if matches(name)]
        why = "; ".join(alone) or "no module of this name was imported"
        print(f"autograph: nothing was converted for {pattern!r} ({why})", file=sys.__stderr__)
