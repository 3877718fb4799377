"""What handles ask of the trace that made them; `Trace` does it all.

It is said apart from `Trace`, because that makes handles, and so has to import them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn, Protocol

from autograph.errors import StagingError
from autograph.runtime.graph.graph import Place
from autograph.runtime.graph.types import Type


class Recorder(Protocol):
    """What records what is done with handles."""

    closed: bool
    held: list[Any]
    classes: dict[Any, type]
    maybe_methods: dict[Any, tuple[Any, str]]
    called_methods: dict[Any, None]
    call: Callable[[Any], Any]

    def place(self) -> Place: ...

    def record(self, op: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any: ...

    def record_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

    def record_ufunc(self, ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

    def check_names(self, function: str, given: tuple[Any, ...], is_method: bool) -> None: ...

    def strayed(self, tensor: Any, place: Place) -> StagingError: ...

    def unpack(self, tensor: Any, count: int) -> tuple[Any, ...]: ...

    def unpack_starred(self, tensor: Any, before: int, after: int) -> Iterator[Any]: ...

    def spread_items(self, tensor: Any) -> Iterator[Any]: ...

    def is_all(self, key: Any) -> bool: ...

    def type_of(self, tensor: Any) -> Type: ...

    def class_of(self, tensor: Any) -> type: ...

    def constant(self, value: Any) -> Any: ...

    def materialise(self, container: Any) -> Any: ...

    def needs(self, tensor: Any, use: str, asked: bool = False) -> NoReturn: ...

    def formatted(self, tensor: Any, conversion: str, spec: str) -> str: ...

    def retyped(self, tensor: Any) -> None: ...
