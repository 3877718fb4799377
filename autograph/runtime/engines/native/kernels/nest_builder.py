"""Builds the loop nest of a kernel from nodes of the graph.

The nodes are elementwise, so an intermediate result is a value of the inner loop and never an array. The last node may
be a reduction, of the last axis or of all, or a write into an array.

A value may be used in several stages. The first one that needs it in memory stores it, in an output or in a scratch
buffer, and later stages load it from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from autograph.runtime.engines.native.kernels import elementwise
from autograph.runtime.engines.native.kernels.inner_loop import Stage, StageBuilder
from autograph.runtime.engines.native.kernels.loop_nest import (
    Call,
    FrameLayout,
    Nest,
    Reduction,
    Single,
    Stream,
    Sums,
    Update,
    has_vectors,
    slots_of,
)
from autograph.runtime.engines.native.libmath.ufunc_loops import loop_of, quotient
from autograph.runtime.engines.native.libmath.vectors import Loop
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.operands import Complex, NoLowering, Number
from autograph.runtime.graph.traits import CASTS, MASKS, SELECTS
from autograph.runtime.graph.types import FLOAT, TensorType, part_of, scalar
from autograph.runtime.ops.inner_loops import LOOPS
from autograph.runtime.ops.native.complex_numbers import part
from autograph.runtime.ops.native.complex_rules import parts_of, real, selected, truth
from autograph.runtime.ops.native.number_rules import Inner, converted, is_weak, known_dtype, promotes

RAISING = frozenset({"add", "subtract", "multiply", "divide", "reciprocal", "square", "sqrt"})
PRODUCTS = np.multiply, np.square
ADD = next(loop for loop in LOOPS.values() if loop.ufunc is np.add)


def build_nest(
    nodes: Sequence[Node],
    inputs: dict[Any, Stream | Single],
    outputs: Sequence[Value],
    ndim: int,
    name: str = "",
    within: Mapping[Any, Value] | None = None,
    iterations: Value | None = None,
    overlaps: bool = False,
    into_part: bool = False,
) -> Nest:
    """The nest of some nodes.

    Args:
        inputs: the operands, by `key_of`.
        outputs: the values that are used elsewhere.
        ndim: the number of dimensions of the result.
        name: the prefix of its functions' names.
        within: inputs in whose memory an output is stored: which one.
        iterations: the trip count, if the nodes are the body of a loop.
        overlaps: whether an input may overlap the array that the nest writes into.
        into_part: whether it writes into a part of an array that is no object, so that it cannot be restored.

    Raises:
        NoLowering: machine code would not do what NumPy does.
    """
    computed = nodes if elementwise.target_of(nodes[-1]) is None else nodes[:-1]
    builder = _begun(nodes, computed, inputs, outputs, ndim, name, within or {}, overlaps, into_part)
    for node in computed:
        builder.values[node.output] = builder.element(node)
    new = None if computed is nodes else builder.element(nodes[-1])
    builder.pin([node.output for node in computed])
    builder.store()
    if new is not None:
        builder.write(nodes[-1], new)
    nest = builder.nest(iterations)
    if nest.written is not None and nest.written == len(nest.dtypes) - 1 and nest.is_float:
        raise NoLowering        # there is no undo log
    return nest


def _begun(
    nodes: Sequence[Node],
    computed: Sequence[Node],
    inputs: dict[Any, Stream | Single],
    outputs: Sequence[Value],
    ndim: int,
    name: str,
    within: Mapping[Any, Value],
    overlaps: bool,
    into_part: bool,
) -> _Builder:
    """A nest that has operands, and computes nothing yet."""
    target = elementwise.target_of(nodes[-1])
    outputs = [value for value in outputs if target is None or value not in nodes[-1].outputs]
    outs, arrays = len(outputs), [kind for kind in inputs.values() if isinstance(kind, Stream)]
    values = [key for key in inputs if isinstance(key, Value)]
    targets = [kind for key, kind in inputs.items() if key is target and isinstance(kind, Stream)]
    types = [*arrays, *(node.output.type for node in computed)]
    # If a flag is raised, what has been written must be undone: so the old elements go into an undo log.
    has_floats = any(isinstance(type, (Stream, TensorType)) and type.dtype.kind in "fc" for type in types)
    overlaps = overlaps or elementwise.may_overlap(target, values) if target is not None else False
    buffered = overlaps or (has_floats and into_part and target is not None)
    has_log = has_floats and not buffered
    written = [each.dtype for each in targets] * (1 + has_log)
    streams = [Stream(dtype, ndim, True) for dtype in [np.dtype(bool)] * outs + written] + arrays
    if targets and not buffered:
        streams[outs] = replace(streams[outs], strided=targets[0].strided)
    frame = FrameLayout(len(streams), slots_of(inputs.values()), max(ndim - 1, 0))
    reduction, sums = elementwise.reduction_of(nodes[-1]), elementwise.sums_of(nodes[-1])
    idempotent = not within and sums is None
    builder = _Builder(name, ndim, outputs, reduction, sums, streams, frame, written, idempotent)
    builder.within = {key: builder.outs[value] for key, value in within.items()}
    builder.add_stage()
    stream, number = outs + len(written), 0
    for key, kind in inputs.items():
        if isinstance(kind, Stream):
            if key is target:
                builder.update = Update(stream, outs, buffered)
            home = outs if key is target and not buffered else builder.within.get(key, stream)
            streams_of = frozenset({stream} if kind.ndim else ())
            builder.values[key] = _Element(scalar(kind.dtype), None, streams_of, home=home)
            stream += 1
        else:
            builder.values[key] = _Element(kind.type, kind.known, frozenset())
            builder.numbers[key] = number
            number += slots_of([kind])
    return builder


@dataclass(slots=True)
class _Element:
    """An element of a value.

    Attributes:
        streams: the arrays that it depends on.
        stage: the first stage that can use it.
        numbers: what it is in which stages.
        home: the place of its elements, if they are in memory.
        raises: whether computing it may raise flags.
    """

    type: TensorType
    known: Any
    streams: frozenset[int]
    stage: int = 0
    numbers: dict[int, Number | Complex] = field(default_factory=dict)
    home: int | None = None
    raises: bool = False


@dataclass
class _Builder:
    """A nest under construction. See also `Nest`.

    Attributes:
        ndim: the number of dimensions of the result.
        outputs, outs: the values that are stored in outputs, and their places.
        written: the dtypes of the outputs for an array that the nest updates, and for its undo log.
        within: inputs that are in the memory of an output: its place.
        values: the elements of values so far, by `key_of`.
        numbers: the number operands.
        copies: the places and strides of values that are in memory as another dtype, or for another stage.
        needed: values that are used, so that LLVM does not drop them.
        chosen: the arrays of which a mask chooses elements, and the masks.
        products: the arrays of complex products: NumPy may round them otherwise if there is only one element.
    """

    name: str
    ndim: int
    outputs: Sequence[Value]
    reduction: Reduction | None
    sums: Sums | None
    streams: list[Stream]
    frame: FrameLayout
    written: Sequence[np.dtype[Any]]
    idempotent: bool
    within: Mapping[Any, int] = field(default_factory=dict)
    update: Update | None = None
    direct: int | None = None
    most: int = 2**62
    stages: list[StageBuilder] = field(default_factory=list)
    calls: list[list[Call]] = field(default_factory=list)
    scratch: list[np.dtype[Any]] = field(default_factory=list)
    values: dict[Any, _Element] = field(default_factory=dict)
    numbers: dict[Any, int] = field(default_factory=dict)
    copies: dict[tuple[Any, str], tuple[int, int]] = field(default_factory=dict)
    products: list[frozenset[int]] = field(default_factory=list)
    chosen: list[frozenset[int]] = field(default_factory=list)
    operands: set[frozenset[int]] = field(default_factory=set)
    ordered: set[int] = field(default_factory=set)
    ranges: set[tuple[int, np.dtype[Any]]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.outs = {value: place for place, value in enumerate(self.outputs)}
        self.needed = set(self.outputs)

    def nest(self, iterations: Value | None) -> Nest:
        """The nest of what has been computed and stored."""
        carried = {} if iterations is None else self._carried()
        copies = carried.items()
        if self.update is not None and self.update.buffered:
            copies = {self.update.out: self.update.target}.items()
        calls = [call for each in self.calls for call in each]
        is_steady = not self.products and all(call.loop.steady for call in calls)
        if self.chosen and not is_steady:
            raise NoLowering        # the result may depend on the number of chosen elements
        called = sum(48 if call.loop.costly else 8 for call in calls)
        return Nest(
            name=self.name,
            frame=self.frame,
            streams=tuple(self.streams),
            dtypes=tuple(self.dtypes),
            stages=tuple(stage.built() for stage in self.stages),
            calls=tuple(map(tuple, self.calls)),
            scratch=tuple(self.scratch),
            copy=self._copy(dict(copies)) if copies else None,
            reduction=self.reduction,
            sums=self.sums,
            direct=self.direct,
            update=self.update,
            idempotent=self.idempotent,
            iterations=None if iterations is None else self.frame.single(self.numbers[iterations]),
            carried=carried,
            whole=(*self.sources, *self.products, *self.chosen),
            operands=frozenset(self.operands),
            ordered=frozenset(self.ordered),
            ranges=frozenset(self.ranges),
            least=1 if is_steady else 2,
            most=self.most,
            multiplies=bool(self.products),
            cost=len(self.values) // 2 + len(self.streams) + called,
        )

    # Outputs ----------------------------------------------------------------------------------------------------------

    def pin(self, values: Sequence[Value]) -> None:
        """Keep LLVM from dropping what may raise flags and is not used."""
        for value in values:
            element = self.values[value]
            if element.raises and value not in self.needed:
                for part in parts_of(self._number(value, element.stage)):
                    self.stages[element.stage].emit.pinned.append(part.ref)

    def store(self) -> None:
        """Store the outputs that are not in memory yet."""
        found = [self.values[value] for value in self.outputs]
        self.dtypes = [each.type.dtype for each in found]
        self.sources = [each.streams for each in found]
        for place, (value, each) in enumerate(zip(self.outputs, found)):
            self.streams[place] = Stream(self.dtypes[place], self.ndim, True)
            if each.home != place:
                builder, number = self.stages[each.stage], self._number(value, each.stage)
                if self.sums is not None and place == len(found) - 1:
                    before, dtypes = builder.load(self.dtypes[place], place, True), (self.dtypes[place],) * 3
                    number = self._computed(ADD, [before, number], dtypes, each.stage)
                builder.store(self.dtypes[place], number, place)

    def write(self, node: Node, new: _Element) -> None:
        """Write into the target in the last stage, after everything has been read."""
        if self.update is None:
            raise NoLowering        # the target is a number
        key = elementwise.key_of(node.args[2]) if node.op == "setitem" else object()
        mask, dtype = elementwise.mask_of(node), self.written[0]
        if node.op != "setitem" and not np.can_cast(new.type.dtype, dtype, "same_kind"):
            raise NoLowering        # NumPy raises
        self.values[key] = new
        if mask is not None and new.streams and new.home is None and new.type.dtype.kind in "fc":
            new.home, _ = self._in_memory(key, new.type.dtype)
            self.add_stage()        # otherwise LLVM would compute with elements that are not chosen
        old, has_log, stage = self.values[node.args[0]], len(self.written) > 1, len(self.stages) - 1
        values = [self._as(self._number(key, stage), dtype, stage)]
        if mask is not None:
            chosen = truth(self.stages[stage].emit, self._number(mask, stage))
            values = [selected(self.stages[stage].emit, chosen, values[0], self._number(node.args[0], stage))]
        self.idempotent = self.update.buffered or not (has_log or old.numbers)
        if has_log:
            values.append(self._number(node.args[0], stage))
        for place, value in enumerate(values, self.update.out):
            self.stages[stage].store(dtype, value, *self._place(place, stage))
        self.dtypes += self.written
        self.sources += [old.streams] * len(self.written)

    def _carried(self) -> dict[int, int]:
        """For each carried input its output. An iteration must give what the next one takes."""
        found = {place: out for key, out in self.within.items() for place in self.values[key].streams}
        begin = [self.streams[place] for place in found]
        fit = all(each.steps and not each.strided and each.ndim >= self.ndim for each in begin)
        same = [each.dtype for each in begin] == [self.dtypes[out] for out in found.values()]
        if len(self.stages) > 1 or len(found) < len(self.within) or not (fit and same):
            raise NoLowering
        return found

    def _copy(self, places: Mapping[int, int]) -> Stage:
        """The code that copies elements from some places to others."""
        self.stages.append(builder := StageBuilder("copy"))
        for source, target in places.items():
            dtype, stage = self.streams[source].dtype, len(self.stages) - 1
            builder.store(dtype, builder.load(dtype, *self._place(source, stage)), *self._place(target, stage))
        return self.stages.pop().built()

    # Elements in memory -----------------------------------------------------------------------------------------------

    def add_stage(self) -> None:
        self.stages.append(StageBuilder(f"{self.name}row{len(self.stages)}"))
        self.calls.append([])

    def _number(self, key: Any, stage: int) -> Number | Complex:
        """A value in a stage, which loads it if another stage computes it."""
        element, builder = self.values[key], self.stages[stage]
        if stage not in element.numbers:
            if key in self.numbers:
                slot = self.frame.single(self.numbers[key])
                element.numbers[stage] = builder.number(slot, element.type, element.known)
            else:
                if element.home is None:
                    element.home, _ = self._in_memory(key, element.type.dtype)
                found = builder.load(element.type.dtype, *self._place(element.home, stage))
                element.numbers[stage] = replace(found, type=element.type)
        return element.numbers[stage]

    def _in_memory(self, key: Any, dtype: np.dtype[Any]) -> tuple[int, int]:
        """The place and the stride of contiguous elements of a value as a dtype; stores them if they are in none.

        The stage that computes the value stores them: an earlier one may read them than the one that asks first.
        """
        element = self.values[key]
        stage, builder = element.stage, self.stages[element.stage]
        if element.home is not None and element.type.dtype == dtype and not self._is_strided(element.home):
            return element.home, dtype.itemsize * self._steps(element.home)
        if (key, dtype.char) not in self.copies:
            steps, is_out = bool(element.streams), key in self.outs and element.type.dtype == dtype
            with builder.hoisted(not steps):
                number = self._as(self._number(key, stage), dtype, stage)
                home = self.outs[key] if is_out else self._new_scratch(dtype)
                element.home = home if is_out else element.home
                builder.store(dtype, number, home, steps)
            self.copies[key, dtype.char] = home, dtype.itemsize * steps
        return self.copies[key, dtype.char]

    def _new_scratch(self, dtype: np.dtype[Any]) -> int:
        self.scratch.append(dtype)
        return len(self.streams) + len(self.scratch) - 1

    def _steps(self, home: int) -> bool:
        return home >= len(self.streams) or self.streams[home].steps

    def _is_strided(self, home: int) -> bool:
        return home < len(self.streams) and self.streams[home].strided

    def _place(self, home: int, stage: int) -> tuple[int, bool, ir.Value | None]:
        """The arguments of `StageBuilder.load` and `store` for a place."""
        step = self.stages[stage].slot(self.frame.step(home)) if self._is_strided(home) else None
        return home, self._steps(home), step

    # Nodes ------------------------------------------------------------------------------------------------------------

    def element(self, node: Node) -> _Element:
        keys = [elementwise.key_of(arg) for arg in elementwise.operands(node)]
        args = [self.values[key] for key in keys]
        streams: frozenset[int] = frozenset().union(*(each.streams for each in args))
        if not streams:
            raise NoLowering        # an operation on numbers, which Python computes
        self.operands.add(streams)
        if elementwise.mask_of(node) is not None:
            self.chosen += [each.streams for each in args if each.streams]
        stage = max(each.stage for each in args)
        self.stages[stage].emit.b.place = node.place
        if node.op == "setitem":
            self.needed.update(node.inputs)
            return self.values[keys[0]]
        if loop := elementwise.loop_of_node(node):
            dtypes = loop.dtypes(*(promotes(each.type) for each in args))
            known = tuple(map(known_dtype, dtypes))
            if self._shares_divisor(loop, keys) and (division := quotient()):
                return self._called(division, node, keys, known, streams, stage)
            try:
                number = self._computed(loop, [self._number(key, stage) for key in keys], dtypes, stage)
            except NoLowering:
                return self._called(loop_of(loop.ufunc, known), node, keys, known, streams, stage)
            self.products += [streams] * (isinstance(number, Complex) and loop.ufunc in PRODUCTS)
            raises = loop.ufunc.__name__ in RAISING and number.type.dtype.kind in "fc"
        else:
            number = self._converted(node, [self._number(key, stage) for key in keys], stage)
            raises = node.op in CASTS and args[0].type.dtype.kind in "fc" and number.type.dtype.kind != "b"
        if raises or elementwise.how_of(node) not in ("", "or", "and"):     # which raise only what their operands raise
            self.needed.update(node.inputs)
        home = None if self.direct is None else self.outs[node.output]     # the output of the reduction
        value = number.known if isinstance(number, Number) else None
        return _Element(number.type, value, streams, stage, {stage: number}, home, raises)

    def _converted(self, node: Node, numbers: list[Number | Complex], stage: int) -> Number | Complex:
        """An element of a node that is no ufunc: a part, a choice, a mask, a cast, or what a reduction combines."""
        emit = self.stages[stage].emit
        if elementwise.mask_of(node) is not None:
            x, mask = numbers
            ones = [emit.constant(1, scalar(each.type.dtype)) for each in parts_of(x)]     # any numbers will do
            one = Complex(x.type, (ones[0], ones[1])) if isinstance(x, Complex) else ones[0]
            return selected(emit, truth(emit, mask), x, one)
        if name := elementwise.part_of_node(node):
            return part(emit, numbers[0], name)
        if node.op in SELECTS:
            condition, *branches = numbers
            dtype = np.result_type(*(_example(each.type) for each in branches))
            return selected(emit, truth(emit, condition), *(self._as(each, dtype, stage) for each in branches))
        if node.op in MASKS:
            x, mask = numbers
            if x.type.dtype.char not in "fd" or mask.type.dtype.kind != "b":
                raise NoLowering        # `masked` does something else there
            return selected(emit, truth(emit, mask), x, emit.constant(0.0, x.type))
        if node.op in CASTS:
            self.ordered |= self.values[elementwise.key_of(node.args[0])].streams
            return self._as(numbers[0], np.dtype(node.args[1]), stage)
        if self.sums is not None:
            return self._as(numbers[0], Reduction("add", False).dtype(numbers[0].type.dtype), stage)
        assert self.reduction is not None
        before = numbers[0].type.dtype
        self.most = self.reduction.most(before)
        home = self.values[node.args[0]].home
        is_alone = len(self.outs) == 1 and stage == 0
        in_parts = len(self.stages) > 1 and not has_vectors(self.calls, self.streams)
        lies = home is not None and home < len(self.streams) and self._steps(home) and not self._is_strided(home)
        if lies and (is_alone or in_parts):
            same = before == self.reduction.dtype(before) and before.kind != "b"    # whose bytes may be neither 0 nor 1
            self.direct = home if same else None
        return self._as(numbers[0], self.reduction.dtype(before), stage)

    def _computed(
        self, loop: Inner, numbers: list[Number | Complex], dtypes: Sequence[np.dtype[Any]], stage: int
    ) -> Number | Complex:
        """An element that a rule computes."""
        *wanted, result = dtypes
        rule = loop.rule_of(wanted)
        if rule is None or len(set(wanted)) > 1:
            raise NoLowering
        args = [self._as(each, dtype, stage) for each, dtype in zip(numbers, wanted)]
        found: Number | Complex = rule(self.stages[stage].emit, *args)
        if found.type.dtype != result:
            raise NoLowering
        return found

    def _shares_divisor(self, loop: Inner, keys: Sequence[Any]) -> bool:
        """Whether all floats of a row, which are contiguous in memory, are divided by the same one."""
        if loop.ufunc is not np.divide or self.reduction:
            return False
        found = [self.values[key] for key in keys]
        homes = [each.home for each in found if each.home is not None and each.type.dtype == FLOAT.dtype]
        return [self._steps(home) and not self._is_strided(home) for home in homes] == [True, False]

    def _called(
        self,
        loop: Loop | None,
        node: Node,
        keys: Sequence[Any],
        dtypes: tuple[np.dtype[Any], ...],
        streams: frozenset[int],
        stage: int,
    ) -> _Element:
        """An element that an inner loop computes, which is called after the stage."""
        if loop is None or not (loop.steady or self.frame.depth == 0):
            raise NoLowering
        self.needed.update(node.inputs)
        places = [self._in_memory(key, dtype) for key, dtype in zip(keys, dtypes)]
        home = self.outs[node.output] if node.output in self.outs else self._new_scratch(dtypes[-1])
        homes, steps = zip(*places, (home, dtypes[-1].itemsize))
        self.calls[stage].append(Call(loop, homes, steps, node.place))
        if stage + 1 == len(self.stages):
            self.add_stage()
        return _Element(scalar(dtypes[-1]), None, streams, stage + 1, home=home)

    def _as(self, x: Number | Complex, dtype: np.dtype[Any], stage: int) -> Number | Complex:
        """A number as another dtype; a Python number as NumPy converts it."""
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
            number = next(place for key, place in self.numbers.items() if self.values[key].numbers.get(stage) == x)
            self.ranges.add((number, dtype))
        by_way_of = converted(emit, x, FLOAT.dtype) if dtype.kind == "f" else x
        found = converted(emit, by_way_of, dtype)
        if dtype == np.float32:
            emit.pinned.append(found.ref)
        return replace(found, known=x.known)


def _example(type: TensorType) -> Any:
    """An argument of `np.result_type` for a type: a Python number if it is weak, else a dtype."""
    return type.dtype.type(0).item() if is_weak(type) else type.dtype
