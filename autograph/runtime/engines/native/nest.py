"""From operations on whole arrays to one nest of loops.

The operations are done element by element, so that what comes between them is never an array. There are two functions:

    row     the innermost loop, over the last dimension, in which elements lie side by side or are one and the same; of
            this LLVM makes vectors, see `rows`
    loop    those around it, and what the processor says of floats: the flags that are raised; see `around`

The last operation may be a sum, over the last dimension or over all, of what the others come to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autograph.runtime.engines.native.rows import Rows
from autograph.runtime.graph import Constant, Node, Place, Value
from autograph.runtime.operands import DTYPES, NoLowering, Number
from autograph.runtime.ops.inner import LOOPS, converted, truth
from autograph.runtime.types import BOOL, FLOAT, TensorType

SUMS = frozenset({"np.sum", ".sum"})
RAISING = frozenset({"exp", "add", "subtract", "multiply", "divide", "reciprocal", "square", "sqrt"})


@dataclass(frozen=True, slots=True)
class Stream:
    """An array that is gone through.

    Attributes:
        ndim: its dimensions; of none, it is a number.
        steps: whether the next element of a row stands next to the one before; else it is the same one.
    """

    dtype: np.dtype[Any]
    ndim: int
    steps: bool


@dataclass(frozen=True, slots=True)
class Single:
    """A Python number or NumPy scalar.

    Attributes:
        known: its value, if it is a constant.
    """

    type: TensorType
    known: Any = None


@dataclass(frozen=True, slots=True)
class Element:
    """What a value is in one turn.

    Attributes:
        streams: the arrays that it comes from.
    """

    number: Number
    streams: frozenset[int]


@dataclass(frozen=True, slots=True)
class Sum:
    """What a sum is over: all elements, or the last of several dimensions."""

    whole: bool
    keepdims: bool = False


class Nest:
    """Loops for some nodes, and inputs of certain kinds.

    Attributes:
        streams: the arrays, those that come out first.
        singles: the numbers, with constants.
        dtypes: of what comes out.
        sources: the arrays that each of these comes from.
        ranges: which numbers must fit into which dtypes of integers.
        depth: how many loops there are around a row.
        sum: of the last of what comes out, if that is one.
    """

    def __init__(
        self, nodes: Sequence[Node], inputs: dict[Any, Stream | Single], outputs: Sequence[Value], ndim: int
    ) -> None:
        self.depth = max(ndim - 1, 0)
        self.sum = sum_of(nodes[-1])
        given = [kind for kind in inputs.values() if isinstance(kind, Stream)]
        self._outs = len(outputs)
        self.streams = [Stream(np.dtype(bool), ndim, True)] * self._outs + given
        self.singles = [kind for kind in inputs.values() if isinstance(kind, Single)]
        self.ranges: set[tuple[int, np.dtype[Any]]] = set()
        self._emit = emit = Rows(lambda: "never")
        emit.begin("turn")
        self._values: dict[Any, Element] = {}
        self._places: dict[str, int] = {}       # of the numbers, among `singles`
        self._load(inputs)
        for node in nodes:
            emit.come_from(node.place)
            self._values[node.output] = self._done(node)
        self._pin(nodes, outputs)
        found = [self._values[value] for value in outputs]
        self.dtypes = [each.number.type.dtype for each in found]
        self.sources = [each.streams for each in found]
        for place, each in enumerate(found):
            self.streams[place] = Stream(self.dtypes[place], ndim, True)
            emit.store_next(f"%s{place}", self.dtypes[place], each.number)

    @property
    def is_float(self) -> bool:
        """Whether any flags may be raised."""
        return self._emit.floats

    @property
    def origins(self) -> list[Place]:
        """See `Memory`."""
        return self._emit.origins

    # Slots of the frame -----------------------------------------------------------------------------------------------

    def single(self, place: int) -> int:
        return len(self.streams) + place

    def length(self, axis: int) -> int:
        """Of an axis but the last."""
        return len(self.streams) + len(self.singles) + axis

    def stride(self, stream: int, axis: int) -> int:
        return self.length(self.depth) + 1 + stream * self.depth + axis

    @property
    def slots(self) -> int:
        return self.stride(len(self.streams), 0)

    # Elements ---------------------------------------------------------------------------------------------------------

    def _load(self, inputs: dict[Any, Stream | Single]) -> None:
        stream, single = self._outs, 0
        for key, kind in inputs.items():
            if isinstance(kind, Stream):
                number = self._emit.load_next(f"%s{stream}", kind.dtype, kind.steps)
                self._values[key] = Element(number, frozenset({stream} if kind.ndim else ()))
                stream += 1
            else:
                ref = self._emit.argument(self.single(single), kind.type.dtype)
                self._values[key] = Element(Number(kind.type, ref, kind.known), frozenset())
                self._places[ref] = single
                single += 1

    def _done(self, node: Node) -> Element:
        args = [self._values[key_of(arg)] for arg in operands(node)]
        numbers = [each.number for each in args]
        streams = frozenset().union(*(each.streams for each in args))
        if not streams:
            raise NoLowering        # numbers, of which Python takes care
        return Element(self._computed(node, numbers), streams)

    def _computed(self, node: Node, numbers: list[Number]) -> Number:
        emit = self._emit
        if node.op == "np.where":
            condition, *branches = numbers
            dtype = np.result_type(*map(_stand_in, branches))
            return emit.select(truth(emit, condition), *(self._as(each, dtype) for each in branches))
        if node.op == ".astype":
            return self._as(numbers[0], np.dtype(node.args[1]))
        if node.op in SUMS:
            return self._as(numbers[0], np.add.reduce(np.zeros(1, numbers[0].type.dtype)).dtype)
        loop = LOOPS["np.square" if node.op == "pow" else node.op]
        *wanted, result = loop.dtypes(*map(_promotes, numbers))
        if len(set(wanted)) > 1:
            raise NoLowering
        found = loop.rule(emit, *(self._as(each, dtype) for each, dtype in zip(numbers, wanted)))
        if found.type.dtype != result:
            raise NoLowering
        return found

    def _as(self, x: Number, dtype: np.dtype[Any]) -> Number:
        """A number as another dtype; a Python number as NumPy makes an element of it."""
        dtype = known_dtype(dtype)
        if x.type.kind != "python" or x.type.dtype == dtype:
            return replace(converted(self._emit, x, dtype), known=x.known)
        if dtype.kind in "iu" and x.type.dtype.kind == "i":
            if x.known is not None and not np.iinfo(dtype).min <= x.known <= np.iinfo(dtype).max:
                raise NoLowering
            self.ranges.add((self._places[x.ref], dtype))
        by_way_of = converted(self._emit, x, FLOAT.dtype) if dtype.kind == "f" else x
        found = converted(self._emit, by_way_of, dtype)
        if dtype == np.float32:
            self._emit.pin(found)
        return replace(found, known=x.known)

    def _pin(self, nodes: Sequence[Node], outputs: Sequence[Value]) -> None:
        """Let all that may raise flags be computed, even if what comes of it is chosen from, or compared with."""
        raising = {node.output for node in nodes if self._raises(node)}
        needed = {*outputs, *(value for node in nodes if node.output in raising for value in node.inputs)}
        for node in nodes:
            if node.output in raising - needed:
                self._emit.pin(self._values[node.output].number)

    def _raises(self, node: Node) -> bool:
        of_float = any(self._values[key_of(arg)].number.type.dtype.kind == "f" for arg in operands(node))
        if node.op in SUMS:
            return False        # they are stored
        if node.op == ".astype":
            return of_float and self._values[node.output].number.type.dtype.kind != "b"
        ufunc = "square" if node.op == "pow" else LOOPS[node.op].ufunc.__name__ if node.op in LOOPS else ""
        return ufunc in RAISING and self._values[node.output].number.type.dtype.kind == "f"

    # Text -------------------------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The function `row`."""
        count = len(self.streams)
        params = [f"ptr {'noalias ' * (place < self._outs)}%s{place}" for place in range(count)]
        return self._emit.row(", ".join([*params, "ptr %frame", "i64 %n"]))


def operands(node: Node) -> tuple[Any, ...]:
    """The arguments of a node that are arrays and numbers."""
    return node.args[:1] if node.op in (".astype", "pow", *SUMS) else node.args


def sum_of(node: Node) -> Sum | None:
    """What a node sums over, if it is a sum that a nest can end with."""
    if node.op not in SUMS or not isinstance(node.args[0], Value) or not isinstance(node.args[0].type, TensorType):
        return None
    options = {"axis": None, "keepdims": False, **dict(zip(["axis"], node.args[1:])), **node.kwargs}
    axis, keepdims, ndim = options.pop("axis"), options.pop("keepdims"), node.args[0].type.ndim
    if options or len(node.args) > 2 or type(keepdims) is not bool or type(axis) not in (int, type(None)):
        return None
    if axis is None or (ndim == 1 and axis in (0, -1)):
        return None if keepdims else Sum(True)
    return Sum(False, keepdims) if axis in (-1, ndim - 1) else None


def key_of(arg: Any) -> Any:
    """What tells an argument from others: a value, or a constant."""
    if isinstance(arg, (Value, Constant)):
        return arg
    return id(arg) if isinstance(arg, np.ndarray) else (type(arg), repr(arg))


def known_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The same dtype as `DTYPES` has it."""
    found = DTYPES.get(dtype.char) if dtype.isnative else None
    if found is None:
        raise NoLowering
    return found


def _promotes(x: Number) -> Any:
    """As what a number takes part in finding the dtypes of a loop."""
    return type(x.type.dtype.type(0).item()) if _is_weak(x) else x.type.dtype


def _stand_in(x: Number) -> Any:
    return x.type.dtype.type(0).item() if _is_weak(x) else x.type.dtype


def _is_weak(x: Number) -> bool:
    return x.type.kind == "python" and x.type != BOOL
