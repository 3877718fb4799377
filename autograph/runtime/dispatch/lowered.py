"""The code of a graph, to look at."""

from __future__ import annotations

from typing import Any


class Lowered:
    """The code that an engine made of a graph. `print` shows all of it.

    The machine code of a loop is made when it is first run, or asked for here; that of the engine "auto", which waits
    until it pays, only shows once it is there.

    Attributes:
        engine: its name.
        source: the text of the Python function that runs, in which loops of machine code are calls.
    """

    def __init__(self, engine: str, source: str, native: Any = None) -> None:
        self.engine = engine
        self.source = source
        self._native = native

    @property
    def llvm(self) -> str:
        """The machine code of its loops, if the engine makes any, as LLVM's assembly."""
        return self.to_llvm()

    @property
    def asm(self) -> str:
        """The same, as the processor's assembly."""
        return self.to_asm()

    def to_llvm(self, places: bool = False) -> str:
        """LLVM's assembly; with `places`, the user's lines stand above what comes from them."""
        return self._code("llvm", places)

    def to_asm(self, places: bool = False) -> str:
        """The processor's assembly; with `places`, the user's lines stand above what comes from them."""
        return self._code("asm", places)

    def _code(self, form: str, places: bool) -> str:
        if self._native is None:
            return ""
        self._native.prepare()
        return str(self._native.annotated(form) if places else getattr(self._native, form))

    def __str__(self) -> str:
        code = self.to_llvm(places=True)
        return f"{self.source}\n{code}" if code else self.source

    def __repr__(self) -> str:
        return f"<lowered for the engine {self.engine}; print it to see the code>"
