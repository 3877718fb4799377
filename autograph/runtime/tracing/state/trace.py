"""The recording of one call of a function as a graph.

While a function is traced, its proxies record operations in the open block. Branches and loops open further blocks, see
`cond.py` and `loop.py`. `environment.py` has the values that the trace captures from around the function.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from threading import get_ident
from typing import Any, NoReturn, TypeAlias

import numpy as np

from autograph.common import budget
from autograph.common.bytecode import stored_names
from autograph.common.packages import is_opaque_class, untraced
from autograph.common.statics import own_attribute
from autograph.errors import StagingError
from autograph.runtime.graph import traits
from autograph.runtime.graph.callables import full_name_of
from autograph.runtime.graph.effects import holds_values
from autograph.runtime.graph.graph import (
    Block,
    Constant,
    Graph,
    Node,
    Place,
    Value,
    drop_unused,
    types_in,
    user_line,
    walk,
)
from autograph.runtime.graph.opdef import ORDERED, WRITE, OpDef, lookup, op_of
from autograph.runtime.graph.signature import Event
from autograph.runtime.graph.types import NONE, MaybeUnbound, ObjectType, TensorType, Type
from autograph.runtime.passes.speculatable import is_quiet
from autograph.runtime.tracing.proxies.context import TraceContext
from autograph.runtime.tracing.proxies.graph_break import (
    WHOLE,
    NeedsConcrete,
    Plain,
    Restart,
    Unstageable,
    leaked,
    of_another_thread,
)
from autograph.runtime.tracing.proxies.proxy import Method, Tensor, check_names, is_tensor
from autograph.runtime.tracing.proxies.source_location import Handling, SourceLocation
from autograph.runtime.tracing.proxies.static_class import ABOUT_TYPES, class_of, of_types
from autograph.runtime.tracing.state.blame import check_not_own
from autograph.runtime.tracing.state.callbacks import Callbacks
from autograph.runtime.tracing.state.element_types import Assumptions, refine_lists
from autograph.runtime.tracing.state.escape import Replacements, Tuples
from autograph.runtime.tracing.state.likely_objects import LikelyObjects
from autograph.runtime.tracing.state.staged_containers import (
    STAGEABLE,
    StagedItems,
    contains_proxy,
    drained,
    graph_copy,
    graph_object_of,
    has_fixed_keys,
    is_spread,
    replace_contents,
    settle,
    shared_by,
    spread,
    staged_as,
)
from autograph.runtime.tracing.state.undo_log import UndoLog

_DEEP = 12  # containers in each other, among the arguments of a node
GENERATED = "retval_"  # the variable of converted code for a returned value; it is read only where it is bound


class Blocks:
    """The graph that is being made, and its blocks: nodes go to the innermost open one."""

    def __init__(self, name: str) -> None:
        self.graph = Graph(name)
        self.block = self.graph.block
        self.closed = False
        self.thread = get_ident()  # no other thread may use the proxies of the trace
        self.opened = [self.block]  # the innermost last
        self.assumed = Assumptions(self.opened)
        self._into: dict[Block, Block] = {}  # branches that became part of the block around them, and this block
        self._merged: dict[Block, list[Block]] = {}  # the inverse
        self.dropped: set[Node] = set()  # undone nodes of blocks that remain
        self.recorded = 0  # the number of nodes, undone ones included
        self.idle = itertools.count(1)  # counts the iterations since the last one was recorded
        self.budget = budget.current()
        self.long_loops: set[Any] = set()  # bodies of loops that record many operations in few iterations
        self.speculations: list[object] = []  # iterations as plain Python that end where the first `if` must be staged

    def append(self, node: Node) -> None:
        """Add a node to the open block."""
        self.budget.step()
        self.block.nodes.append(node)
        self.recorded += 1
        self.idle = itertools.count(1)

    def merge(self, block: Block) -> None:
        """Add the nodes of a branch to the open block, if the other branch always raises."""
        self.block.nodes.extend(block.nodes)
        self._into[block] = self.block
        self._merged.setdefault(self.block, []).append(block)

    def merged_parts(self, block: Block) -> Iterator[Block]:
        """A block, and the branches that became part of it."""
        rest = [block]
        while rest:
            yield (part := rest.pop())
            rest += self._merged.get(part, ())

    def merged_into(self, block: Block) -> Block:
        """The block that a branch has become part of, or itself."""
        while block in self._into:
            block = self._into[block]
        return block

    def drop(self, start: int, recorded: int | None = None) -> None:
        """Remove the nodes of the open block from a position on; `recorded`: the number of nodes to count from."""
        self.recorded = self.recorded if recorded is None else recorded
        self.dropped.update(self.block.nodes[start:])
        del self.block.nodes[start:]

    def open(self, block: Block) -> Opened:
        """Within it, nodes are recorded in `block`."""
        return Opened(self, block)

    @property
    def depth(self) -> int:
        """The number of staged blocks around the current place."""
        return len(self.opened) - 1

    def has(self, block: Block) -> bool:
        """Whether a block is open, or is in the graph; blocks of undone tracings are not."""
        return any(block is each for each in self.opened) or any(
            block is each for around in self.opened for node in walk(around) for each in node.blocks
        )

    def close(self) -> None:
        """End the trace, with a graph or without. Its proxies can no longer be used."""
        self.closed = True

    def strayed(self, tensor: Any, place: Place) -> StagingError:
        """The error for a proxy that is used after the end of its trace, or by another thread."""
        if self.closed or get_ident() == self.thread:
            return leaked(tensor._ag_value, place)
        return of_another_thread(tensor._ag_value, self.graph.name, place)


class Opened:
    """A context manager: within it, nodes are recorded in a block. (A generator would take longer.)"""

    __slots__ = ("_before", "_block", "_blocks")

    def __init__(self, blocks: Blocks, block: Block) -> None:
        self._blocks = blocks
        self._block = block

    def __enter__(self) -> Block:
        self._before, self._blocks.block = self._blocks.block, self._block
        self._blocks.opened.append(self._block)
        return self._block

    def __exit__(self, *raised: Any) -> None:
        self._blocks.block = self._before
        self._blocks.opened.pop()


class Trace(Blocks):
    """The tracing of one function.

    Args:
        context: the parts of the trace that know the function.
    """

    def __init__(self, name: str, context: TraceContext) -> None:
        super().__init__(name)
        self.context = context
        self.location = SourceLocation()
        self.place = self.location.place  # the current place in the user's program
        self.undo_log = UndoLog(context)
        self.events: list[Event] = []
        self.prologue: list[Node] = []
        self.staged_items: list[StagedItems] = []
        self.replacements = Replacements(self.undo_log.shared_with_graph)
        self.tuples = Tuples(context)
        self.iterated: dict[int, Place] = {}  # by identity of a container: where the graph makes an iterator over it
        self.special_calls: list[str] = []  # special methods that Python is calling, the innermost last
        self.generators: dict[int, tuple[Any, Any]] = {}  # generators over plain values, with their expressions
        self._proxies: dict[Value, Tensor] = {}
        self.plain_contexts: list[Place] = []  # where a `with` of plain Python was entered
        self.classes: dict[Value, type] = {}  # the exact classes of captured objects
        self.likely = LikelyObjects()
        self.maybe_methods: dict[Value, tuple[Tensor, str]] = {}  # attributes that may be methods: owner and name
        self.callbacks = Callbacks()
        self.called_methods: dict[Node, None] = {}  # reads of such attributes that are unused, as they were called
        self.unused: dict[Value, Callable[[], None]] = {}  # captured arrays without a use yet, and how to load them
        self.last_needed: NeedsConcrete | None = None
        # For each function that is traced into, the innermost last: the conditions on which its result is one of two
        # unrelated objects, which traced code must not look at.
        self.loosened: list[list[Value]] = [[]]
        self.tests: list[Value] = []  # the conditions of the branches that are being traced
        self._pieces: list[Piece] | None = None  # the staged values of the f-string that is being made

    def report(self, kind: str, message: str, place: Place | None = None) -> None:
        """Report an event to `explain`."""
        self.events.append(Event(kind, message, user_line(self.place() if place is None else place)))

    # Recording --------------------------------------------------------------------------------------------------------

    def record(self, op: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
        """Record a node; returns the proxy of its result, or None if the result is None."""
        try:
            return self._record(op, args, kwargs)
        except Exception as error:
            check_not_own(error)
            raise

    def _record(self, op: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        if self.closed or get_ident() != self.thread:
            raise self.strayed(next(part for part in args if is_tensor(part)), self.place())
        if self.staged_items and is_spread(args):
            return self._record_spread(op, args, kwargs)
        if op in traits.CONSUMES:
            args = tuple(map(drained, map(self.context.collected, args)))
        definition = lookup(op)
        is_staging = definition.effect in (WRITE, ORDERED) and op not in traits.PRINTS
        if is_staging:
            if op == "call" and any(type(part) is bytearray for part in args):
                self.graph_break("a bytearray is handed to code that is not staged, and may change it")
            self._materialize_args(args, kwargs)
            if self.staged_items:
                settle(self)
            if op in traits.KEEPS or op == "call":
                args = tuple(map(self.tuples.kept, args))
                kwargs = kwargs and {name: self.tuples.kept(part) for name, part in kwargs.items()}
        elif op in traits.HAS_DEFAULT:
            self._stage(args[1:])
        lowered, inferred = _lower_for(self, definition, args, kwargs)
        if not (is_staging or self.context.keeps_containers or holds_values(inferred)):
            shared = shared_by(op, (*args, *kwargs.values()) if kwargs else args)
            for container in shared:
                self.materialize(container)
            lowered, inferred = _lower_for(self, definition, args, kwargs) if shared else (lowered, inferred)
        args, kwargs = lowered
        inferred = refine_lists(self.assumed, definition, args, kwargs, inferred)
        place = self.place()
        node = Node(op, args, kwargs, (), place)
        if type(place) is Handling:
            place.check(node)
        node.own = self.location.reversing
        if (self.undo_log.pending or self.undo_log.watched) and not is_quiet(node):
            self.undo_log.write_back()
        self.append(node)
        names = stored_names(place[-1][0]).get(place[-1][1], ()) if place else ()
        if isinstance(inferred, list):
            names = names if len(names) == len(inferred) else ("",) * len(inferred)
            return tuple(self.proxy(node.add_output(type, name)) for type, name in zip(inferred, names))
        if (type(inferred) is ObjectType and inferred == NONE) or op == "raise":
            return None
        if op in traits.IN_PLACE and _is_array(getattr(args[0], "type", None)) and _is_array(inferred):
            node.add_output(inferred)
            return self.proxy(args[0])
        return self.proxy(node.add_output(inferred, names[0] if len(names) == 1 else ""))

    def _record_spread(self, op: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        """Record a call with a number of arguments that only the graph knows."""
        target, rest = lookup(op).target, list(args)
        if target is None and op == "call":
            target, *rest = args
        elif target is None:
            target, *rest = self.record("getattr", (args[0], op[1:])), *args[1:]
        return self._call(target, (spread, target, rest, kwargs or {}), {})

    def _call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call; if it is one of a class, the class of the result is known."""
        result = self.record("call", args, kwargs)
        if isinstance(function, type) and is_tensor(result):
            result._ag_value.type = ObjectType(function.__name__)
            self.classes[result._ag_value] = function
        return result

    def note_class(self, value: Value, kind: type) -> None:
        """Note the class of a captured object; report it if an installed package makes it opaque."""
        self.classes[value] = kind
        package = is_opaque_class(kind)
        if package:
            self.callbacks.packages.add(package)
            what = f"operations on objects of class {kind.__qualname__} is done when the graph runs"
            self.report("callback", f"{what}, {untraced(package)}")

    def proxy(self, value: Value) -> Tensor:
        """The proxy of a value: always the same one, so that `is` gives the right answer."""
        found = self._proxies.get(value)
        if found is None:
            found = self._proxies[value] = Tensor(value, self)
        return found

    def record_lowered(self, op: str, args: tuple[Any, ...]) -> Any:
        """Record a node whose arguments contain values instead of proxies."""
        inferred = lookup(op).infer(*types_in(args))
        node = Node(op, args, None, (), self.place())
        self.append(node)
        return None if inferred == NONE or isinstance(inferred, list) else self.proxy(node.add_output(inferred))

    def record_function(self, function: Any, args: tuple[Any, ...], kwargs: Any, called: Any = None) -> Any:
        """Record the call of a function, or of another one in its place: as its op, or as a callback."""
        if any(function is each for each in ABOUT_TYPES):
            result = of_types(function, [self.type_of(a) if is_tensor(a) else a for a in args], kwargs)
            if result is not NotImplemented:
                return result
        if (op := op_of(function)) is None:
            parts = (*args, *kwargs.values())
            check_names(self, str(own_attribute(function, "__name__")), parts, False)
            why = self.callbacks.note(function, parts)
            if called is None:
                self.report("callback", f"{full_name_of(function)} is called as it is, {why}")
            return self._call(function, (called or function, *args), kwargs)
        return self.record(op, args, kwargs)

    def _materialize_args(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> None:
        """Materialize containers that are stored in an object of the graph, or that a call may change."""
        into = args[0] if args else None
        if self.context.keeps_containers:
            return
        if type(into) is Tensor and isinstance(into._ag_value.type, TensorType):
            return
        for part in (*args, *kwargs.values()) if kwargs else args:
            self._stage(part)

    def _stage(self, part: Any) -> None:
        for inner in part if type(part) is tuple else ():
            self._stage(inner)
        if type(part) in STAGEABLE:
            self.materialize(part)

    def unpack_starred(self, tensor: Tensor, before: int, after: int) -> Iterator[Any]:
        """The iterator that `a, *b, c = tensor` unpacks."""
        items = list(self.record("unpack", (tensor, before + 1 + after), {"star": before}))
        items[before] = StagedItems(items[before])
        return iter(items)

    def spread_items(self, tensor: Tensor) -> Iterator[Any]:
        """The iterator over the items of `[*tensor]`, or the keys of `{**tensor}`."""
        node = tensor._ag_value.node
        if node is not None and node.op in traits.GIVES_KEYS:
            return iter((StagedItems(self.record("call", (dict, self.proxy(node.args[0])))),))
        return iter((StagedItems(self.record("list", (tensor,))),))

    @staticmethod
    def is_all(key: Any) -> bool:
        """Whether a key represents all keys of a dict of the graph."""
        return type(key) is StagedItems

    def type_of(self, tensor: Tensor) -> Type:
        """The type of a proxy that is about to be used."""
        return self.use(tensor).type

    def bound(self, tensor: Tensor, free: bool) -> Tensor:
        """The proxy of a variable that is read; `free`: by a function inside the one that it belongs to."""
        if not isinstance(tensor._ag_value.type, MaybeUnbound):
            return tensor
        return self.proxy(self.use(tensor, free))

    def use(self, tensor: Tensor, free: bool = False) -> Value:
        """The value of a proxy that is about to be used; the graph checks a variable that may be unbound."""
        if tensor._ag_trace is not self or get_ident() != self.thread:
            raise tensor._ag_trace.strayed(tensor, self.place())
        value = tensor._ag_value
        if self.unused and value in self.unused:
            self.unused.pop(value)()
        if not isinstance(value.type, MaybeUnbound):
            return value
        kwargs: dict[str, Any] = {} if value.name.startswith(GENERATED) else {"name": value.name}
        if free:
            kwargs["free"] = True
        node = Node("bound", (value,), kwargs, (), self.place())
        self.undo_log.write_back()
        self.block.nodes.append(node)
        return node.add_output(value.type.inner, value.name)

    def lower(self, args: Any, depth: int = 0) -> Any:
        """Arguments of a node, with values instead of proxies; `depth`: the number of containers around them."""
        kind = type(args)
        if depth > _DEEP:
            self.graph_break(f"a {kind.__name__} is within too many others here")
        if kind is Tensor:
            return self.use(args)
        if kind is tuple:
            if self.staged_items and is_spread(args):
                return self.use(graph_copy(self, args))
            return tuple([part if type(part) in _ATOMS else self.lower(part, depth + 1) for part in args])
        if kind in STAGEABLE:
            inside = staged_as(args)
            if inside is not None:
                return self.use(inside)
            if kind is list:
                return [self.lower(part, depth + 1) for part in args]
            if kind is dict and has_fixed_keys(args, self.lower):
                return {key: self.lower(part, depth + 1) for key, part in args.items()}
            if kind in (set, dict):
                return self.use(self.record("call", (kind, tuple(args if kind is set else args.items()))))
            return self.use(self.materialize(args))
        if kind is StagedItems:
            args._refuse()
        if kind is Method:
            return self.use(self.record("getattr", (args.owner, args.name)))
        if kind is slice:
            return slice(self.lower(args.start), self.lower(args.stop), self.lower(args.step))
        if kind in _ATOMS:
            return args
        if kind is tuple or (isinstance(args, tuple) and hasattr(kind, "_fields")):
            return tuple.__new__(kind, (self.lower(part, depth + 1) for part in tuple.__iter__(args)))
        if isinstance(args, tuple) and contains_proxy(tuple(tuple.__iter__(args))):
            self.graph_break(f"a staged value is in a {kind.__qualname__}, which is more than a tuple")
        lifted = self.context.materializer.lift(args)
        if isinstance(lifted, tuple):       # as `sys.version_info`; to take it apart would make it a tuple
            return Constant(lifted)
        return self.use(lifted) if type(lifted) is Tensor else lifted

    def constant(self, value: Any) -> Tensor:
        """A proxy for a structure that the graph makes anew in each run."""
        return self.record("build", (value,))  # type: ignore[no-any-return]

    def materialize(self, container: Any, named: bool = False) -> Tensor:
        """Move the contents of a container to an object of the graph; those of a tuple are copied.

        Args:
            named: the variables that refer to the container will refer to that object. Otherwise the code must be the
                version that marks the operands of comparisons.
        """
        inside = graph_object_of(container)
        if inside is not None:
            return inside
        for part in list(container.values() if isinstance(container, dict) else container):
            self._stage(part)
        if type(container) is tuple:
            return graph_copy(self, container)
        made = None if graph_object_of(container) else graph_copy(self, container)
        inside = graph_object_of(container)
        if made is None or inside is not None:  # a write-back has materialized it meanwhile
            return inside  # type: ignore[return-value]
        self.undo_log.touch(container)
        if not (named or self.context.whole):
            raise Restart({WHOLE})
        replace_contents(container, made)
        return made

    # Concrete values --------------------------------------------------------------------------------------------------

    def graph_break(self, reason: str) -> NoReturn:
        """Interrupt tracing: for this signature, the function runs as plain Python."""
        raise Plain(reason, self.place())

    def unstageable(self, message: str, things: Sequence[Any] = ()) -> NoReturn:
        """Interrupt tracing, as the program does something that cannot be staged; `things`: see `Unstageable`."""
        raise Unstageable(message, self.place(), things=things)

    def needs(self, tensor: Tensor, use: str, asked: bool = False) -> NoReturn:
        """Interrupt tracing, as Python needs the value of a proxy for some use; see `NeedsConcrete`."""
        value = self.use(tensor)
        if not self.context.whole and value.node is not None and _compares_text(value.node):
            raise Restart({WHOLE})
        self.last_needed = NeedsConcrete(value, use, self.place(), asked)
        raise self.last_needed

    def class_of(self, tensor: Tensor) -> type:
        """The class of the object that a proxy represents."""
        kind = self.known_class(self.use(tensor))
        return kind if kind is not None else self.needs(tensor, "to know its class")

    def known_class(self, value: Value) -> type | None:
        """The class of the object that a value represents, if it is known."""
        return self.classes.get(value) or class_of(value)

    def formatted(self, tensor: Tensor, conversion: str, spec: str) -> str:
        """A mark for a formatted value, in the text that `fstring` is making."""
        if self._pieces is None:
            self.needs(tensor, "as text")
        self._pieces.append((tensor, conversion, spec))
        return f"\ue000{len(self._pieces) - 1}\ue001"

    def retyped(self, tensor: Tensor) -> None:
        """Forget the type of an array whose shape or dtype is assigned.

        Raises:
            Plain: this happens in a branch or loop, which began with that type.
        """
        value = self.use(tensor)
        if self.depth and value.node not in self.block.nodes:
            self.graph_break("a branch or loop changes the shape or dtype of an array that was there before")
        if isinstance(value.type, TensorType):
            value.type = ObjectType("ndarray")

    def fstring(self, thunk: Callable[[], str]) -> Any:
        """The text that `thunk` makes; an object of the graph if staged values are in it."""
        pieces: list[Piece] = []
        before, self._pieces = self._pieces, pieces
        try:
            text = thunk()
        finally:
            self._pieces = before
        return self.record("fstring", _parts_of(text, pieces)) if pieces else text

    def finish(self, result: Any) -> Graph:
        """End the trace with the structure that the function returns; None if it always raises."""
        self.graph.block.nodes[:0] = self.prologue
        self.graph.block.results = result
        if self.called_methods:
            drop_unused(self.graph, self.called_methods)
        self.close()
        return self.graph


Piece: TypeAlias = "tuple[Any, str, str]"  # a staged value in an f-string, with conversion and format
_PIECE = re.compile("\ue000(\\d+)\ue001")


def _parts_of(text: str, pieces: list[Piece]) -> tuple[Any, ...]:
    """The parts of an f-string, in whose text marks with their numbers represent the staged values."""
    parts: list[Any] = []
    for position, part in enumerate(_PIECE.split(text)):
        if position % 2:
            value, conversion, spec = pieces[int(part)]
            parts.append((value, conversion.lstrip("!"), _parts_of(spec, pieces) if _PIECE.search(spec) else spec))
        elif part:
            parts.append(part)
    return tuple(parts)


_ATOMS = frozenset({int, float, bool, complex, str, bytes, type(None), type(...), type, np.ufunc, np.dtype})


class _Current(threading.local):
    """The traces that this thread is making, the innermost last."""

    def __init__(self) -> None:
        self.traces: list[Trace] = []


CURRENT = _Current()


def _types_of(args: tuple[Any, ...]) -> list[Any]:
    """Arguments with types instead of values."""
    return [arg.type if type(arg) is Value else arg if type(arg) in _ATOMS else types_in(arg) for arg in args]


def _lower_for(trace: Trace, definition: OpDef, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """The positional and keyword arguments of a node of an op, and the inferred type of its result."""
    args, kwargs = trace.lower(args), trace.lower(kwargs) if kwargs else {}
    return (args, kwargs), definition.infer(*_types_of(args), **types_in(kwargs))


def _is_array(type: Any) -> bool:
    return isinstance(type, TensorType) and type.exact and type.kind == "array"


def _compares_text(node: Node) -> bool:
    """Whether a node compares a value with a text or None, or looks for it among these."""
    types = {type(part) for arg in node.args for part in (arg if isinstance(arg, (tuple, list)) else [arg])}
    return node.op in traits.COMPARISON | traits.EQUALITY and not types.isdisjoint({str, bytes, type(None)})
