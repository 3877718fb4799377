"""Registers backends once the program has imported the libraries that they serve.

A distribution offers a backend by an entry point. Its name is the module that the backend serves, and its value a
function without parameters that registers the backend:

    [project.entry-points."autograph.backends"]
    mylibrary = "mypackage.backend:register"

`import autograph` imports neither module. From the first use of `ag.convert` on, a finder in `sys.meta_path`, which
finds nothing, learns of the import of these libraries. The next call of a function of `ag.convert` registers the
backend.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from autograph.common import forking
from autograph.common.line_tables import without_lines
from autograph.errors import BackendError
from autograph.operators import backend

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "autograph.backends"
# Backends of this library, as in an entry point: by the module that each serves, the function that registers it.
OWN: dict[str, str] = {"jax": "autograph.backends.jax:register"}


class _Finder:
    """Learns of imports of the libraries that backends serve."""

    @without_lines
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Find nothing, so that the other finders are asked."""
        if name in _awaited and _IMPORTED not in backend.WATCHED:
            backend.WATCHED.replace([*backend.WATCHED, _IMPORTED])


class _Imported:
    """The state that is watched while a library is imported whose backend is not registered yet."""

    @property
    def value(self) -> bool:
        """Register the backends; return whether any of them traces."""
        others = [watch for watch in backend.WATCHED if watch is not _IMPORTED]
        if not any(name in sys.modules and not _is_complete(name) for name in _awaited):
            backend.WATCHED.replace(others)
        register_available()
        return any(watch for watch in backend.WATCHED if watch is not _IMPORTED)


_FINDER, _IMPORTED = _Finder(), backend.Watch(None, _Imported())


def watch_imports() -> None:
    """Register the backends of the libraries that the program has imported, and of those that it will import."""
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
        register_available()


def register_available() -> None:
    """Register the backends of all libraries that the program has imported.

    If there are none that are not registered yet, this takes about as long as two calls of a function. The first call
    searches the installed distributions for entry points.

    Raises:
        BackendError: a backend cannot be loaded or registered. The next call tries it again.

    Example:
        >>> from autograph.backends import discovery
        >>> discovery.register_available()
    """
    for module in _awaited:
        if module in sys.modules and _is_complete(module):
            return _call_pending()


def _is_complete(module: str) -> bool:
    """Whether a module in `sys.modules` is one, and not still being imported."""
    found = sys.modules[module]
    return found is not None and not getattr(getattr(found, "__spec__", None), "_initializing", False)


def _call_pending() -> None:
    global _awaited
    with _lock:
        for module in [name for name in _awaited if name in sys.modules and _is_complete(name)]:
            calls = _pending[module]
            while calls:
                call = calls.pop(0)     # first: it may run converted code, which comes here again
                try:
                    call()
                except BaseException:
                    calls.insert(0, call)
                    raise
        _awaited = tuple(name for name, calls in _pending.items() if calls)
    register_available()    # what has been found now may be imported already


def _find() -> None:
    """Add the backends that this library and the installed distributions offer."""
    from importlib.metadata import EntryPoint, entry_points

    offered = [EntryPoint(module, function, GROUP) for module, function in OWN.items()]
    for point in [*offered, *sorted(entry_points(group=GROUP), key=_distribution)]:
        _pending.setdefault(point.name, []).append(partial(_register, point))


def _distribution(point: EntryPoint) -> str:
    return "autograph-py" if point.dist is None else point.dist.name


def _register(point: EntryPoint) -> None:
    try:
        point.load()()
    except Exception as error:
        raise BackendError(
            f"the distribution {_distribution(point)} offers the backend {point.value} for {point.name}, which cannot "
            f"be registered ({type(error).__name__}: {error}). Upgrade or uninstall that distribution"
        ) from error


# By module, the functions to call once it is imported. This library's own row is there at first: it finds the others.
_pending: dict[str, list[Callable[[], None]]] = {__name__.partition(".")[0]: [_find]}
_awaited = tuple(_pending)
_lock = forking.lock()
