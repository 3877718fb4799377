"""*Python callbacks*: functions that machine code calls for nodes without a lowering for their operands.

The NumPy engine makes a Python callback of consecutive nodes. Machine code makes objects of the operands, calls it, and
checks the results: if they are numbers or arrays as expected, it continues with these; otherwise a side exit is taken,
and the code is compiled again for the actual results, see `Region._learn`. It can only keep and pass on other objects.

An exception of a Python callback ends the code, and propagates to the caller. The frame of the Python callback is in
the traceback, as it would be without machine code.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from autograph.common.cpython_internals import SIZE, TUPLE_ITEMS
from autograph.common.numpy_internals import ALIGNED, CONTIGUOUS
from autograph.runtime.engines.native.abi.calling_convention import array_of
from autograph.runtime.engines.native.analysis.class_versions import Versions
from autograph.runtime.engines.native.analysis.clone import Copier
from autograph.runtime.engines.native.analysis.escape_analysis import unshared
from autograph.runtime.engines.native.analysis.identities import NEW_NUMBERS, compared, compares
from autograph.runtime.engines.native.analysis.structure import Point
from autograph.runtime.engines.native.analysis.subjects import Subject, about, is_named
from autograph.runtime.engines.native.analysis.view_groups import is_strided
from autograph.runtime.engines.native.emit import mixed_numbers
from autograph.runtime.engines.native.emit.emitter import number_of
from autograph.runtime.engines.native.emit.recursion import end_epoch
from autograph.runtime.engines.native.kernels.straight_lines import is_straight
from autograph.runtime.engines.native.llvm.attribute_lookups import make
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, Count, Table, llvm_type, now_and_then
from autograph.runtime.engines.native.llvm.errors import Refused
from autograph.runtime.engines.native.llvm.ir import I64, NULL, PTR, TRUE
from autograph.runtime.engines.native.llvm.ir import Value as Register
from autograph.runtime.engines.native.llvm.known_places import NOTHING
from autograph.runtime.engines.native.loops.block_versions import Flow
from autograph.runtime.engines.native.loops.counted_loops import counter_of
from autograph.runtime.engines.native.loops.result_speculation import (
    SIZED,
    UNKNOWN,
    class_expected,
    is_class,
    kept_whole,
    kind_expected,
    of_class,
    useful,
)
from autograph.runtime.graph.effects import effect_of
from autograph.runtime.graph.graph import Block, Graph, Node, Value, map_args, user_line
from autograph.runtime.graph.object_model import GENERATORS
from autograph.runtime.graph.opdef import OPS
from autograph.runtime.graph.operands import (
    Array,
    Boxed,
    Complex,
    Fixed,
    Given,
    Instance,
    Mixed,
    NoLowering,
    Number,
    Range,
    View,
    mapped,
)
from autograph.runtime.graph.traits import ORDERING, RESHAPES
from autograph.runtime.graph.types import ANY, BOOL, INT, TensorType, type_of
from autograph.runtime.ops.native.complex_rules import part_type
from autograph.runtime.ops.native.scalars import truth
from autograph.runtime.passes.rewriter import shown

CALL, NODE = 1e-7, 4e-7     # estimated seconds of a call, and of each node in it
EVERY, TIMES = 64, 64       # one of so many calls is timed; so many times are kept
LOSS = 3            # of a Python callback; a node of machine code gains 1 or 3
ITERATIONS = 8      # estimate for a loop


class PythonCallback:
    """Some nodes as a function. It is compiled when it is first called.

    Attributes:
        inputs: the values that it takes.
        outputs: the values that it returns: one as it is, several as a tuple.
        executable: its code, once it has been called.
        count: the number of its calls, which machine code counts.
        timed: a function that measures a call; machine code calls it instead now and then.
        subject: what it works on, for reports.
        is_rare: whether machine code does without it in most cases.
        only_raises: whether it only raises an exception that has occurred.
        refuse: raises an error, where callbacks are refused, when it is called.
    """

    def __init__(self, nodes: Sequence[Node], outputs: list[Value], name: str, compile: Callable[[Graph], Any]) -> None:
        self.nodes = nodes
        self.outputs = outputs
        self.executable: Any = None
        self._compile = compile
        self._graph = Graph(name)
        copier = Copier()
        for node in nodes:
            self._graph.block.append(copier.node(node))
        results = copier.arg(tuple(outputs))
        self._graph.block.results = (results[0] if len(results) == 1 else results or None,)
        self.inputs = list(copier.params)
        self._graph.block.params = list(copier.params.values())
        self._tables: list[Table] = []
        self._times: deque[float] = deque(maxlen=TIMES)
        self.count = Count()
        self.timed = self._timed
        self.subject: Subject | None = None
        self.is_rare = self.only_raises = False
        self.refuse: Callable[[], None] | None = None

    def __call__(self, *args: Any) -> Any:
        return self._made()(*args)

    def _timed(self, *args: Any) -> Any:
        run = self._made()
        begin = time.perf_counter()
        found = run(*args)
        self._times.append(time.perf_counter() - begin)
        return found

    def _made(self) -> Callable[..., Any]:
        if self.refuse is not None:
            self.refuse()
        if self.executable is None:
            self.executable = self._compile(self._graph)
        for table in self._tables:
            table.put(self, self.executable.run)
        self._tables.clear()
        run: Callable[..., Any] = self.executable.run
        return run

    @property
    def cost(self) -> str:
        """The report of how often it has been called, and how long it takes."""
        count, seconds = self.count.value, self.seconds
        if not seconds:
            guess = CALL + NODE * len(self.nodes)
            return f"; a call may take some {1e6 * guess:.1f} µs, as it is of {_several(len(self.nodes), 'operation')}"
        each = seconds / count
        return f" {_several(count, 'time')}, some {_short(1e6 * each)} µs each, {_short(1e3 * seconds)} ms in all"

    @property
    def seconds(self) -> float:
        """The time of all its calls, about; 0 if none was measured."""
        times = sorted(list(self._times)[len(self._times) > 1 :])  # the first one takes longer
        return max(times[len(times) // 2] - _clock(), 1e-9) * self.count.value if times else 0.0

    @property
    def name(self) -> str:
        """A short description."""
        return ", ".join(dict.fromkeys(map(shown, self.nodes)))

    @property
    def about(self) -> str:
        """The user's text of it, and its subject."""
        is_of_arrays = not any(map(is_named, self.nodes))
        return about([self.nodes], self.subject) + "; NumPy runs this" * is_of_arrays

    @property
    def place(self) -> tuple[str, int] | None:
        """The user's file and line."""
        return user_line(self.nodes[0].place)

    def enter(self, table: Table) -> None:
        """Put its function into a table, once it is compiled."""
        if self.executable is None:
            self._tables.append(table)
        else:
            table.put(self, self.executable.run)


class PythonCalls:
    """Emits calls of Python callbacks.

    Attributes:
        flow: the code that calls.
        callbacks: the callbacks.
        expected: the expected kinds of their outputs: the type of a number, the kind of an array (with the flags that
            it must have), None if any object will do.
        run_any_code: whether they may run code of the user's.
        avoids_any_code: whether the code is left rather than that it runs such code on a path that it seldom takes.
        versions: the classes of the objects whose attributes the code reads or sets.
        unshared: the values of new objects for which the code may have only their attributes.
        objects: of inputs that are numbers, which unknown code gets as they are, see `identities`.
        direct: nodes that are no callbacks, since the code calls functions of Python's C API; with the constant
            container that one looks into, if any.
    """

    def __init__(
        self,
        flow: Flow,
        callback: Callable[[Any, Sequence[Node], list[Value]], PythonCallback],
        met: dict[Value, Any] | None,
        versions: Versions,
    ) -> None:
        """
        Args:
            callback: returns the callback of a key, of some nodes and outputs.
            met: the kinds of earlier results, by output; None if nothing is expected of any.
        """
        self.callbacks: dict[PythonCallback, None] = {}
        self.expected: dict[Value, Any] = {}
        self.run_any_code = self.avoids_any_code = False
        self.direct: dict[Node, Any] = {}
        self.objects: dict[Any, Boxed] = {}
        self.flow = flow
        self._emit, self._objects = flow.emit, flow.emit.objects
        self._structure = flow.structure
        self._callback, self.versions = callback, versions
        self._met = met
        self._useful = useful(flow.structure.root)
        self._whole = kept_whole(flow.structure.root) | compared(flow.structure.root)
        self.unshared = unshared(flow.structure.root) - self._whole
        self._gain = 0              # an estimate, see `count`
        self._is_whole = True       # whether no iteration must end with a callback of unknown result

    def is_of_use(self) -> bool:
        """Whether machine code gains more than its callbacks lose."""
        return not self.callbacks or not self._is_whole or self._gain > 0

    def count(self, block: Block, *nodes: Node) -> None:
        """Add the gain of nodes that are machine code."""
        for node in nodes:
            if node.op not in ("build", "unpack", "bound"):
                gain = 3 if any(map(_is_of_numpy, map(self._operand, node.inputs))) else 1
                self._gain += gain * self._weight(block)

    def _weight(self, block: Block) -> int:
        """An estimate of how often a block runs."""
        return int(ITERATIONS ** self._structure.depth(block))

    def fall_back(self, node: Node) -> Register:
        """Call Python for a node, on a path that machine code seldom takes. Returns a new reference to its result."""
        if self.avoids_any_code and self._runs_any_code(node):
            self._emit.leave_if(Number(BOOL, TRUE))
            return NULL
        callback = self._callback((node, node), [node], node.outputs)
        callback.is_rare = True
        found = self._invoke(callback, [self.flow.value(value) for value in callback.inputs])
        if self._runs_any_code(node):
            self.ran_any_code()
        return found

    # Nodes and results ------------------------------------------------------------------------------------------------

    def _reach(self, block: Block, place: int, lower: Callable[[Block, int], bool]) -> int:
        """The place behind the consecutive nodes, from one on, that Python has to run."""
        reset = self.flow.mark()
        while True:
            node = block.nodes[place]
            found = [self._suppose(value, type) for value, type in zip(node.outputs, self._types(node))]
            place += 1
            ends = any(each == UNKNOWN or type(each) is frozenset for each in found)
            if ends or place == len(block.nodes) or not is_python_callback(block.nodes[place]):
                break
            if lower(block, place):
                break
        reset()
        return place

    def _types(self, node: Node) -> list[Any]:
        """The types of a node's outputs, inferred from the operands of its arguments."""
        found = [value.type for value in node.outputs]
        op = OPS.get(node.op)
        if op is not None and found:
            args, kwargs = map_args(self._type, (node.args, node.kwargs))
            inferred = op.infer(*args, **kwargs)
            for place, type in enumerate(inferred if isinstance(inferred, list) else [inferred]):
                if isinstance(type, TensorType) and type.exact and place < len(found):
                    found[place] = type
        return found

    def _operand(self, value: Value) -> Any:
        """The operand of a value, which may be in its cells."""
        return self.flow.inputs[value] if value in self.flow.inputs else self.flow.state.env[value]

    def _type(self, leaf: Any) -> Any:
        if not isinstance(leaf, Value):
            return leaf
        operand = self._operand(leaf)
        if isinstance(operand, (Number, Complex)):
            return operand.type
        if isinstance(operand, Array):
            return TensorType(operand.dtype, (None,) * operand.ndim)
        return type_of(operand.value) if isinstance(operand, Fixed) else leaf.type

    def _suppose(self, value: Value, type: Any) -> Any:
        """The expected kind of a value. Defines it as an undefined operand of that kind, to try the next nodes."""
        found = self.expect(value, type)
        undefined = Register(PTR, "undef")
        operand: Any = of_class(undefined, found) if is_class(found) else Boxed(undefined)
        if isinstance(found, TensorType) and found.dtype.kind == "c":
            part = _undefined(part_type(found))
            operand = Complex(found, (part, part))
        elif isinstance(found, TensorType):
            operand = _undefined(found)
        elif isinstance(found, tuple):
            operand = self._emit.frame.array_like(Register(PTR, "undef"), array_of(-1, found))
        self.flow.define(value, operand)
        return found

    def expect(self, value: Value, type: Any) -> Any:
        """The expected kind of a value of a type."""
        self.expected[value] = found = self._kind(value, type)
        return found

    def expects_array(self, value: Value) -> bool:
        """Whether a value is expected to be an array."""
        return isinstance(self._kind(value, value.type), tuple)

    def _kind(self, value: Value, type: Any) -> Any:
        if self._met is None or value in self._whole:   # the objects of texts stay whole
            return str if self._met is not None and self._met.get(value) is str else None
        found = self._met[value] if value in self._met else kind_expected(type, value in self._useful)
        if isinstance(found, tuple) and is_strided(value.node):
            found = *found[:2], found[2] & ~CONTIGUOUS
        return found

    def kind_met(self, value: Value) -> Any:
        """The expected kind of a value; or that of earlier results, if its object would suffice."""
        found = self.expect(value, value.type)
        return self._met.get(value) if found is None and self._met is not None else found

    # Calls ------------------------------------------------------------------------------------------------------------

    def call(self, block: Block, place: int, lower: Callable[[Block, int], bool]) -> int | None:
        """Call Python for a node, and for the next ones that have no lowering either.

        Args:
            lower: emits machine code for the node at a place, and returns whether there is any.

        Returns:
            the place behind them; None if the code does not continue there.
        """
        if is_straight(self._structure.root):
            raise NoLowering        # kernels are faster
        if self._raises(block.nodes[place]):
            self._emit.jump(self._emit.leave())
            return None
        stop = self._reach(block, place, lower)
        nodes, behind = block.nodes[place:stop], Point(block, stop)
        if any(map(compares, nodes)):       # Python would get new objects
            raise Refused(NEW_NUMBERS, self.callbacks)
        outputs = [value for node in nodes for value in node.outputs if value in self._structure.live(behind)]
        callback = self._callback((nodes[0], nodes[-1]), nodes, outputs)
        callback.is_rare = self._structure.is_unlikely(block)
        for value in callback.inputs:
            if isinstance(value, Value) and isinstance(self._operand(value), Instance):
                self.make_object(value, Point(block, place))
        found = self._invoke(callback, [self.objects.get(value) or self.flow.value(value) for value in callback.inputs])
        if not callback.is_rare:
            self._gain -= LOSS * self._weight(block)
        refs = self.parts(found, len(callback.outputs))
        for value, ref in zip(callback.outputs, refs):
            self.flow.define(value, Boxed(ref))
            self.flow.own((value, ()), ref)
        self.flow.resume_from(behind)
        if any(map(_may_reshape, callback.nodes)):
            self.look_at_arrays()
        if any(map(self._runs_any_code, callback.nodes)):
            self.ran_any_code()
        if not self.take(callback.outputs, block):
            return None
        if any(isinstance(self.flow.state.env[value], (Number, Mixed)) for value in callback.outputs):
            self.flow.resume_from(behind)
        return stop

    def _raises(self, node: Node) -> bool:
        """Whether a node compares a number of Python's and None by order, which is an error.

        It does so on paths that never run, as where one variable says whether another one is None.
        """
        if node.op not in ORDERING:
            return False
        args = [self._operand(each) if isinstance(each, Value) else each for each in node.args]
        kinds = [each.type.kind for each in args if isinstance(each, Number)]
        return kinds == ["python"] and any(each is None or each == Fixed(None) for each in args)

    def ran_any_code(self) -> None:
        """Note that code of the user's may have run."""
        self.run_any_code = True
        self.flow.state.known = NOTHING
        end_epoch(self._emit.b, self._objects)

    def _runs_any_code(self, node: Node) -> bool:
        """Whether a node may run code of the user's, which methods of generators of random numbers do not."""
        if not effect_of(node).wild:
            return False
        first = node.args[0] if node.args else None
        owner = self.flow.inputs.get(first) if isinstance(first, Value) and node.op.startswith(".") else None
        return not (isinstance(owner, Given) and owner.of in GENERATORS)

    def apply(self, node: Node, op: str, operand: Any, *more: Any, outputs: int = 1) -> Register:
        """Call Python for an operation on an operand, such as `iter`, of a node. Returns a new reference."""
        return self._invoke(self.operation(node, op, *more, outputs=outputs), [operand])

    def operation(self, node: Node, op: str, *more: Any, outputs: int) -> PythonCallback:
        """The callback for such an operation."""
        made = Node(op, (Value(ANY), *more), place=node.place)
        return self._callback((node, op, *more), [made], [made.add_output(ANY) for _ in range(outputs)])

    def take(self, values: Sequence[Value], block: Block) -> bool:
        """Unbox objects to the expected kinds, or leave. Returns whether the code of a block continues."""
        kinds = [self.expected[value] for value in values]
        if UNKNOWN in kinds:
            self._is_whole &= self._structure.is_rare(block)
            self._emit.jump(self._emit.leave())
            return False
        for value, kind in zip(values, kinds):
            is_one = kind is not None and (type(kind) is not frozenset or kind == mixed_numbers.KINDS)
            if is_one and isinstance(found := self.flow.state.env[value], Boxed):
                self.flow.define(value, self._narrowed(value, found.ref, kind))
        return True

    def part(self, values: Sequence[Value], at: Point, go_on: Callable[[], None]) -> bool:
        """Part the paths by the class of a value that may be of several kinds; leave if none is known yet.

        Returns whether there is such a value.

        Args:
            at: the point behind the node that computes the values.
            go_on: continues there on each path.
        """
        for value in values:
            kinds, operand = self.expected.get(value), self.flow.state.env.get(value)
            if kinds == UNKNOWN:
                self._is_whole &= self._structure.is_rare(at.block)
                kinds = frozenset[Any]()
            if type(kinds) is frozenset and isinstance(operand, Boxed) and operand.of is None:
                self._part(value, operand.ref, sorted(kinds, key=str), values, at, go_on)
                return True
        return False

    def _part(self, value: Value, ref: Register, kinds: list[Any], *more: Any) -> None:
        values, at, go_on = more
        if not kinds:
            self.flow.resume_from(at)
            self._emit.jump(self._emit.leave())
            return

        def narrow() -> None:
            self.flow.define(value, self._narrowed(value, ref, kinds[0]))
            if not self.part(values, at, go_on):
                go_on()

        is_first = self._objects.is_of_class(ref, class_expected(kinds[0]))
        self.flow.branch(Number(BOOL, is_first), narrow, lambda: self._part(value, ref, kinds[1:], *more))

    def _invoke(self, callback: PythonCallback, operands: Sequence[Any]) -> Register:
        """Call a Python callback. Returns a new reference."""
        self.callbacks[callback] = None
        self.flow.state.known = NOTHING
        self._emit.settle()
        made = list(map(self.object, operands))
        function = now_and_then(self._objects, callback.count, EVERY, callback.timed, callback)
        found: Register = self._objects.call(function, [ref for ref, _ in made])
        for ref, is_new in made:
            if is_new:
                self._objects.forget(ref)
        self._emit.stop_if(Number(BOOL, self._emit.b.is_null(found)), self.flow.stop)
        return found

    def parts(self, thing: Register, count: int) -> list[Register]:
        """New references to the results of a callback, in exchange for that to the tuple of them."""
        if count == 1:
            return [thing]
        items = [self._objects.load_at(PTR, thing, TUPLE_ITEMS + SLOT * place) for place in range(count)]
        parts = list(map(self._objects.another, items))
        self._objects.forget(thing)
        return parts

    def narrow(self, value: Value, ref: Register) -> None:
        """Unbox the object of a value to the expected kind, or leave."""
        self.flow.define(value, self._narrowed(value, ref, self.expected[value]))

    def _narrowed(self, value: Value, ref: Register, kind: Any) -> Any:
        """Unbox the object of a value to the expected number, array or object of a class."""
        if is_class(kind):
            self._objects.demand_class(ref, kind)
            return of_class(ref, kind)
        if isinstance(kind, TensorType) or kind == mixed_numbers.KINDS:
            found = self._number(ref, kind)
            self.flow.leave_if_nan(value, found)
            return found
        dtype, ndim, flags = kind
        self._objects.demand_array(ref, dtype, ndim, flags, flags | ALIGNED)
        return self._emit.frame.array_like(ref, array_of(-1, kind))

    def _number(self, ref: Register, kind: Any) -> Any:
        """Unbox a number; leave if the object is something else."""
        if isinstance(kind, TensorType):
            return number_of(self._emit, ref, kind)
        self._emit.demand(mixed_numbers.has_class(self._emit, ref))
        return mixed_numbers.unboxed(self._emit, ref)

    def look_at_arrays(self) -> None:
        """Leave if an array has another shape, dtype or address than before."""

        def look(path: Any, each: Any) -> Any:
            if isinstance(each, Array):
                self._emit.frame.demand_unchanged(each)
            return each

        for operand in (*self.flow.inputs.values(), *map(self.flow.fetch, list(self.flow.state.env))):
            mapped(look, operand)

    def object(self, operand: Any) -> tuple[Register, bool]:
        """Box an operand. Returns its object, and whether that is a new reference."""
        objects = self._objects
        if isinstance(operand, Number):
            return objects.number_object(operand.ref, operand.type), True
        if isinstance(operand, Complex):
            return objects.complex_object([part.ref for part in operand.parts], operand.type), True
        if isinstance(operand, Mixed):
            return mixed_numbers.object_of(self._emit, operand), True
        if isinstance(operand, Array):
            return self._emit.frame.array_object(operand), False
        if isinstance(operand, (Given, Boxed)):
            return operand.ref, False
        if isinstance(operand, Fixed):
            return objects.address(operand.value), False
        if isinstance(operand, Range):
            bounds = [objects.number_object(each.ref, INT) for each in counter_of(self.flow, operand)[:3]]
            found = objects.call(objects.address(range), bounds)
            for each in bounds:
                objects.forget(each)
            return found, True
        if not isinstance(operand, tuple):
            raise NoLowering        # a view, computed elements, or an object that is none
        parts = [ref if is_new else objects.acquire(ref) for ref, is_new in map(self.object, operand)]
        return objects.tuple_object(parts), True

    def make_object(self, value: Value, at: Point) -> None:
        """Make the object of an instance, before the node at a point; it is that of its value from then on."""
        self._emit.settle()
        found = make(self._objects, self.flow.fetch(value))
        self._emit.stop_if(Number(BOOL, self._emit.b.is_null(found)), self.flow.stop)
        self.flow.define(value, Boxed(found))
        self.flow.own((value, ()), found)
        self.flow.state.known = NOTHING     # the garbage collector may have run
        self.flow.resume_from(at)
        self.look_at_arrays()

    def truth(self, node: Node, operand: Any) -> Number:
        """The truth value of an operand that decides about a node."""
        operand = operand.parts[0] if isinstance(operand, Mixed) else operand
        try:
            return truth(self._emit, operand)
        except NoLowering:
            pass
        if isinstance(operand, (Boxed, Given)) and operand.of in SIZED:
            size = self._objects.load_at(I64, operand.ref, SIZE) if operand.of in (list, tuple) else None
            size = self._objects.python("PyObject_Size", operand.ref) if size is None else size
            return Number(BOOL, self._emit.b.icmp("ne", size, 0))
        test = Value(ANY)
        negated = Node("not", (test,), place=node.place)
        found = Node("not", (negated.add_output(BOOL),), place=node.place)
        ref = self._invoke(self._callback((node, "truth"), [negated, found], [found.add_output(BOOL)]), [operand])
        holds = number_of(self._emit, ref, BOOL)
        self._objects.forget(ref)
        assert isinstance(holds, Number)
        return holds


def _undefined(type: TensorType) -> Number:
    return Number(type, Register(llvm_type(type.dtype), "undef"))


def _clock() -> float:
    """The time that reading the clock takes."""
    return min(-(time.perf_counter() - time.perf_counter()) for _ in range(9))


def _short(number: float) -> str:
    return f"{number:.2g}" if number < 99.5 else f"{number:.0f}"


def _several(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def is_python_callback(node: Node) -> bool:
    """Whether a node can be a Python callback, or part of one."""
    return not node.blocks and node.op not in ("raise", "enter", "exit", "bound")


def _is_of_numpy(operand: Any) -> bool:
    if isinstance(operand, (Number, Complex)):
        return operand.type.kind == "scalar"
    return isinstance(operand, (Array, View))


def _may_reshape(node: Node) -> bool:
    """Whether a node may change the shape of an array in place, or the like."""
    return node.op in RESHAPES or effect_of(node).wild
