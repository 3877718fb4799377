"""What a nest of loops goes through."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograph.runtime.engines.native.libmath.ufunc_loops import Loop
from autograph.runtime.graph.graph import Place
from autograph.runtime.graph.operands import Complex, Number
from autograph.runtime.graph.types import TensorType


@dataclass(frozen=True, slots=True)
class Stream:
    """An array that is gone through.

    Attributes:
        ndim: its dimensions; of none, it is a number.
        steps: whether a row has more elements than one; else it is the same one each time.
        apart: whether the next one stands further away than next to the one before.
    """

    dtype: np.dtype[Any]
    ndim: int
    steps: bool
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Single:
    """A Python number or NumPy scalar.

    Attributes:
        known: its value, if it is a constant.
    """

    type: TensorType
    known: Any = None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a loop of NumPy's, or of one in its place, behind a stage.

    Attributes:
        streams: where its operands and its result are.
        steps: how far it is there from one element to the next.
        place: where it is in the user's code.
    """

    loop: Loop
    streams: tuple[int, ...]
    steps: tuple[int, ...]
    place: Place


@dataclass(slots=True)
class Element:
    """What a value is in one turn.

    Attributes:
        streams: the arrays that it comes from.
        stage: the first stage that can use it.
        numbers: what it is in which stages.
        home: where its elements are kept for other stages, if they are: an array, or a block of the scratch.
        raises: whether computing it may raise flags.
    """

    type: TensorType
    known: Any
    streams: frozenset[int]
    stage: int = 0
    numbers: dict[int, Number | Complex] = field(default_factory=dict)
    home: int | None = None
    raises: bool = False
