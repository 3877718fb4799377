"""Where the user's program is while it is traced."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from autograph.libraries import is_own
from autograph.runtime.graph import Place


class Whereabouts:
    """Tells the place of what is recorded."""

    def __init__(self) -> None:
        self._root: FrameType | None = None
        self._placed: Place | None = None

    def start_from(self, frame: FrameType | None) -> None:
        """Places are told from `frame` inwards, which is not the user's; None where there are none any more."""
        self._root = frame

    def place(self) -> Place:
        """Where the user's program is."""
        if self._placed is not None:
            return self._placed
        found = []
        root = self._root
        frame: FrameType | None = sys._getframe(1) if root is not None else None  # before it starts, it is nowhere
        while frame is not None and frame is not root:
            code = frame.f_code
            if not is_own(code.co_filename):
                found.append((code, frame.f_lasti))
            frame = frame.f_back
        found.reverse()
        return tuple(found)

    @property
    def reversing(self) -> bool:
        """Whether what is recorded is the reverse of something."""
        return self._placed is not None

    @contextmanager
    def placed(self, place: Place) -> Iterator[None]:
        """While it lasts, what is recorded comes from `place`."""
        before, self._placed = self._placed, place
        try:
            yield
        finally:
            self._placed = before
