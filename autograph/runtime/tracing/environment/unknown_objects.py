"""Alias analysis of objects that only the graph knows, such as the items of a deque or of a long list.

    plan[0].value = 7       # `plan` is a deque
    return last.value       # traced code knows this object

If `plan[0]` may be `last`, the change must show in `last`. So the function runs as plain Python if the graph may change
an object that traced code knows by another name: by setting an attribute or item, or in code that is not traced.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import cached_property, partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple, NoReturn

from autograph.common.bytecode import DECISIVE, functions_in, rebound_globals, rebound_outside, set_attributes
from autograph.common.statics import class_attribute, is_a, mro_of
from autograph.common.trace_rules import is_known_library
from autograph.runtime.graph.aliasing import Aliasing
from autograph.runtime.graph.effects import CONTAINER, NUMBER, UNKNOWN, Effect, category, effect_of, is_new
from autograph.runtime.graph.graph import Constant, Node, Value, user_line, values_in, walk
from autograph.runtime.graph.object_model import is_open, is_users, parts_inside
from autograph.runtime.graph.signature import Respecialize
from autograph.runtime.graph.traits import (
    ADDITION,
    ADDS_NO_ITEMS,
    EXTREME,
    GIVES_ITEM,
    GIVES_PARTS,
    HAS_DEFAULT,
    IN_PLACE,
    KEEPS,
    LENGTH,
    OVERLOADED,
    PART_OF_FIRST,
    PLAIN,
    VIEWS_ITEMS,
    plain,
)
from autograph.runtime.graph.types import ObjectType
from autograph.runtime.tracing.environment.container_aliases import ContainerAliases
from autograph.runtime.tracing.environment.environment import CapturedEnvironment, read_by_graph
from autograph.runtime.tracing.environment.object_source import Source, has_places, inner_source
from autograph.runtime.tracing.proxies.graph_break import Plain, Restart, SourceKey
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import attributes

_CALLABLE = (FunctionType, MethodType, partial)
_SETTERS = (setattr, delattr, object.__setattr__, object.__delattr__)


def check_unknown_objects(
    trace: Trace, environment: CapturedEnvironment, aliases: ContainerAliases, loaded: Set[Value], names: Set[str],
    free: Set[str],
) -> None:  # fmt: skip
    """Check that the graph changes no object that only it knows, and that may be one that traced code knows.

    Args:
        loaded: the values that are containers of the caller's, whose names are checked elsewhere.
        names: the names in traced code.
        free: the variables of the functions around traced code.

    Raises:
        Plain: it may.
    """
    sources = environment.sources
    things: list[Any] | None = None
    containers: list[_Copy] | None = None
    variables = _Variables(environment, names, free)
    for change in UnknownObjects(trace, {*loaded, *environment.loads.values()}).changes():
        if change.attribute != "" or change.method:
            if things is None:
                things = [thing for thing in sources.reachable() if is_open(type(thing))]
            if found := variables.changed_by(change):
                what = f"the variable {found} may be set by code that only the graph knows, and is read here"
                raise Plain(what, change.node.place)
            for thing in things:
                if _may_change(change, thing):
                    found = _read_attribute(thing, change.attribute or None, sources.reads_of(thing), names)
                    if found:
                        what = f"the attribute {found} of an object that only the graph knows may change"
                        what = f"{what}, and may be that of an object that is read here"
                        raise Plain(what, change.node.place, [thing])
        if change.container != "":
            if containers is None:
                copies = [_Copy(value, source, source.key) for value, source in aliases.copies()]
                containers = [*copies, *_containers_within(environment, names)]
                guarded = {id(each.value) for each in copies}
            changed = [each for each in containers if change.container in (None, type(each.value).__name__)]
            if change.is_item:
                changed = [each for each in changed if id(each.value) not in guarded]
            if changed:
                _ask_for(changed, change.node, environment.late)


def _may_change(change: Change, thing: Any) -> bool:
    """Whether an object with attributes may be the one that changes."""
    if change.attribute == "":
        return _is_users(class_attribute(type(thing), change.method))
    return change.kind in (None, type(thing)) or issubclass(type(thing), change.kind or object)


class _Variables:
    """The variables and class attributes that traced code reads, and that others may set.

    Unknown code may set those that some function of the modules sets whose globals traced code reads.

    Args:
        names: the names in traced code.
        free: the variables of the functions around traced code.
    """

    def __init__(self, environment: CapturedEnvironment, names: Set[str], free: Set[str]) -> None:
        self._environment, self._names, self._free = environment, names, free
        self._modules = [own for own in environment.globals.values() if not is_known_library(own.real.get("__name__"))]

    def changed_by(self, change: Change) -> str | None:
        """One that a change of a module, or unknown code, may set."""
        if change.kind not in (None, ModuleType) or change.attribute == "":
            return None
        if change.attribute is not None:
            return next((change.attribute for own in self._modules if change.attribute in own.read()), None)
        is_theirs = change.node.op == "call" or change.node.op[1:] in self._functions
        return self._set_by_unknown_code if is_theirs else None

    @cached_property
    def _codes(self) -> list[list[CodeType]]:
        return [[each.__code__ for each in functions_in(own.real)] for own in self._modules]

    @cached_property
    def _functions(self) -> set[str]:
        return {code.co_name for codes in self._codes for code in codes}

    @cached_property
    def _set_by_unknown_code(self) -> str | None:
        modules = zip(self._modules, self._codes)
        read: list[Set[str]] = [own.read() & _all(rebound_globals, codes) for own, codes in modules]
        every = list(itertools.chain(*self._codes))
        set_ = _all(set_attributes, every)
        things = [thing for thing, _ in self._environment.sources.objects.values()]
        kinds = {id(kind): kind for thing in things for kind in mro_of(thing if is_a(thing, type) else type(thing))}
        read += [self._free & _all(rebound_outside, every), set_ & DECISIVE]
        read += [self._names & set_ & vars(kind).keys() for kind in kinds.values() if is_users(kind)]
        return next((name for found in read for name in sorted(found)), None)


def _all(names: Callable[[CodeType], frozenset[str]], codes: Iterable[CodeType]) -> frozenset[str]:
    return frozenset[str]().union(*map(names, codes))


def _is_users(method: Any) -> bool:
    """Whether a method is the user's code."""
    return type(method) is FunctionType and not is_known_library(method.__module__)


class _Copy(NamedTuple):
    """A container of which traced code has a copy.

    Attributes:
        key: the key under which the graph can read it instead; None if there is none.
    """

    value: Any
    source: Source
    key: SourceKey | None


def _ask_for(containers: Sequence[_Copy], node: Node, late: Set[SourceKey]) -> NoReturn:
    """Ask that the graph reads containers of which traced code has copies, since a node may change them.

    Args:
        late: keys of the sources that the graph reads already.

    Raises:
        Respecialize: they are arguments.
        Restart: they are in variables or attributes.
        Plain: the graph cannot read them.
    """
    first, line = containers[0], user_line(node.place)
    reason = f"a {type(first.value).__name__} that only the graph knows is changed, and may be {first.source.text}"
    containers = [each for each in containers if type(each.value) in _WHOLE]
    arguments = [each.source.text for each in containers if each.source.op == "param"]
    if arguments:
        raise Respecialize(whole=(*arguments,), reason=f"{reason}, {line[0]}:{line[1]}" if line else reason)
    others = {each.key: each.value for each in containers if each.key is not None and each.key not in late}
    if others:
        raise Restart({*others}, [part for value in others.values() for part in parts_inside(value)])
    raise Plain(reason, node.place)


_WHOLE = frozenset({list, dict, set, tuple})     # which the graph may get as they are


def _containers_within(environment: CapturedEnvironment, names: Set[str]) -> Iterator[_Copy]:
    """The containers in attributes and items of which traced code has copies."""
    sources = environment.sources
    read = {id(value): value for value in read_by_graph(environment)}
    for thing, base, key, part in sources.known_parts(without=read):
        if key is None or not has_places(part) or id(part) in read:
            continue
        reads = sources.reads_of(thing) if is_open(type(thing)) else {key}
        if key in (names if reads is None else reads):
            found = ("attribute", id(thing), key) if is_open(type(thing)) else None
            yield _Copy(part, inner_source(thing, base, key), found)


def _read_attribute(thing: Any, name: str | None, reads: Set[str] | None, names: Set[str]) -> str | None:
    """An attribute of a known object that traced code reads and that a change of one with a name may change.

    Args:
        name: None if any attribute may change.
        reads: the attributes that traced code has read; None if it may have read all in `names`.
    """
    own = attributes(thing)
    found = class_attribute(type(thing), name) if name is not None else None
    is_property = hasattr(type(found), "__set__") and name not in own and not hasattr(found, "__objclass__")
    if name is not None and not is_property:
        exists = name in own or found is not None
        return name if exists and name in (names if reads is None else reads) else None
    if getattr(getattr(type(thing), "__dataclass_params__", None), "frozen", False):
        return None
    return next((each for each in own if each in (names if reads is None else reads)), None)


class Change(NamedTuple):
    """A change of an object that only the graph knows.

    Attributes:
        kind: the class of the object, if it is known.
        attribute: the name of the only attribute that it may change; "" for none, None for any.
        container: the kind of the containers that it may change; "" for none, None for any.
        is_item: whether it sets an item of something in an argument. Whether that is a container which traced code has
            under another name is checked elsewhere, unless that name is an attribute.
        method: the method that sets items; for an object of the user's, this may change any attribute.
    """

    node: Node
    kind: type | None
    attribute: str | None
    container: str | None
    is_item: bool = False
    method: str = ""


class UnknownObjects:
    """The values of a graph that may be objects which traced code knows.

    Args:
        loaded: the values that are containers of the caller's, whose names are checked elsewhere.
    """

    def __init__(self, trace: Trace, loaded: Set[Value]) -> None:
        self._trace = trace
        self._loaded = loaded
        self._block = trace.graph.block
        self._params = frozenset(trace.graph.params)
        self._arguments = {each for each in self._params if category(each) == CONTAINER}
        self._aliasing: Aliasing | None = None
        self._flows: dict[Value, list[Any]] = {}
        self._iterated: dict[Value, Node] = {}
        self._changed: set[Value] = set()
        self._uses: dict[Value, list[Node]] = {}
        self._renamed: set[Value] = set()       # those that blocks take or give under other names
        self._find_flows()

    def changes(self) -> Iterator[Change]:
        """The changes of objects that traced code may know."""
        for node in walk(self._block):
            if node.args and _is_of_numpy(node.args[0]):
                continue
            is_setter = node.op == "call" and _is_called(node, _SETTERS)
            target, *rest = node.args[is_setter:] or (None,)
            if node.op in ("setattr", "delattr") or is_setter:
                if self._may_be_known(target):
                    yield Change(node, self._trace.known_class(target), rest[0] if type(rest[0]) is str else None, "")
            elif self._runs_unknown_code(node):
                yield Change(node, None, None, None)
            elif ((changes := self._changes_items(node)) or _method_of(node)) and self._may_be_known(target):
                if changes and not self._is_in_loaded(target):
                    is_item = node.op == "setitem" and self._is_in_argument(target)
                    attribute = None if _is_namespace(target) else ""
                    yield Change(node, None, attribute, _kind(target), is_item, _method_of(node))
                elif _method_of(node):
                    yield Change(node, None, "", "", True, _method_of(node))

    def _changes_items(self, node: Node) -> bool:
        """Whether a node may change the items of its first argument."""
        target: Any = node.args[0] if node.args else None
        made = target.node if isinstance(target, Value) else None
        if made is not None and made.op in IN_PLACE and type(made.args[1]) in (float, complex):
            return False    # it would have failed for a container
        if node.op in IN_PLACE:
            other = node.args[1]
            is_number = category(other) == NUMBER or type(other) in (float, complex)
            repeats = plain(node.op) in OVERLOADED and plain(node.op) not in ADDITION     # `xs *= 2`
            return not is_number and (type(other) is not int or repeats)
        is_writer = node.op in ("setitem", "delitem") or node.op.startswith(".")
        return is_writer and any(leaf is node.args[0] for leaf in effect_of(node).writes)

    def _runs_unknown_code(self, node: Node) -> bool:
        """Whether a node calls a function or method that may be the user's."""
        target = node.args[0] if node.args else None
        is_method = node.op.startswith(".")
        if not (is_method or node.op == "call") or not isinstance(target, Value) or category(target) != UNKNOWN:
            return False
        kind = self._trace.known_class(target)
        if kind is not None and is_method:
            return _is_users(class_attribute(kind, node.op[1:]))
        is_row = node.op in _METHODS and self._is_in_loaded(target)
        runs_users = kind is None or kind in _CALLABLE or _is_users(class_attribute(kind, "__call__"))
        return runs_users and not is_row and self._may_be_known(target)

    def _is_in_loaded(self, leaf: Any) -> bool:
        """Whether a value is an item, at any depth, of containers of the caller's in the graph."""
        return self._is_within(leaf, self._loaded)

    def _is_in_argument(self, leaf: Any) -> bool:
        """The same for arguments that are containers."""
        return self._is_within(leaf, self._arguments)

    def _is_within(self, leaf: Any, containers: Set[Value]) -> bool:
        rest = [leaf]
        while rest:
            leaf = rest.pop()
            if not isinstance(leaf, Value) or leaf in containers:
                continue
            node = self._iterated.get(leaf, leaf.node)
            is_built = node is not None and node.op == "build" and leaf not in self._changed
            if node is None or not (is_built or node.op == "getitem" or leaf in self._iterated):
                return False
            rest += values_in(node.args) if is_built else node.args[:1]
        return True

    def _may_be_known(self, leaf: Any) -> bool:
        """Whether a value may be an object that traced code knows."""
        if self._aliasing is None:
            self._aliasing = _Aliasing(self._trace.graph)
        rest, seen = [leaf], set[Value]()
        while rest:
            leaf = rest.pop()
            if not isinstance(leaf, Value) or leaf in seen:
                continue
            seen.add(leaf)
            if leaf in self._flows:
                rest += self._flows[leaf]
            elif leaf.node is not None and leaf.node.op in IN_PLACE:
                rest.append(leaf.node.args[0])
            elif (stored := self._stored_in_own(leaf.node)) is not None:
                rest += stored
            elif self._is_part(leaf, self._aliasing):
                return True
        return False

    def _stored_in_own(self, node: Node | None) -> list[Any] | None:
        """The values of which a node takes one from a container that the graph makes; None if it may hold others."""
        made = node.args[0] if node is not None and node.op in GIVES_PARTS else None
        if not isinstance(made, Value) or made.node is None or made.node.op != "build" or made in self._renamed:
            return None
        stored = [*values_in(made.node.args)]
        for each in self._uses[made]:
            others = values_in((each.args[1:], each.kwargs))
            if made in others or not (each.op == "for" or any(each.op in trait for trait in _HARMLESS)):
                return None
            stored += others
        return stored

    def _is_part(self, leaf: Value, aliasing: Aliasing) -> bool:
        """Whether a value is a part of an object outside, or of one that unknown code gets."""
        kind, node = category(leaf), leaf.node
        if kind not in (CONTAINER, UNKNOWN) or leaf in self._loaded or leaf in self._params:
            return False
        if node is not None and (node.op == "build" or node.op in PLAIN.values() or _makes_anew(node)):
            return False
        parts = PART_OF_FIRST, GIVES_ITEM, HAS_DEFAULT, EXTREME
        gives_parts = node is None or node.op == "call" or any(node.op in trait for trait in parts)
        return (gives_parts or kind == UNKNOWN) and aliasing.escapes(leaf)

    def _find_flows(self) -> None:
        """Note the values that parameters of blocks and results of branches and loops may be."""
        for node in walk(self._block):
            for value in values_in((node.args, node.kwargs)):
                self._uses.setdefault(value, []).append(node)
            self._changed.update(leaf for leaf in effect_of(node).writes if isinstance(leaf, Value))
            inits = node.inits if node.blocks else ()
            if node.op == "for":
                items = node.blocks[0].params[: len(node.blocks[0].params) - len(inits)]
                self._iterated.update(dict.fromkeys(items, node))
            carried = [block.params[len(block.params) - len(inits) :] for block in node.blocks]
            for values in (*carried, node.outputs if node.blocks else ()):
                self._flow(inits, values)
            for block in node.blocks[node.op == "while" :]:
                results = (block.results or ())[-len(node.outputs) :] if node.outputs else ()
                for values in (*carried, node.outputs):
                    self._flow(results, values)

    def _flow(self, args: Any, values: Any) -> None:
        for arg, value in zip(args, values):
            self._flows.setdefault(value, []).append(arg)
            self._renamed.update(values_in(arg))


def _method_of(node: Node) -> str:
    """The method that an operator calls which changes its first argument, if that may be an object of the user's."""
    is_change = node.op in ("setitem", "delitem") or node.op in IN_PLACE
    return f"__{node.op}__" if is_change and category(node.args[0]) == UNKNOWN else ""


class _Aliasing(Aliasing):
    """The alias analysis of graphs whose copies and methods of containers are those of Python."""

    def _effect_of(self, node: Node) -> Effect:
        effect = effect_of(node)
        if node.op == "call" and _is_called(node, _COPIES) and category(node.args[1]) == CONTAINER:
            return replace(effect, wild=False, shared=[node.args[1]])
        is_change = node.op in ("getattr", "setitem", "delitem") or node.op in IN_PLACE or node.op in _METHODS
        return replace(effect, wild=False) if is_change else effect


_COPIES = (copy.copy, copy.deepcopy)
# They leave a container with its items, some of them, or their own arguments.
_HARMLESS = GIVES_PARTS, KEEPS, ADDS_NO_ITEMS, LENGTH, VIEWS_ITEMS
_METHODS = frozenset(f".{name}" for kind in (list, dict, set) for name in vars(kind))


def _called(node: Node) -> Any:
    """The function that a node calls, if it is a constant."""
    function = node.args[0] if node.op == "call" else None
    return function.value if isinstance(function, Constant) else function


def _is_called(node: Node, functions: Sequence[Any]) -> bool:
    """Whether a node calls one of some functions."""
    function = _called(node)
    return any(function is each for each in functions)


def _is_of_numpy(target: Any) -> bool:
    """Whether a value is an object of NumPy's, such as a random generator."""
    node = target.node if isinstance(target, Value) else None
    return node is not None and node.op.startswith("np.") and category(target) == UNKNOWN


def _makes_anew(node: Node) -> bool:
    """Whether a node makes a new object."""
    maker = _called(node)
    if str(getattr(maker, "__module__", "")).partition(".")[0] == "numpy":      # such as `np.random.default_rng`
        return True
    return is_new(node) or is_a(maker, type) or getattr(maker, "__ag_tame__", False)


def _is_namespace(target: Value) -> bool:
    """Whether a value is the `__dict__` of an object."""
    node = target.node
    is_read = node is not None and node.op == "getattr" and node.args[1] == "__dict__"
    return is_read or (node is not None and (node.op == "vars" or _is_called(node, (vars,))))


def _kind(target: Value) -> str | None:
    """The name of the kind of a container; None if it is unknown."""
    return target.type.name if isinstance(target.type, ObjectType) and category(target) == CONTAINER else None


