"""The bar that shows how far training is."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

_WIDTH = 30


class Progress:
    """A line that is written over again and again on a terminal, and once, at the end, elsewhere.

    Args:
        shown: whether there is any.
    """

    def __init__(self, shown: bool) -> None:
        self._shown = shown
        self._start = time.perf_counter()
        self._done = 0
        self._last = 0.0

    def show(self, done: int, total: int | None, values: Mapping[str, Any]) -> None:
        """So many steps are done, of so many."""
        self._done = done
        now = time.perf_counter()
        if not self._shown or not sys.stdout.isatty() or now - self._last < 0.05:
            return
        self._last = now
        filled = _WIDTH if total is None else _WIDTH * done // total
        bar = "=" * max(filled - 1, 0) + (">" if total is None or done < total else "=")
        left = "" if total is None else f" - ETA: {(now - self._start) / done * (total - done):.0f}s"
        print(f"\r{done}/{total or 'Unknown'} [{bar.ljust(_WIDTH, '.')}]{left}{_told(values)}", end="", flush=True)

    def end(self, values: Mapping[str, Any]) -> None:
        """All is done."""
        if not self._shown:
            return
        seconds = time.perf_counter() - self._start
        each = seconds / max(self._done, 1)
        pace = f"{each:.0f}s" if each >= 1 else f"{each * 1e3:.0f}ms" if each >= 1e-3 else f"{each * 1e6:.0f}us"
        start = "\r" if sys.stdout.isatty() else ""
        print(f"{start}{self._done}/{self._done} [{'=' * _WIDTH}] - {seconds:.0f}s {pace}/step{_told(values)}")


def _told(values: Mapping[str, Any]) -> str:
    return "".join(f" - {name}: {float(value):.4f}" for name, value in values.items())
