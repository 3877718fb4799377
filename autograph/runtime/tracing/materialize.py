"""Materializes containers, objects and functions of traced code as values of the graph.

The graph makes the objects of traced code anew in each run. It gets arguments and captured objects by reference, from
their sources.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MappingView
from contextlib import contextmanager
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.common.code_marks import UNBOUND
from autograph.common.cpython_internals import referents
from autograph.common.statics import cell_content, class_attribute, class_has, is_a
from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Value, used_by, user_line, walk
from autograph.runtime.graph.object_model import (
    changed_by,
    is_open,
    is_users_object,
    own_dict,
    owner_of_dict,
    parts_inside,
)
from autograph.runtime.graph.signature import Respecialize, is_within
from autograph.runtime.graph.traits import COMPARES_ITEMS
from autograph.runtime.graph.types import ANY, MaybeUnbound, ObjectType, TensorType
from autograph.runtime.tracing.calls.dispatch import Caller
from autograph.runtime.tracing.calls.handed_functions import may_change_others
from autograph.runtime.tracing.calls.stand_ins import Mutator
from autograph.runtime.tracing.calls.user_operators import Identity
from autograph.runtime.tracing.control_flow.merge import type_at
from autograph.runtime.tracing.environment.environment import CapturedEnvironment
from autograph.runtime.tracing.proxies.context import Values
from autograph.runtime.tracing.proxies.graph_break import Restart, Unstageable
from autograph.runtime.tracing.proxies.proxy import Tensor, is_tensor, method_name
from autograph.runtime.tracing.state.blame import is_library
from autograph.runtime.tracing.state.exceptions import remake, state_of
from autograph.runtime.tracing.state.iterators import TracedIterator, is_iterator
from autograph.runtime.tracing.state.staged_containers import (
    StagedItems,
    has_fixed_keys,
    iterator_class,
    may_contain,
    staged_as,
)
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import PATCHED, Fallback, attributes

_DEEP = 12  # nested tuples
_NAMESPACE = frozenset({"__dict__", "vars"})


class Materializer(Values):
    """See the module's documentation.

    Attributes:
        paths: by identity, containers of traced code that are arguments, with their paths.
        containers: the params for containers of the caller's, by their paths.
        made: by identity, objects of traced code, with the values that make them, and the blocks of these.
        final: whether the function has ended.
        entered: objects of the user's that the graph has obtained before the function ends.
    """

    def __init__(self, trace: Trace, environment: CapturedEnvironment, caller: Caller) -> None:
        self.trace = trace
        self.environment = environment
        self.caller = caller
        self.paths: dict[int, tuple[Any, str]] = {}
        self.containers: dict[str, Value] = {}
        self.made: dict[int, tuple[Any, Value, Block]] = {}
        self._made_once: dict[Block, list[Any]] = {}  # by `_once`
        self._being_made: set[int] = set()
        self._tuples = 0  # nested ones, at present
        self.final = False
        self.entered: dict[int, Any] = {}
        self._captured: dict[Value, list[tuple[types.CellType, Any]]] = {}  # variables of functions, with contents

    def refuse(self, thing: Any) -> None:
        self.trace.replacements.check(thing)
        found = self.made.get(id(thing))
        if found is not None and not self._stands(found[1], found[2]):
            return
        self.trace.unstageable(
            f"an object of class {type(thing).__qualname__} is changed after it was stored in a list or handed to code "
            "that is not staged",
            [thing],
        )

    def forget(self, thing: Any) -> None:
        self.entered.pop(id(thing), None)

    def end(self) -> None:
        """Note that the function has ended, so that its objects no longer change."""
        self.final = True

    def register(self, container: Any, path: str) -> None:
        """Register a container among the arguments by its path."""
        _, first = self.paths.setdefault(id(container), (container, path))
        if type(container) in (list, dict):
            self.trace.replacements.add(container, first)

    def by_reference(self, path: str, container: Any) -> Value:
        """The param for a container of the caller's."""
        found = self.containers.get(path)
        if found is None:
            found = self.containers[path] = Value(ObjectType(type(container).__name__), None, "")
            self.trace.likely.note(found, [container])
        return found

    def look_into(self, container: Any) -> None:
        """Ask for a list, tuple or dict of objects from outside, or a table, as one object: the graph looks into it.

        Raises:
            Respecialize: it is an argument.
            Restart: it is the attribute of an object.
        """
        has_objects = bool(classes_of_objects(container))
        if not has_objects and not self._is_table(container):
            return
        argument = self.paths.get(id(container))
        if argument is not None:
            what = "which holds objects" if has_objects else "by keys that depend on staged values"
            raise Respecialize(whole=(argument[1],), reason=f"the graph looks into `{argument[1]}`, {what}")
        holder, source = self.environment.find(container) or (None, None)
        if source is not None and source.op == "getattr" and is_open(type(holder)):
            key = "attribute", id(holder), source.args[1]
            if key not in self.environment.late:
                raise Restart({key}, [*parts_inside(container)])

    def _is_table(self, container: Any) -> bool:
        """Whether a container is a dict of numbers, and the trace is not for a derivative."""
        if type(container) is not dict or self.trace.callbacks.differentiated:
            return False
        types = map(type_at, container.values())
        return all(isinstance(each, TensorType) and each.kind == "python" for each in types)

    def finish(self, graph: Graph) -> tuple[str, ...]:
        """Add the params for containers to the graph; returns their paths."""
        graph.block.params.extend(self.containers.values())
        return tuple(self.containers)

    # Values as arguments of nodes -------------------------------------------------------------------------------------

    def lower(self, value: Any) -> Any:
        """A structure of the user's as an argument of a node; captured objects in it are passed by reference."""
        if is_tensor(value):
            return self.trace.use(value)
        if isinstance(value, tuple) and self.trace.tuples.proxy_of(value) is not None:
            return self.lower_tuple(value)
        if type(value) is tuple and id(value) not in self.paths:
            parts = self._parts(value)
            return self._same_tuple(value, value if all(a is b for a, b in zip(parts, value)) else parts)
        inside, argument = staged_as(value), self.paths.get(id(value))
        if argument is not None:
            if inside is not None:
                raise self.pass_whole(value, argument[1])
            if not self.final:
                self.look_into(value)
            return self.by_reference(argument[1], value)
        if inside is not None:
            return self.trace.use(inside)
        if id(value) in self.trace.replacements:
            return self._replaced(value)
        source = self.environment.sources.others.get(id(value))
        if source is not None:
            return self.environment.reader(source[1], value)
        if id(value) in self.environment.sources.objects:
            return self.trace.lower(value)
        if type(value) is dict and not self.caller.names.isdisjoint(_NAMESPACE):
            self._check_no_namespace(value)
        if not self.final and type(value) in (list, dict, set):
            return self.trace.use(self.trace.materialize(value))
        if pytree.kind_of(value) is not None or type(value) in (set, bytearray):
            return self._make(value)
        return self.trace.lower(value)

    def _check_no_namespace(self, value: dict[Any, Any]) -> None:
        """Check that a dict is not the `__dict__` of an object, which the graph must not copy."""
        owner = owner_of_dict(value)
        if owner is not None:
            what = f"the `__dict__` of a {type(owner).__qualname__}"
            self.trace.graph_break(f"{what} is returned, kept or handed to code that is not staged")

    def _parts(self, value: tuple[Any, ...]) -> tuple[Any, ...]:
        """The parts of a tuple of traced code: nested tuples are arguments of one node, not nodes of their own."""
        self._tuples += 1
        if self._tuples > _DEEP:
            self.trace.graph_break("a tuple is within too many others here")
        try:
            return tuple([self.lower(part) for part in value])
        finally:
            self._tuples -= 1

    def _replaced(self, value: Any) -> Value:
        """The caller's list or dict, or its replacement, for the function to return."""
        found = self._found(value)
        if found is not None:
            return found
        if not self.final:
            self.trace.replacements.check(value)
        replacement, blocks = self.trace.replacements[id(value)], (Block(), Block())
        with self.trace.open(blocks[0]):
            is_dict = type(value) is dict
            parts: Any = {k: self.lower(v) for k, v in value.items()} if is_dict else [self.lower(v) for v in value]
            blocks[0].results = (self._record("build", (parts,)),)
        caller = next(container for container, path in self.paths.values() if path == replacement.path)
        blocks[1].results = (self.by_reference(replacement.path, caller),)
        node = Node("if", (self.trace.use(replacement.replaced),), None, blocks, self.trace.place())
        self.trace.block.nodes.append(node)
        made = node.add_output(ObjectType(type(value).__name__))
        self.made[id(value)] = value, made, self.trace.block
        return made

    def _same_tuple(self, value: tuple[Any, ...], parts: tuple[Any, ...]) -> Any:
        """A tuple that was captured, as the same object; else its `parts`."""
        self.environment.sources.find_tuples()
        found = self.environment.sources.others.get(id(value)) if value else None
        return parts if found is None else self.environment.reader(found[1], value)

    def is_outer(self, value: tuple[Any, ...]) -> bool:
        self.environment.sources.find_tuples()
        return id(value) in self.paths or id(value) in self.environment.sources.others

    def lower_tuple(self, value: tuple[Any, ...]) -> Any:
        """The value for a tuple that was captured, or joined from two paths."""
        proxy = self.trace.tuples.proxy_of(value)
        if proxy is not None:
            return self.trace.use(proxy)
        source = self.environment.sources.others.get(id(value)) if id(value) not in self.paths else None
        return self.lower(value) if source is None else self.environment.reader(source[1], value)

    def pass_whole(self, value: Any, path: str) -> Respecialize:
        """The request to raise so that the graph gets a container of the caller's as it is."""
        reason = f"`{path}` is changed in ways that depend on staged values"
        line = user_line(self.trace.iterated.get(id(value), ()))
        if line is not None:
            how_many = "staged values decide how many items are taken from it"
            reason = f"the iterator over `{path}` is staged, as {how_many}, {line[0]}:{line[1]}"
        return Respecialize(whole=(path,), reason=reason)

    def _make(self, value: Any) -> Value:
        """A node that makes a list, dict or the like of traced code, once for each."""
        found = self._found(value)
        if found is not None:
            return found
        outer = self.environment.find(value) if type(value) is not tuple else None
        if outer is not None:
            return self.environment.reader(outer[1], value)
        with self._guard_cycle(value, "a container that contains itself cannot be returned from a staged function"):
            made = self._container(value)
        return self._note(value, made)

    def _container(self, value: Any) -> Value:
        if type(value) is list:
            return self._record("build", (list(map(self.lower, value)),))
        if type(value) is dict:
            if has_fixed_keys(value, self.trace.lower):
                return self._record("build", ({key: self.lower(part) for key, part in value.items()},))
            items = [(self.trace.lower(key), self.lower(part)) for key, part in value.items()]
            return self._record("call", (dict, items))
        if type(value) is bytearray:
            return self._record("call", (bytearray, bytes(value)))
        if type(value) is set:
            return self._record("call", (set, [self.lower(part) for part in value]))
        kind = pytree.kind_of(value)
        assert kind is not None
        if kind is pytree.DATACLASS:
            return self._new(value, kind.children(value))
        like = Constant(kind.rebuild(value, [None] * len(kind.children(value))))
        return self._record("call", (kind.rebuild, like, list(map(self.lower, kind.children(value).values()))))

    @contextmanager
    def _guard_cycle(self, value: Any, reason: str) -> Iterator[None]:
        """Within it, an object is made from its parts; it must not be one of them."""
        if id(value) in self._being_made:
            self.trace.unstageable(reason)
        self._being_made.add(id(value))
        try:
            yield
        finally:
            self._being_made.discard(id(value))

    def _found(self, value: Any) -> Value | None:
        """The object of the graph for a container or object of traced code, if it was made before."""
        found = self.made.get(id(value))
        if found is None:
            return None
        if self._stands(found[1], found[2]) and self._is_as_captured(found[1]):
            if any(self.trace.merged_into(found[2]) is block for block in self.trace.opened):
                return found[1]
            self.trace.unstageable(
                f"an object of class {type(value).__qualname__} is stored, or handed to code that is not staged, in a "
                "branch or loop, and used after it",
                [value],
            )
        del self.made[id(value)]
        self.trace.undo_log.shared_with_graph.pop(id(value), None)
        return None

    def _stands(self, made: Value, block: Block) -> bool:
        """Whether the node that has made an object is still in the graph, rather than undone."""
        return made.node not in self.trace.dropped and self.trace.has(self.trace.merged_into(block))

    def _note(self, value: Any, made: Value) -> Value:
        if made.type == ANY:
            made.type = type_at(value)
        self.made[id(value)] = value, made, self.trace.block
        if not self.final and not is_a(value, tuple):
            self.trace.undo_log.shared_with_graph[id(value)] = value
        return made

    def _once(self, value: Any, make: Callable[[], Any]) -> Tensor:
        """The result of `make` for a function or the like of traced code, so that it is one object of the graph."""
        found = self._found(value)
        if found is None:
            found = self._note(value, make()._ag_value)
            self._made_once.setdefault(self.trace.block, []).append(value)
        return self.trace.proxy(found)

    def made_in(self, block: Block) -> list[Any]:
        """The objects that `_once` has made in a block, and could have made before it."""
        if not self._made_once:
            return []
        things = (thing for part in self.trace.merged_parts(block) for thing in self._made_once.get(part, ()))
        return [each for each in things if id(each) in self.made and self._is_as_captured(self.made[id(each)][1])]

    def _record(self, op: str, args: tuple[Any, ...]) -> Value:
        proxy: Tensor = self.trace.record_lowered(op, args)
        return proxy._ag_value

    def lift(self, value: Any) -> Any:
        caller = self.caller
        if type(value) is np.ndarray:
            return self.environment.array(value)
        if type(value) is types.BuiltinFunctionType:
            owner = changed_by(value)
            if owner is None:
                return value
            return self._once(value, lambda: self.trace.record_lowered("getattr", (self.lower(owner), value.__name__)))
        if type(value) is Identity:
            value.refuse()
        if type(value) is TracedIterator:
            what = "an iterator{} that is made here is returned, kept or handed"
            raise value.staged(f"{what} to code that is not staged: make a list of it")
        if is_users_object(value) and not self.final:
            if type(class_attribute(type(value), "__next__")) is types.FunctionType:
                what = f"an iterator (of class {type(value).__qualname__})"
                self.trace.unstageable(f"{what} is handed to code that is not staged")
            self.entered[id(value)] = value
        if id(value) in caller.sentinels:
            return caller.sentinels[id(value)][1]
        registered = self.environment.sources.objects.get(id(value))
        if registered is not None:
            if type(value) is types.FunctionType:
                self._check_handed(value)
            return self.trace.proxy(registered[1]) if isinstance(registered[1], Value) else value
        if type(value) is Mutator:
            name = value.function.__name__
            return self._once(value, lambda: self.trace.record("getattr", (self.trace.materialize(value.owner), name)))
        value = caller.unwrapped(value)
        if type(value) is types.MethodType and is_tensor(value.__self__):
            return self._once(value, lambda: self._method(value))
        self._check_handed(caller.original(value))
        if type(value) is types.FunctionType and isinstance(value.__globals__, Fallback):
            original = caller.original(value)
            return original if original is not value else self._once(value, lambda: self._function(value))
        is_staged = class_has(type(value), "__ag_staged__") and hasattr(value, "__self__")
        if is_staged or (type(value) is types.MethodType and type(value.__func__) is types.FunctionType):
            return self._bound(value)
        return self._thing(value)

    def _check_handed(self, value: Any) -> None:
        """Check that no callable that may change objects of traced code is handed to code that is not staged."""
        is_object = is_users_object(value) and class_attribute(type(value), "__call__") is not None
        if self.final or not (is_object or type(value) in (types.FunctionType, functools.partial)):
            return
        is_called = any(value is each for each in self.trace.callbacks.called)    # checked in the end
        if not is_called and may_change_others(value):
            kind = "object of class" if is_object else type(value).__name__
            name = type(value).__qualname__ if is_object else getattr(value, "__name__", "")
            what = f"the {kind} {name}".rstrip()
            self.trace.unstageable(f"{what}, which may change what is read here, is handed to code that is not staged")

    def _thing(self, value: Any) -> Any:
        """The value for an object that is neither a function of traced code nor a stand-in."""
        if type(value) in (set, bytearray) or pytree.kind_of(value) is not None:
            return self._proxy(self.lower(value))
        if is_a(value, BaseException):
            made = remake, type(value), value.args, state_of(value)
            return self._once(value, lambda: self.trace.record("call", made))
        if is_users_object(value):
            found = self.environment.find(value) if self._found(value) is None else None
            return self._proxy(self._object(value) if found is None else self.environment.reader(found[1], value))
        if type(value) is functools.partial:
            outer = self.environment.sources.others.get(id(value))
            if outer is not None:
                return self._proxy(self.environment.reader(outer[1], value))
            called = functools.partial, value.func, *value.args
            return self._once(value, lambda: self.trace.record("call", called, value.keywords))
        if is_a(value, (Iterator, MappingView)) and not hasattr(value, "readline"):
            what = "an iterator" if is_a(value, Iterator) else "a view of a dict"
            what += f" (of class {iterator_class(value).__name__}) that is made here is returned, kept or handed"
            self.trace.unstageable(f"{what} to code that is not staged: make a list of it")
        if own_dict(value) is not None and not is_a(value, (type, types.ModuleType)) and may_contain(value):
            return self._proxy(self._object(value))
        if _is_of_trace(value, depth=3):
            reason = f"a {type(value).__name__}, which is made here, is kept or handed to code that is not staged"
            self.trace.unstageable(reason)
        return value

    def _method(self, method: types.MethodType) -> Any:
        """The proxy of a method of a value of the graph."""
        name = method_name(method)
        if name is None:        # found by `super()`
            return self.trace.record("call", (types.MethodType, method.__func__, method.__self__))
        return self.trace.record("getattr", (method.__self__, name))

    def _proxy(self, found: Value | Constant) -> Any:
        """A proxy for a value; a constant needs none."""
        return found if isinstance(found, Constant) else self.trace.proxy(found)

    def _function(self, value: types.FunctionType) -> Tensor:
        """A node that makes a function like one of traced code, with the present values of its variables."""
        if assigns_outside(value.__code__):
            self.trace.unstageable(
                f"the function {value.__name__}, made in a staged function, assigns to variables around it, and is "
                "kept or handed to code that is not staged"
            )
        recursive = f"the function {value.__name__}, which calls itself, cannot be handed to code that is not converted"
        with self._guard_cycle(value, recursive):
            variables = [self._variable(cell) for cell in value.__closure__ or ()]
            defaults = tuple(map(self.lower, value.__defaults__ or ()))
        namespace: Any = value.__globals__
        names = Constant(namespace.real)
        keywords = {name: self.lower(part) for name, part in (value.__kwdefaults__ or {}).items()}
        called = value.__name__, value.__qualname__
        attributes = {name: self._container(part) if name == "__annotations__" else self.lower(part)
                for name, part in attributes_of_function(value).items()}  # only functions share annotations
        args = make_function, value.__code__, names, called, defaults, keywords, attributes, *variables
        made: Tensor = self.trace.record_lowered("call", args)
        self._captured[made._ag_value] = [(cell, cell_content(cell, UNBOUND)) for cell in value.__closure__ or ()]
        return made

    def _is_as_captured(self, made: Value) -> bool:
        """Whether the variables of a function still have the values that it was made with."""
        return all(cell_content(cell, UNBOUND) is content for cell, content in self._captured.get(made, ()))

    def check_captured(self, graph: Graph) -> None:
        """Check that no function in the graph reads a variable that has changed since it was made."""
        nodes = list(walk(graph.block)) if self._captured else []
        kept = {value for node in nodes if node.op not in COMPARES_ITEMS for value in used_by(node)}
        for node in nodes:
            for value in node.outputs:
                if value in kept and not self._is_as_captured(value):
                    raise Unstageable(
                        "a function made in a staged function is kept, and a variable that it reads changes "
                        "afterwards: give it the value as a default argument, as in `lambda x, i=i: …`",
                        node.place,
                    )

    def _bound(self, method: Any) -> Any:
        """The value for a method of an object, or a staged one."""
        owner, function = method.__self__, PATCHED.get(id(method.__func__), method.__func__)
        if is_a(owner, (type, types.ModuleType)):
            return method
        if not self.final:
            self.trace.unstageable(
                f"{function.__qualname__}, bound to an object that it may change, is kept or handed to code that is "
                "not staged"
            )
        return self._once(method, lambda: self.trace.record("call", (type(method), function, owner)))

    def _variable(self, cell: types.CellType) -> Any:
        if id(cell) in self.environment.real_cells:
            return Constant(self.environment.real_cells[id(cell)][1])
        content = cell_content(cell, UNBOUND)
        if is_tensor(content) and isinstance(content._ag_value.type, MaybeUnbound):
            return content._ag_value  # capturing a variable does not read it
        return content if content is UNBOUND else self.lower(content)

    def _object(self, value: Any) -> Value:
        """A node that makes an object like one of traced code, with the same attributes."""
        found = self._found(value)
        if found is not None:
            return found
        what = f"an object of class {type(value).__qualname__}, which is made here,"
        if not pytree.holds_attributes_only(type(value)):
            self.trace.unstageable(f"{what} is kept or handed to code that is not staged")
        with self._guard_cycle(value, f"{what} holds itself, and is kept"):
            made = self._new(value, attributes(value))
        return self._note(value, made)

    def _new(self, value: Any, parts: Mapping[str, Any]) -> Value:
        """A node that makes an object of the class of `value` with these attributes."""
        return self._record("new", (Constant(type(value)), {name: self.lower(part) for name, part in parts.items()}))


def of_objects(paths: Iterable[tuple[Any, str]]) -> dict[str, set[type]]:
    """The lists, tuples and dicts of objects among containers: their paths, and the classes of the objects."""
    found = {path: classes for container, path in paths if (classes := classes_of_objects(container))}
    return {path: found[path] for path in outermost(found)}


def outermost(paths: Collection[str]) -> list[str]:
    """The paths that are not within others."""
    return [each for each in paths if not any(each != path and is_within(each, path) for path in paths)]


def classes_of_objects(container: Any) -> set[type]:
    """The classes of the objects in a list, tuple or dict of which traced code has the attributes."""
    if type(container) not in (list, tuple, dict):
        return set()
    return set(filter(is_open, {type(part) for part in parts_inside(container)}))


def _is_of_trace(value: Any, depth: int) -> bool:
    """Whether an object, such as a `functools.partial`, contains proxies or traced code."""
    if is_iterator(value) or is_tensor(value) or type(value) is StagedItems:
        return True
    if type(value) is types.FunctionType:
        if isinstance(value.__globals__, Fallback) or (value.__closure__ and is_library(value.__code__)):
            return True
        parts: Any = map(cell_content, value.__closure__ or ())
    else:
        parts = () if is_a(value, (type, types.ModuleType)) else referents(value)
    return depth > 0 and any(_is_of_trace(part, depth - 1) for part in parts)


def make_function(
    code: types.CodeType,
    names: dict[str, Any],
    called: tuple[str, str],
    defaults: Any,
    keywords: Any,
    attributes: dict[str, Any],
    *variables: Any,
) -> Any:
    """A function whose free variables have these values, or are these cells.

    Args:
        attributes: see `attributes_of_function`.
    """
    cell = types.CellType
    cells = tuple(v if isinstance(v, cell) else cell() if v is UNBOUND else cell(v) for v in variables)
    made = types.FunctionType(code, names, called[0], defaults or None, cells)
    made.__qualname__ = called[1]
    made.__kwdefaults__ = keywords or None
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


def attributes_of_function(function: types.FunctionType) -> dict[str, Any]:
    """The attributes of a function that differ from those of a new one: annotations, and the user's own."""
    found = {name: value for name, value in vars(function).items() if not name.startswith("__ag_")}
    closure = tuple(types.CellType() for _ in function.__code__.co_freevars)
    new = types.FunctionType(function.__code__, function.__globals__, closure=closure)
    for name in ("__annotations__", "__doc__", "__module__"):
        if getattr(function, name) != getattr(new, name):
            found[name] = getattr(function, name)
    return found


def assigns_outside(code: types.CodeType) -> bool:
    """Whether a function assigns to variables of the functions around it."""
    stores = {str(each.argval) for each in dis.get_instructions(code) if each.opname in ("STORE_DEREF", "DELETE_DEREF")}
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return bool(stores & set(code.co_freevars)) or any(map(assigns_outside, inner))
