"""The recording of one call of a function as a graph.

While a function is traced, proxies record what is done with them in the block that is open; `if_stmt` and the loops
open blocks within, see `cond.py` and `loop.py`. What a trace captures from around the function is in
`environment.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import get_ident
from typing import Any, NoReturn

import numpy as np

from autograph.common.bytecode import stored_names
from autograph.common.packages import is_opaque_class, untraced
from autograph.common.statics import own_attribute
from autograph.runtime.graph.callables import full_name_of
from autograph.runtime.graph.graph import Constant, Graph, Node, Place, Value, drop_unused, types_in, user_line
from autograph.runtime.graph.opdef import ORDERED, WRITE, lookup, op_of
from autograph.runtime.graph.signature import Event
from autograph.runtime.graph.traits import CONSUMES, EQUALITY, GIVES_KEYS, HAS_DEFAULT, IN_PLACE, KEEPS, PRINTS
from autograph.runtime.graph.types import NONE, MaybeUnbound, ObjectType, TensorType, Type
from autograph.runtime.passes.speculatable import is_quiet
from autograph.runtime.tracing.proxies.context import TraceContext
from autograph.runtime.tracing.proxies.fstrings import FStrings, parts_of
from autograph.runtime.tracing.proxies.graph_break import WHOLE, NeedsConcrete, Plain, Restart
from autograph.runtime.tracing.proxies.protocols import ABOUT_TYPES, of_types
from autograph.runtime.tracing.proxies.proxy import Method, Tensor, check_names, is_tensor
from autograph.runtime.tracing.proxies.source_location import Handling, SourceLocation
from autograph.runtime.tracing.proxies.static_class import class_of
from autograph.runtime.tracing.state.blame import check_not_own
from autograph.runtime.tracing.state.builder import Blocks
from autograph.runtime.tracing.state.callbacks import Callbacks
from autograph.runtime.tracing.state.element_types import known_of_lists
from autograph.runtime.tracing.state.escape import Renewals, Tuples
from autograph.runtime.tracing.state.staged_containers import (
    STAGEABLE,
    StagedItems,
    contains_proxy,
    drained,
    has_fixed_keys,
    is_spread,
    owned,
    run_time,
    settle,
    spread,
    stage,
    staged_as,
)
from autograph.runtime.tracing.state.undo_log import UndoLog

_DEEP = 12  # containers in each other, among the arguments of a node
GENERATED = "retval_"  # the variable that converters keep a returned value in; it is read only once it is bound


class Trace(Blocks):
    """One tracing of one function.

    Args:
        context: what it needs of those who know the function.
    """

    def __init__(self, name: str, context: TraceContext) -> None:
        super().__init__(name)
        self.context = context
        self.location = SourceLocation()
        self.place = self.location.place  # where the user's program is
        self.undo_log = UndoLog(context)
        self.events: list[Event] = []
        self.prologue: list[Node] = []
        self.staged_items: list[StagedItems] = []
        self.renewals = Renewals(self.undo_log.handed_out)
        self.tuples = Tuples(context)
        self.iterated: dict[int, Place] = {}  # containers by identity: where iterators of the graph over them are made
        self.asked: list[str] = []  # special methods of traced code that Python calls, the innermost last
        self.generators: dict[int, tuple[Any, Any]] = {}  # those over plain values, with what they were made of
        self._proxies: dict[Value, Tensor] = {}
        self.plain_contexts: list[Place] = []  # where a `with` of plain Python was entered
        self.classes: dict[Value, type] = {}  # of captured objects, exactly
        self.maybe_methods: dict[Value, tuple[Tensor, str]] = {}  # attributes: whose, and which
        self.callbacks = Callbacks()
        self.called_methods: dict[Node, None] = {}  # what would read such an attribute, and calls do by themselves
        self.unused: dict[Value, Callable[[], None]] = {}  # captured arrays: what to do on first use
        self.needed: NeedsConcrete | None = None  # what Python last asked for
        # For each function that is traced into, the innermost last: the conditions on which it returns one of two
        # things that nobody may look at.
        self.loosened: list[list[Value]] = [[]]
        self.tests: list[Value] = []  # the conditions of the branches that are being traced
        self._fstrings = FStrings()

    def report(self, kind: str, message: str, place: Place | None = None) -> None:
        """Note something for `explain`."""
        self.events.append(Event(kind, message, user_line(self.place() if place is None else place)))

    # Recording --------------------------------------------------------------------------------------------------------

    def record(self, op: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
        """Record a node; gives the proxy of what it computes, or None if that is None."""
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
        if op in CONSUMES:
            args = tuple(map(drained, map(self.context.collected, args)))
        definition = lookup(op)
        if definition.effect in (WRITE, ORDERED) and op not in PRINTS:
            if op == "call" and any(type(part) is bytearray for part in args):
                raise Plain("a bytearray is handed to code that is not staged, and may change it", self.place())
            self._give_away(args, kwargs)
            if self.staged_items:
                settle(self)
            if op in KEEPS:
                *rest, last = args
                args = (*rest, self.tuples.lower(last) if self.tuples.has_identity(last) else last)
        elif op in HAS_DEFAULT:
            self._stage(args[1:])
        args = self.lower(args)
        kwargs = self.lower(kwargs) if kwargs else {}
        inferred = definition.infer(*_types_of(args), **types_in(kwargs))
        inferred = known_of_lists(self.assumed, definition, args, kwargs, inferred)
        place = self.place()
        node = Node(op, args, kwargs, (), place)
        if type(place) is Handling:
            place.check(node)
        node.own = self.location.reversing
        if self.undo_log.may_have_changes and not is_quiet(node):
            self.undo_log.write_back()
        self.append(node)
        names = stored_names(place[-1][0]).get(place[-1][1], ()) if place else ()
        if isinstance(inferred, list):
            names = names if len(names) == len(inferred) else ("",) * len(inferred)
            return tuple(self.proxy(node.add_output(type, name)) for type, name in zip(inferred, names))
        if (type(inferred) is ObjectType and inferred == NONE) or op == "raise":
            return None
        if op in IN_PLACE and _is_array(getattr(args[0], "type", None)) and _is_array(inferred):
            node.add_output(inferred)
            return self.proxy(args[0])
        return self.proxy(node.add_output(inferred, names[0] if len(names) == 1 else ""))

    def _record_spread(self, op: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        """Record a call with arguments of which only the graph knows how many there are."""
        target, rest = lookup(op).target, list(args)
        if target is None and op == "call":
            target, *rest = args
        elif target is None:
            target, *rest = self.record("getattr", (args[0], op[1:])), *args[1:]
        return self._made(target, self.record("call", (spread, target, rest, kwargs or {})))

    def _made(self, function: Any, result: Any) -> Any:
        """What a call gives, of which the class is known if that is what was called."""
        if isinstance(function, type) and is_tensor(result):
            result._ag_value.type = ObjectType(function.__name__)
            self.classes[result._ag_value] = function
        return result

    def note_class(self, value: Value, kind: type) -> None:
        """Note the class of a captured object, and report if it is opaque because of an installed package."""
        self.classes[value] = kind
        package = is_opaque_class(kind)
        if package:
            self.callbacks.packages.add(package)
            what = f"operations on objects of class {kind.__qualname__} is done when the graph runs"
            self.report("callback", f"{what}, {untraced(package)}")

    def proxy(self, value: Value) -> Tensor:
        """The proxy of a value: one for each, so that `is` tells the truth."""
        found = self._proxies.get(value)
        if found is None:
            found = self._proxies[value] = Tensor(value, self)
        return found

    def record_lowered(self, op: str, args: tuple[Any, ...]) -> Any:
        """The same for arguments that have values in them already."""
        inferred = lookup(op).infer(*types_in(args))
        node = Node(op, args, None, (), self.place())
        self.append(node)
        return None if inferred == NONE or isinstance(inferred, list) else self.proxy(node.add_output(inferred))

    def record_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record the call of a function, as the op that it is or as a callback."""
        if any(function is each for each in ABOUT_TYPES):
            known = of_types(function, [self.type_of(a) if is_tensor(a) else a for a in args], kwargs)
            if known is not NotImplemented:
                return known
        op = op_of(function)
        if op is None:
            given = (*args, *kwargs.values())
            check_names(self, str(own_attribute(function, "__name__")), given, False)
            why = self.callbacks.note(function, given)
            self.report("callback", f"{full_name_of(function)} is called as it is, {why}")
            return self._made(function, self.record("call", (function, *args), kwargs))
        return self.record(op, args, kwargs)

    def _give_away(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> None:
        """Let the graph hold the containers that are stored in an object of its own, or that a call may change."""
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
        """What `a, *b, c = tensor` takes its items from."""
        items = list(self.record("unpack", (tensor, before + 1 + after), {"star": before}))
        items[before] = StagedItems(items[before])
        return iter(items)

    def spread_items(self, tensor: Tensor) -> Iterator[Any]:
        """What `[*tensor]` takes its items from, and `{**tensor}` its keys."""
        node = tensor._ag_value.node
        if node is not None and node.op in GIVES_KEYS:
            return iter((StagedItems(self.record("call", (dict, self.proxy(node.args[0])))),))
        return iter((StagedItems(self.record("list", (tensor,))),))

    @staticmethod
    def is_all(key: Any) -> bool:
        """Whether a key stands for all the keys there are."""
        return type(key) is StagedItems

    def type_of(self, tensor: Tensor) -> Type:
        """The type of a proxy that is about to be used; a variable that may be unbound is checked."""
        return self.use(tensor).type

    def bound(self, tensor: Tensor, free: bool) -> Tensor:
        """The proxy of a variable that is read; `free`: by a function that it does not belong to."""
        if not isinstance(tensor._ag_value.type, MaybeUnbound):
            return tensor
        return self.proxy(self.use(tensor, free))

    def use(self, tensor: Tensor, free: bool = False) -> Value:
        """The value of a proxy that is used."""
        if tensor._ag_trace is not self or get_ident() != self.thread:
            raise tensor._ag_trace.strayed(tensor, self.place())
        value = tensor._ag_value
        if self.unused and value in self.unused:
            self.unused.pop(value)()
        if isinstance(value.type, MaybeUnbound):
            return self._bound(value, value.type, free)
        return value

    def _bound(self, value: Value, type: MaybeUnbound, free: bool) -> Value:
        """A value that is not unbound, as is seen to when the graph runs."""
        kwargs: dict[str, Any] = {} if value.name.startswith(GENERATED) else {"name": value.name}
        if free:
            kwargs["free"] = True
        node = Node("bound", (value,), kwargs, (), self.place())
        self.undo_log.write_back()
        self.block.nodes.append(node)
        return node.add_output(type.inner, value.name)

    def lower(self, args: Any, depth: int = 0) -> Any:
        """Arguments with values in the place of proxies, as nodes have them; `depth`: in how many others they are."""
        kind = type(args)
        if depth > _DEEP:
            raise Plain(f"a {kind.__name__} is within too many others here", self.place())
        if kind is Tensor:
            return self.use(args)
        if kind is tuple:
            if self.staged_items and is_spread(args):
                return self.use(run_time(self, args))
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
            raise Plain(f"a staged value is in a {kind.__qualname__}, which is more than a tuple", self.place())
        lifted = self.context.materializer.lift(args)
        if isinstance(lifted, tuple):       # as `sys.version_info`; to take it apart would make it a tuple
            return Constant(lifted)
        return self.use(lifted) if type(lifted) is Tensor else lifted

    def constant(self, value: Any) -> Tensor:
        """A proxy for a structure, made anew each time the graph runs."""
        return self.record("build", (value,))  # type: ignore[no-any-return]

    def materialize(self, container: Any, named: bool = False) -> Tensor:
        """Let an object of the graph hold what a container holds from now on; a tuple's is made anew each time.

        `named`: the variables that name it are going to name that object. Else the code must ask what it compares.
        """
        inside = owned(container)
        if inside is not None:
            return inside
        for part in list(container.values() if isinstance(container, dict) else container):
            self._stage(part)
        if type(container) is tuple:
            return run_time(self, container)
        made = None if owned(container) else run_time(self, container)
        inside = owned(container)
        if made is None or inside is not None:  # it had to be written to something, before all could be recorded
            return inside  # type: ignore[return-value]
        self.undo_log.touch(container)
        if not (named or self.context.whole):
            raise Restart({WHOLE})
        stage(container, made)
        return made

    # What Python asks -------------------------------------------------------------------------------------------------

    def needs(self, tensor: Tensor, use: str, asked: bool = False) -> NoReturn:
        value = self.use(tensor)
        if not self.context.whole and value.node is not None and _compares_text(value.node):
            raise Restart({WHOLE})
        self.needed = NeedsConcrete(value, use, self.place(), asked)
        raise self.needed

    def class_of(self, tensor: Tensor) -> type:
        """The class of what a proxy stands for."""
        known = self.known_class(self.use(tensor))
        return known if known is not None else self.needs(tensor, "to know its class")

    def known_class(self, value: Value) -> type | None:
        """The class of what a value is, if it is known."""
        return self.classes.get(value) or class_of(value)

    def formatted(self, tensor: Tensor, conversion: str, spec: str) -> str:
        """What stands for a formatted value until `fstring` makes a node of the whole text; only then it is known."""
        is_made = self._fstrings.pieces is not None
        return self._fstrings.mark(tensor, conversion, spec) if is_made else self.needs(tensor, "as text")

    def retyped(self, tensor: Tensor) -> None:
        """Forget what was known of an array whose shape or dtype is assigned.

        Raises:
            Plain: this happens in a branch or loop that began with what is forgotten.
        """
        value = self.use(tensor)
        if self.depth and value.node not in self.block.nodes:
            raise Plain("a branch or loop changes the shape or dtype of an array that was there before", self.place())
        if isinstance(value.type, TensorType):
            value.type = ObjectType("ndarray")

    def fstring(self, thunk: Callable[[], str]) -> Any:
        """The text that `thunk` makes, as an object of the graph if it holds staged values."""
        text, pieces = self._fstrings.made_by(thunk)
        return self.record("fstring", parts_of(text, pieces)) if pieces else text

    def finish(self, result: Any) -> Graph:
        """End the trace with the structure that is returned; None stands for a trace that always raises."""
        self.graph.block.nodes[:0] = self.prologue
        self.graph.block.results = result
        if self.called_methods:
            drop_unused(self.graph, self.called_methods)
        self.close()
        return self.graph


_ATOMS = frozenset({int, float, bool, complex, str, bytes, type(None), type(...), type, np.ufunc, np.dtype})


def _types_of(args: tuple[Any, ...]) -> list[Any]:
    """Arguments with types in the place of values."""
    return [arg.type if type(arg) is Value else arg if type(arg) in _ATOMS else types_in(arg) for arg in args]


def _is_array(type: Any) -> bool:
    return isinstance(type, TensorType) and type.exact and type.kind == "array"


def _compares_text(node: Node) -> bool:
    """Whether a node compares something with a text or None, or looks for it in several."""
    args = [part for arg in node.args for part in (arg if isinstance(arg, (tuple, list)) else [arg])]
    return node.op in EQUALITY and any(arg is None or type(arg) in (str, bytes) for arg in args)
