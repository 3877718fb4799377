"""From operations on whole arrays to one nest of loops.

The operations are done element by element, so that what comes between them is never an array. There are two functions:

    row     the innermost loop, over the last dimension, in which elements lie side by side or are one and the same; of
            this LLVM makes vectors, see `inner_loop`
    loop    those around it, and what the processor says of floats: the flags that are raised; see `loop_codegen`

The last operation may be a sum or the like, over the last dimension or over all, of what the others come to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autograph.runtime.engines.native.kernels.elementwise import (
    how_of,
    key_of,
    loop_of_node,
    operands,
    part_of_node,
    reduction_of,
)
from autograph.runtime.engines.native.kernels.in_place import may_overlap, target_of
from autograph.runtime.engines.native.kernels.inner_loop import Stage
from autograph.runtime.engines.native.kernels.operands import Call, Element, Single, Slots, Stream, places
from autograph.runtime.engines.native.libmath.ufunc_loops import Loop, loop_of, quotient
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.operands import Complex, NoLowering, Number
from autograph.runtime.graph.traits import CASTS, MASKS, SELECTS
from autograph.runtime.graph.types import FLOAT, TensorType, part_of, scalar
from autograph.runtime.ops.native.complex_numbers import part
from autograph.runtime.ops.native.complex_rules import parts_of, real, selected, truth
from autograph.runtime.ops.native.number_rules import Inner, converted, is_weak, known_dtype, promotes

RAISING = frozenset({"add", "subtract", "multiply", "divide", "reciprocal", "square", "sqrt"})
PRODUCTS = np.multiply, np.square


class Nest(Slots):
    """Loops for some nodes, and inputs of certain kinds.

    Attributes:
        number: which of several phases it is, from 1 on (see `multi_nest`); its functions' names begin with `name`.
        streams: the arrays, those that come out first.
        dtypes: of what comes out.
        sources: the arrays that each of these comes from.
        ranges: which numbers must fit into which dtypes of integers.
        depth: how many loops there are around a row.
        reduction: of the last of what comes out, if that is one.
        target: among the arrays that come in the one that the last node writes into; `written` is where it stands in
            front of them, among those that come out, and behind it the log, if there must be one; -1 if it does not.
        buffered: whether what is written goes into a copy-out buffer until all has been read, see `in_place`.
        once: whether what is written is read before, so that it must not be computed again.
        beside: arrays of which the rows are those of others, from another byte on: which, and how far.
        below: arrays that seem to be other rows of others: which, how many rows and bytes further on.
        within: inputs that lie where something that comes out will be: where that stands.
        iterations: the slot that says how often all of it is done to a block, see `schedule`; -1 if it is done
            once.
        carried: the arrays that come in which the first of these iterations begins with: what comes out goes on from
            them.
        most: how many elements there may be.
        several: of complex products the arrays that they come from: NumPy may round them otherwise if there is but one.
        ordered: arrays from which `.astype` takes the order of its axes, in which those of no stride are the last.
        direct: where what is reduced lies already: in an array that came in, or that comes out.
        scratch: the dtypes of blocks that keep elements from one stage to the next; they come behind the streams.
        calls: of NumPy's loops, behind each stage.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        inputs: dict[Any, Stream | Single],
        outputs: Sequence[Value],
        ndim: int,
        number: int = 0,
        within: Mapping[Any, Value] | None = None,
        iterations: Value | None = None,
    ) -> None:
        self.number, self.name = number, f"phase{number}_" if number else ""
        self.depth, self.reduction = max(ndim - 1, 0), reduction_of(nodes[-1])
        self.most, self.once = 2**62, bool(within)
        self.beside: dict[int, tuple[int, int]] = {}
        self.below: dict[int, tuple[int, int, int]] = {}
        self.direct: int | None = None
        self.ordered, self.several = set[int](), list[frozenset[int]]()
        given = [kind for kind in inputs.values() if isinstance(kind, Stream)]
        target = target_of(nodes[-1])
        computed = nodes if target is None else nodes[:-1]
        outputs = [value for value in outputs if target is None or value not in nodes[-1].outputs]
        self.target, self.written = -1, -1 if target is None else len(outputs)
        self.buffered = target is not None and may_overlap(target, [key for key in inputs if isinstance(key, Value)])
        self._outs = {value: place for place, value in enumerate(outputs)}
        self.within = {key: self._outs[value] for key, value in (within or {}).items()}
        own = [kind.dtype for key, kind in inputs.items() if key is target and isinstance(kind, Stream)]
        types = () if self.buffered else (*given, *(node.output.type for node in computed))
        own *= 1 + any(isinstance(type, (Stream, TensorType)) and type.dtype.kind in "fc" for type in types)
        self.streams = [Stream(dtype, ndim, True) for dtype in [np.dtype(bool)] * len(outputs) + own] + given
        if own and not self.buffered:
            self.streams[self.written] = replace(self.streams[self.written], apart=inputs[target].apart)  # type: ignore
        self.numbers = places(inputs.values())
        self.ranges: set[tuple[int, np.dtype[Any]]] = set()
        self.scratch, self.calls = list[np.dtype[Any]](), list[list[Call]]()
        self.stages: list[Stage] = []
        self._add_stage()
        self._values: dict[Any, Element] = {}
        self._places: dict[Any, int] = {}       # of the inputs, among streams or `singles`
        self._needed = set(outputs)
        self._copies: dict[tuple[Any, str], tuple[int, int]] = {}
        self._take(inputs, target, len(outputs) + len(own))
        for node in computed:
            self._values[node.output] = self._done(node)
        new = None if target is None else self._done(nodes[-1])
        self._pin([node.output for node in computed])
        self._store(outputs, ndim)
        if new is not None:
            self._write(nodes[-1], new, own)
        self.iterations = -1 if iterations is None else self.single(self._places[iterations])
        self.carried = {} if iterations is None else self._carried(ndim)

    @property
    def is_float(self) -> bool:
        """Whether any flags may be raised."""
        of_floats = self.reduction is not None and self.dtypes[-1].kind == "f"
        return of_floats or len(self.stages) > 1 or self.stages[0].floats

    @property
    def reduced(self) -> int | None:
        """Where the result of the reduction is among the arrays, if there is one."""
        return None if self.reduction is None else len(self.dtypes) - 1

    def neighbors(self, row: int) -> list[tuple[int, int, int]]:
        """Where each array is in a row behind another one: so many rows and bytes behind the first one of which array.

        This is what slices tell; see `below`.
        """
        found = []
        for stream in range(len(self.streams)):
            beside, far = self.beside.get(stream, (stream, 0))
            leader, rows, by = self.below.get(beside, (beside, 0, 0))
            found.append((leader, row + rows, by + far))
        return found

    def rows(self, count: int) -> list[tuple[int, int]]:
        """All rows that so many neighbors have: of which array, and how many behind the first one."""
        return list(dict.fromkeys(place[:2] for row in range(count) for place in self.neighbors(row)))

    @property
    def by_vectors(self) -> bool:
        """Whether what is combined at a time is also computed at a time, as LLVM makes vectors of it."""
        known = all(call.loop.define and all(call.steps) for calls in self.calls for call in calls)
        combines = self.reduction is not None and self.direct is None
        return combines and known and not any(each.apart for each in self.streams)

    @property
    def is_steady(self) -> bool:
        """Whether an array of one element is as good as any."""
        return not self.several and all(call.loop.steady for calls in self.calls for call in calls)

    @property
    def cost(self) -> int:
        """Of an element, in tenths of nanoseconds, more or less."""
        called = [48 if call.loop.costly else 8 for calls in self.calls for call in calls]
        return len(self._values) // 2 + len(self.streams) + sum(called)

    # What becomes of values -------------------------------------------------------------------------------------------

    def _pin(self, values: Sequence[Value]) -> None:
        """Compute what may raise flags, if nothing else needs it."""
        for value in values:
            element = self._values[value]
            if element.raises and value not in self._needed:
                for part in parts_of(self._number(value, element.stage)):
                    self.stages[element.stage].emit.pinned.append(part.ref)

    def _store(self, outputs: Sequence[Value], ndim: int) -> None:
        """Let the stages store what comes out."""
        found = [self._values[value] for value in outputs]
        self.dtypes = [each.type.dtype for each in found]
        self.sources = [each.streams for each in found]
        for place, (value, each) in enumerate(zip(outputs, found)):
            self.streams[place] = Stream(self.dtypes[place], ndim, True)
            if each.home != place:
                self.stages[each.stage].store(self.dtypes[place], self._number(value, each.stage), place)

    def _write(self, node: Node, new: Element, own: Sequence[np.dtype[Any]]) -> None:
        """Let the last stage write, behind all that reads what is there."""
        if not own:
            raise NoLowering        # a number
        key, stage, dtype = object(), len(self.stages) - 1, own[0]
        if node.op != "setitem" and not np.can_cast(new.type.dtype, dtype, "same_kind"):
            raise NoLowering        # which NumPy will raise
        self._values[key] = new
        number = self._as(self._number(key, stage), dtype, stage)
        self.once = not self.buffered and (len(own) > 1 or bool(self._values[node.args[0]].numbers))
        for place, each in enumerate([number, *([self._number(node.args[0], stage)] * (len(own) - 1))], self.written):
            self.stages[stage].store(dtype, each, *self._place(place, stage))
        self.dtypes = [*self.dtypes, *own]
        self.sources += [self._values[node.args[0]].streams] * len(own)
        if len(own) == 1 and self.is_float and not self.buffered:
            raise NoLowering

    def _carried(self, ndim: int) -> dict[int, int]:
        """See `carried`. One iteration must give what the next can begin with."""
        found = {place: out for key, out in self.within.items() for place in self._values[key].streams}
        given = [self.streams[place] for place in found]
        fit = all(each.steps and not each.apart and each.ndim >= ndim for each in given)
        same = [each.dtype for each in given] == [self.dtypes[out] for out in found.values()]
        if len(self.stages) > 1 or len(found) < len(self.within) or not (fit and same):
            raise NoLowering
        return found

    # Elements ---------------------------------------------------------------------------------------------------------

    def _add_stage(self) -> None:
        self.stages.append(Stage(f"{self.name}row{len(self.stages)}"))
        self.calls.append([])

    def _take(self, inputs: dict[Any, Stream | Single], target: Any, first: int) -> None:
        stream, single = first, 0
        for key, kind in inputs.items():
            if isinstance(kind, Stream):
                streams = frozenset({stream} if kind.ndim else ())
                self.target = stream if key is target else self.target
                home = self.written if key is target and not self.buffered else self.within.get(key, stream)
                self._values[key] = Element(scalar(kind.dtype), None, streams, home=home)
                stream += 1
            else:
                self._values[key] = Element(kind.type, kind.known, frozenset())
                self._places[key] = single
                single += places([kind])

    def _number(self, key: Any, stage: int) -> Number | Complex:
        """What a value is in a stage, where it is loaded if it comes from elsewhere."""
        element, loop = self._values[key], self.stages[stage]
        if stage not in element.numbers:
            if key in self._places:
                element.numbers[stage] = loop.given(self.single(self._places[key]), element.type, element.known)
            else:
                if element.home is None:
                    element.home, _ = self._kept(key, element.type.dtype, element.stage)
                found = loop.load(element.type.dtype, *self._place(element.home, stage))
                element.numbers[stage] = replace(found, type=element.type)
        return element.numbers[stage]

    def _kept(self, key: Any, dtype: np.dtype[Any], stage: int) -> tuple[int, int]:
        """Keep a value, as a dtype, in memory. Gives where, and how far it is there from one to the next."""
        element, loop = self._values[key], self.stages[stage]
        if element.home is not None and element.type.dtype == dtype and not self._apart(element.home):
            return element.home, dtype.itemsize * self._steps(element.home)
        if (key, dtype.char) not in self._copies:
            steps, is_out = bool(element.streams), key in self._outs and element.type.dtype == dtype
            with loop.at_once(not steps):
                number = self._as(self._number(key, stage), dtype, stage)
                home = self._outs[key] if is_out else self._new_block(dtype)
                element.home = home if is_out else element.home
                loop.store(dtype, number, home, steps)
            self._copies[key, dtype.char] = home, dtype.itemsize * steps
        return self._copies[key, dtype.char]

    def _new_block(self, dtype: np.dtype[Any]) -> int:
        self.scratch.append(dtype)
        return len(self.streams) + len(self.scratch) - 1

    def _steps(self, home: int) -> bool:
        return home >= len(self.streams) or self.streams[home].steps

    def _apart(self, home: int) -> bool:
        return home < len(self.streams) and self.streams[home].apart

    def _place(self, home: int, stage: int) -> tuple[int, bool, ir.Value | None]:
        """Where elements are: the first, whether there are more, and how far it is to the next, if that is known."""
        step = self.stages[stage].slot(self.step(home)) if self._apart(home) else None
        return home, self._steps(home), step

    def _done(self, node: Node) -> Element:
        keys = [key_of(arg) for arg in operands(node)]
        args = [self._values[key] for key in keys]
        streams: frozenset[int] = frozenset().union(*(each.streams for each in args))
        if not streams:
            raise NoLowering        # numbers, of which Python takes care
        stage = max(each.stage for each in args)
        self.stages[stage].emit.b.place = node.place
        if node.op == "setitem":
            self._needed.update(node.inputs)
            return self._values[keys[0]]
        if loop := loop_of_node(node):
            dtypes = loop.dtypes(*(promotes(each.type) for each in args))
            known = tuple(map(known_dtype, dtypes))
            if self._shares(loop, keys) and (own := quotient()):
                return self._called(own, node, keys, known, streams, stage)
            try:
                number = self._computed(loop, [self._number(key, stage) for key in keys], dtypes, stage)
            except NoLowering:
                return self._called(loop_of(loop.ufunc, known), node, keys, known, streams, stage)
            self.several += [streams] * (isinstance(number, Complex) and loop.ufunc in PRODUCTS)
            raises = loop.ufunc.__name__ in RAISING and number.type.dtype.kind in "fc"
        else:
            number = self._cast(node, [self._number(key, stage) for key in keys], stage)
            raises = node.op in CASTS and args[0].type.dtype.kind in "fc" and number.type.dtype.kind != "b"
        if raises or how_of(node) not in ("", "or", "and"):      # which keep what they are of
            self._needed.update(node.inputs)
        home = None if self.direct is None else self._outs[node.output]     # it is reduced to there
        value = number.known if isinstance(number, Number) else None
        return Element(number.type, value, streams, stage, {stage: number}, home, raises)

    def _cast(self, node: Node, numbers: list[Number | Complex], stage: int) -> Number | Complex:
        """What is none of NumPy's ufuncs."""
        emit = self.stages[stage].emit
        if name := part_of_node(node):
            return part(emit, numbers[0], name)
        if node.op in SELECTS:
            condition, *branches = numbers
            dtype = np.result_type(*(_stand_in(each.type) for each in branches))
            return selected(emit, truth(emit, condition), *(self._as(each, dtype, stage) for each in branches))
        if node.op in MASKS:
            return self._masked(numbers[0], numbers[1], stage)
        if node.op in CASTS:
            self.ordered |= self._values[key_of(node.args[0])].streams
            return self._as(numbers[0], np.dtype(node.args[1]), stage)
        assert self.reduction is not None
        before = numbers[0].type.dtype
        self.most = self.reduction.most(before)
        home = self._values[node.args[0]].home
        is_alone, in_parts = len(self._outs) == 1 and stage == 0, len(self.stages) > 1 and not self.by_vectors
        lies = home is not None and home < len(self.streams) and self._steps(home) and not self._apart(home)
        if lies and (is_alone or in_parts):
            same = before == self.reduction.dtype(before) and before.kind != "b"    # of which bytes may not be 0 or 1
            self.direct = home if same else None
        return self._as(numbers[0], self.reduction.dtype(before), stage)

    def _masked(self, x: Number | Complex, mask: Number | Complex, stage: int) -> Number | Complex:
        """An element of a gradient where one of a mask is true, else zero."""
        if x.type.dtype.char not in "fd" or mask.type.dtype.kind != "b":
            raise NoLowering        # `masked` goes other ways there
        emit = self.stages[stage].emit
        return selected(emit, truth(emit, mask), x, emit.constant(0.0, x.type))

    def _computed(
        self, loop: Inner, numbers: list[Number | Complex], dtypes: Sequence[np.dtype[Any]], stage: int
    ) -> Number | Complex:
        *wanted, result = dtypes
        rule = loop.rule_of(wanted)
        if rule is None or len(set(wanted)) > 1:
            raise NoLowering
        given = [self._as(each, dtype, stage) for each, dtype in zip(numbers, wanted)]
        found: Number | Complex = rule(self.stages[stage].emit, *given)
        if found.type.dtype != result:
            raise NoLowering
        return found

    def _shares(self, loop: Inner, keys: Sequence[Any]) -> bool:
        """Whether floats that lie in memory are divided by one and the same, in each row."""
        if loop.ufunc is not np.divide or self.reduction:
            return False
        found = [self._values[key] for key in keys]
        homes = [each.home for each in found if each.home is not None and each.type.dtype == FLOAT.dtype]
        return [self._steps(home) and not self._apart(home) for home in homes] == [True, False]

    def _called(
        self,
        loop: Loop | None,
        node: Node,
        keys: Sequence[Any],
        dtypes: tuple[np.dtype[Any], ...],
        streams: frozenset[int],
        stage: int,
    ) -> Element:
        """Let NumPy, or a function that is written here, compute a value, behind a stage."""
        if loop is None or not (loop.steady or self.depth == 0):
            raise NoLowering
        self._needed.update(node.inputs)
        places = [self._kept(key, dtype, stage) for key, dtype in zip(keys, dtypes)]
        home = self._outs[node.output] if node.output in self._outs else self._new_block(dtypes[-1])
        lie, steps = zip(*places, (home, dtypes[-1].itemsize))
        self.calls[stage].append(Call(loop, lie, steps, node.place))
        if stage + 1 == len(self.stages):
            self._add_stage()
        return Element(scalar(dtypes[-1]), None, streams, stage + 1, home=home)

    def _as(self, x: Number | Complex, dtype: np.dtype[Any], stage: int) -> Number | Complex:
        """A number as another dtype; a Python number as NumPy makes an element of it."""
        dtype, emit = known_dtype(dtype), self.stages[stage].emit
        if dtype.kind != "c":
            return self._as_real(real(emit, x, dtype), dtype, stage)
        own = part_of(dtype)
        first, *rest = (self._as_real(each, own, stage) for each in parts_of(x))
        return Complex(scalar(dtype), (first, rest[0] if rest else emit.constant(0.0, scalar(own))))

    def _as_real(self, x: Number, dtype: np.dtype[Any], stage: int) -> Number:
        emit = self.stages[stage].emit
        if x.type.kind != "python" or x.type.dtype == dtype:
            return replace(converted(emit, x, dtype), known=x.known)
        if dtype.kind in "iu" and x.type.dtype.kind == "i":
            if x.known is not None and not np.iinfo(dtype).min <= x.known <= np.iinfo(dtype).max:
                raise NoLowering
            single = next(place for key, place in self._places.items() if self._values[key].numbers.get(stage) == x)
            self.ranges.add((single, dtype))
        by_way_of = converted(emit, x, FLOAT.dtype) if dtype.kind == "f" else x
        found = converted(emit, by_way_of, dtype)
        if dtype == np.float32:
            emit.pinned.append(found.ref)
        return replace(found, known=x.known)


def _stand_in(type: TensorType) -> Any:
    return type.dtype.type(0).item() if is_weak(type) else type.dtype
