"""Scopes of names: `with tf.name_scope("encoder")` puts `encoder/` in front of the names of variables made there."""

from __future__ import annotations

import threading
from typing import Any


class _Scopes(threading.local):
    def __init__(self) -> None:
        self.stack: list[str] = []


_scopes = _Scopes()


def prefixed(name: str) -> str:
    """A name with those of the scopes around it in front."""
    return "/".join((*_scopes.stack, name))


class name_scope:
    """A part of the program with a name of its own."""

    def __init__(self, name: Any = "", *args: Any, **kwargs: Any) -> None:
        self.name = str(name or "").rstrip("/")
        self._before: list[list[str]] = []

    def __enter__(self) -> str:
        self._before.append(_scopes.stack)
        _scopes.stack = [*_scopes.stack, self.name] if self.name else []
        return "/".join((*_scopes.stack, ""))

    def __exit__(self, *raised: Any) -> None:
        _scopes.stack = self._before.pop()
