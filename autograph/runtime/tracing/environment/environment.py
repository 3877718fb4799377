"""The captured environment: the globals, closure variables and attributes that a traced function reads and sets.

Traced code runs with `Globals` and closure cells of its own. It gets numbers and other constants as they are, each with
a guard; arrays as proxies, which the graph reads again in each run; and copies of small containers, whose parts are
captured in the same way. The code assigns to its own globals and cells, and the graph writes these back.
"""

from __future__ import annotations

import builtins
import functools
import weakref
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from autograph.common import pytree, trace_rules
from autograph.common.bytecode import looks_around
from autograph.common.statics import cell_content, class_has, is_a, module_name, module_of
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.graph import Constant, Node, Value, user_line
from autograph.runtime.graph.object_model import (
    changed_by,
    identity_is_users,
    is_opaque,
    is_open,
    is_quantity,
    is_users,
    stands_for_itself,
)
from autograph.runtime.graph.signature import Guard
from autograph.runtime.graph.static_keys import static_key
from autograph.runtime.graph.types import ObjectType, object_type, type_of
from autograph.runtime.tracing.environment.globals import Builtins, Globals
from autograph.runtime.tracing.environment.guards import (
    Condition,
    has_fixed_parts,
    is_alike,
    is_alive,
    is_same,
    is_structure,
)
from autograph.runtime.tracing.environment.late_attributes import LateAttributes
from autograph.runtime.tracing.environment.object_source import (
    CONSTANTS,
    ObjectSources,
    Source,
    are_one,
    constant,
    fixed_parts,
    fixed_source,
    has_parts,
    inner_source,
    is_empty,
    is_long,
    is_of_library,
    is_small,
    parts_of,
    type_outside,
)
from autograph.runtime.tracing.environment.process_settings import guard_decimals
from autograph.runtime.tracing.proxies.context import Environment
from autograph.runtime.tracing.proxies.proxy import Tensor, is_tensor
from autograph.runtime.tracing.state.trace import Trace

_MISSING: Any = object()
# Builtins that every trace uses unchanged: classes, and functions as soon as one trace has found that.
_UNCHANGED: dict[str, Any] = {name: kind for name, kind in vars(builtins).items() if isinstance(kind, type)}


class CapturedEnvironment(Environment):
    """The values that one trace captures from around the function.

    Attributes:
        exposed: the objects that code which is not traced could see.
        cells: by identity, real closure cells, with those of traced code and their captured contents.
        real_cells: by identity, the closure cells of traced code, with the real ones.
        registered_again: objects that are registered, with further sources.
        libraries: modules and classes that take no part in staging, with their sources.
        bound: methods of containers that objects have as attributes.
        late_attributes: the attributes that the graph reads.
        loaded_containers: containers that the graph reads from globals.
        loads: the values of the graph that it has read, by their sources.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.sources = ObjectSources(trace)
        self.exposed: dict[int, Any] = {}
        self.late = trace.context.late
        self.guards: list[Guard] = []
        self.globals: dict[int, Globals] = {}
        self.cells: dict[int, tuple[CellType, CellType, Any]] = {}
        self.real_cells: dict[int, tuple[CellType, CellType]] = {}
        self.registered_again: list[tuple[Any, Source | Value]] = []
        self.libraries: list[tuple[Any, Source | Value]] = []
        self.bound: dict[int, Any] = {}
        self.loaded_containers: dict[int, Any] = {}
        self._copies: dict[int, tuple[Any, Any]] = {}  # by identity: a value, and its copy or proxy
        self._originals: dict[int, tuple[Any, Any]] = {}  # by identity: a copy or proxy, and its value
        self._with_proxies: dict[int, Any] = {}  # by identity: objects whose parts are replaced by proxies
        self.late_attributes = LateAttributes(trace, self.sources, self._with_proxies, self.load, self._guard_one)
        self.loads: dict[tuple[Any, ...], Value] = {}
        self._arrays: dict[int, Tensor] = {}

    # Globals and closure variables ------------------------------------------------------------------------------------

    def globals_of(self, real: dict[str, Any]) -> Globals:
        """The globals of traced code of a module."""
        if isinstance(real, Globals):
            return real
        found = self.globals.get(id(real))
        if found is None:
            found = Globals(real, self.builtins(real), self.trace)
            self.globals[id(real)] = found
            self.trace.undo_log.watch(found)
        return found

    def builtins(self, real: dict[str, Any]) -> dict[str, Any]:
        """The builtins of traced code of a module: calls of those with effects are recorded."""
        found = real.get("__builtins__", builtins)
        names = vars(found) if is_a(found, ModuleType) else found
        made = Builtins(names, _UNCHANGED, self._builtin)
        if "__import__" in names:       # it is not in the globals that `namedtuple` makes
            made["__import__"] = self._importer(names["__import__"], real)
        return made

    def _builtin(self, name: str, value: Any) -> Any:
        """The builtin of traced code; if it is the builtin itself, every trace will use that."""
        found = self.trace.context.calls.stand_in(value)
        if found is value and type(value) is BuiltinFunctionType:
            _UNCHANGED[name] = value
        return found

    def _importer(self, original: Any, real: dict[str, Any]) -> Callable[..., Any]:
        """The `__import__` of traced code of a module."""

        @on_behalf
        def imported(name: str, globals: Any = None, *args: Any, **kwargs: Any) -> Any:
            module = original(name, real, *args, **kwargs)
            return self.capture(module, constant(module, "imported", module_name(module)))

        return imported

    def cell(self, real: CellType, name: str) -> CellType:
        """The closure cell of traced code for a real one."""
        if id(real) in self.real_cells:
            return real
        found = self.cells.get(id(real))
        if found is None:
            mine, value = CellType(), _MISSING
            self.real_cells[id(mine)] = mine, real
            content = cell_content(real, _MISSING)
            if content is _MISSING:
                self.guard(("is_empty(cell)", {"cell": real, "is_empty": is_empty}), f"the variable {name}")
            else:
                read = (Constant(real), "cell_contents")
                source = Source("getattr", read, "cell.cell_contents", (("cell", real),), name)
                self.cells[id(real)] = real, mine, value  # before: a function may close over itself
                mine.cell_contents = value = self.capture(content, source)
            found = self.cells[id(real)] = real, mine, value
            self.trace.undo_log.watch(mine)
        return found[1]

    def roots(self) -> Iterator[Any]:
        """All objects that traced code can reach from its globals and cells."""
        for names in self.globals.values():
            yield names
            yield from names.captured.values()
            yield from (part for name, part in dict.items(names) if name != "__builtins__")
        for _, mine, _ in self.cells.values():
            yield mine
        for thing, _ in self.sources.objects.values():
            yield thing

    def is_copied(self, value: Any) -> bool:
        """Whether traced code has a copy of a container, which is a global or variable, or is in one.

        The proxy of one that the graph reads from an object is no copy.
        """
        copy = self._copies.get(id(value), (None, value))[1]
        return copy is not value and copy is not self._arrays.get(id(value))

    @property
    def size(self) -> int:
        """The number of captured objects, containers and globals."""
        containers = len(self._copies) + len(self.loaded_containers) + len(self.late_attributes.containers)
        return len(self.sources.roots) + containers

    def original(self, copy: Any) -> Any:
        """The container of which traced code has this copy."""
        return self._originals.get(id(copy), (copy, copy))[1]

    # Values -----------------------------------------------------------------------------------------------------------

    def capture(self, value: Any, source: Source) -> Any:
        """A captured value as traced code gets it: itself, a copy, a stand-in or a proxy."""
        if is_tensor(value):
            return value
        if reason := identity_is_users(value):
            self.trace.graph_break(reason)
        self.sources.note_place(value, source)
        if type(value) is np.ndarray:
            return self.load(value, source)
        kind = pytree.kind_of(value) if not is_a(value, type) else None
        if kind is not None and not is_a(value, tuple) and (source.key in self.late or not is_small(value)):
            self.loaded_containers[id(value)] = value
        if source.key in self.late:
            return self.load(value, source)
        self.trace.context.instrument(value)
        if is_opaque(value) or (kind is not None and not is_small(value)):
            return self.load(value, source)
        if kind is not None:
            self._register_fixed(value, source)
            return self._copy_structure(value, kind, source)
        if type(value) in (MethodType, functools.partial):
            names = {**dict(source.names), "key": static_key, "known": static_key(value)}
            self.guard((f"key({source.expression}) == known", names), f"the value of {source.text}")
            return self.capture_static(value, source.text)
        if changed_by(value) is not None:
            self.trace.graph_break(f"{source.text} is a method of a {type(value.__self__).__name__}")
        is_users_function = type(value) is FunctionType and not trace_rules.is_plain(value.__module__)
        if is_users_function and looks_around(value.__code__):
            self.trace.graph_break(f"{source.text} looks at frames or at all globals")
        self._guard_same(value, source)
        self._register_fixed(value, source)
        if is_a(value, CONSTANTS):
            return value
        self._register_wrapped(value, source.text)
        stand_in = self._stand_in(value)
        is_library = is_a(value, ModuleType) and trace_rules.is_plain(module_name(value))
        if is_library or (stand_in is value and not is_a(value, BuiltinFunctionType)):
            self.register(value, source)
        return stand_in

    def _stand_in(self, value: Any) -> Any:
        """The stand-in for a function or module; a value without one as it is."""
        if is_a(value, ModuleType) and not trace_rules.is_plain(module_name(value)):
            return self.globals_of(vars(value)).view(value)
        return self.trace.context.calls.stand_in(value)

    def partial(self, value: functools.partial[Any], source: Source) -> Any:
        """A copy of a partial, whose arguments are captured."""
        if id(value) in self._copies:
            return self._captured_again(value, source)
        args, keywords = source.attribute("args"), source.attribute("keywords")
        copy = functools.partial(
            self.capture(value.func, source.attribute("func")),
            *[self.capture(part, args.item(at)) for at, part in enumerate(value.args)],
            **{name: self.capture(part, keywords.item(name)) for name, part in value.keywords.items()},
        )
        return self._note_copy(value, copy, source)

    def _note_copy(self, value: Any, copy: Any, source: Source) -> Any:
        self._copies[id(value)] = value, copy
        self._originals[id(copy)] = copy, value
        self.sources.others[id(copy)] = copy, source
        return copy

    def _captured_again(self, value: Any, source: Source) -> Any:
        """The copy of a value that was captured before, from another place: a guard checks that it is in both."""
        copy = self._copies[id(value)][1]
        first = self.sources.others.get(id(copy))
        if first is not None and first[1].key != source.key:
            self._guard_one(source, first[1])
        return copy

    def _guard_one(self, source: Source, other: Source) -> None:
        self.guard(are_one(source, other), f"what {source.text} is")

    def capture_static(self, value: Any, text: str) -> Any:
        """The same for a value that is part of the signature: it is always this object, but its contents may change."""
        self.trace.context.instrument(value)
        self._register_wrapped(value, text)
        if is_a(value, frozenset):
            self.register_parts(value, text)
        if type(value) is MethodType and is_open(type(value.__self__)):
            owner = value.__self__
            self.register(owner, constant(owner, "owner", f"{text}.__self__"))
        elif type(value) is functools.partial:
            return self.partial(value, constant(value, "partial", text))
        elif type(value) is FunctionType or is_a(value, (type, ModuleType)) or is_open(type(value)):
            self.register(value, constant(value, "thing", text))
        return self._stand_in(value)

    def _register_wrapped(self, value: Any, text: str) -> None:
        """Register the function in a callable of this library, such as a staged method with its owner."""
        if class_has(type(value), "__ag_staged__") or class_has(type(value), "__ag_traced__"):
            self.capture_static(getattr(value, "__wrapped__", None), text)

    def _register_fixed(self, value: Any, source: Source) -> None:
        """Register the objects in a value's places without a name, and guard that the value has the same ones."""
        parts = fixed_parts(value)
        if parts and type(value) is not weakref.ref:
            self.guard(has_fixed_parts(value, parts, source), f"an object in {source.text}")
        self.register_parts(value, source.text)

    def register_parts(self, value: Any, text: str) -> None:
        """Register the objects in a value's places without a name; only that of a weak reference needs a guard."""
        for part in fixed_parts(value):
            source = fixed_source(part, value, text)
            if type(value) is weakref.ref:
                self.guard(is_alive(source), f"what {text} refers to")
            self.register(part, source)

    def register(self, thing: Any, source: Source | Value) -> None:
        """Register an object, class or module whose attributes traced code may read and set."""
        if is_of_library(thing):
            self.libraries.append((thing, source))
            return
        if (type(thing) is FunctionType and not vars(thing)) or (is_a(thing, type) and not is_users(thing)):
            return
        if not (stands_for_itself(type(thing)) or type(thing) is FunctionType or is_a(thing, (type, ModuleType))):
            return
        if class_has(type(thing), "__ag_traced__"):
            return  # its `__ag_traced__` is called instead
        if id(thing) in self.sources.objects:
            self.registered_again.append((thing, source))
        else:
            self.sources.objects[id(thing)] = thing, source
            self.sources.roots.append((thing, source))
            if not self.sources.is_unread(thing):
                self._stage_parts(thing, source)
            elif self.sources.found(thing, source):
                self.look_into(thing)

    def note_read(self, thing: Any, name: str) -> None:
        self.look_into(thing)
        self.sources.reads.setdefault(id(thing), set()).add(name)
        if name == "__dict__":
            self.exposed[id(thing)] = thing

    def note_write(self, thing: Any) -> None:
        if self.trace.context.is_watched(type(thing)):
            self.look_into(thing)
            self.sources.written[id(thing)] = thing

    def look_into(self, thing: Any) -> None:
        """Prepare an object of a watched class, whose attributes traced code is about to read or to change."""
        found = self.sources.begin_reading(thing)
        if found is not None:
            self.trace.context.instrument_parts(thing)
            self._with_proxies.pop(id(thing), None)
            self._stage_parts(*found)

    def register_class(self, kind: type, whole: bool = False) -> None:
        """Register a class through which traced code can reach mutable objects; if `whole`, any objects."""
        if id(kind) in self.sources.objects:
            return
        parts = [part for _, part in parts_of(kind)]
        has_objects = any(has_parts(part) or is_opaque(part) or is_a(part, set) for part in parts)
        if has_objects or (whole and parts) or any(id(kind) in key for key in self.late):
            self.register(kind, constant(kind, "holder", kind.__qualname__))

    def is_proxy_of(self, value: Any, thing: Any, name: str, before: Any) -> bool:
        """Whether `value` is the proxy of the attribute itself, so that nothing has been assigned."""
        proxies = self.late_attributes.proxies.get((id(thing), name)), self._arrays.get(id(before))
        return value is not None and any(each is value for each in proxies)

    def _stage_parts(self, root: Any, source: Source | Value) -> None:
        """Replace late attributes, arrays and opaque objects that an object holds by proxies until the trace ends."""
        self.late_attributes.stage(root, source)
        for thing, base in list(self.sources.within(root, source, self._with_proxies)):
            if self.sources.is_unread(thing):
                if self.sources.found(thing, base):
                    self.look_into(thing)
                continue
            for key, part in parts_of(thing):
                if changed_by(part) is not None:
                    self.bound[id(part)] = part
                elif is_a(thing, tuple) and trace_rules.depends_on_settings(str(module_of(type(part)))):
                    guard_decimals(self.trace)  # parts of a tuple cannot be replaced
                elif not is_a(thing, tuple) and not is_tensor(part) and (is_opaque(part) or is_long(part)):
                    self.trace.undo_log.replace(thing, key, self._load_lazily(part, inner_source(thing, base, key)))

    def _load_lazily(self, value: Any, source: Source) -> Tensor:
        """A proxy for an array or object, which the graph loads if traced code uses it."""
        found = self._arrays.get(id(value))
        if found is None:
            node = Node("getattr", (), None, (), ())
            output = node.add_output(type_outside(value), source.text if source.text.isidentifier() else "")
            found = self._arrays[id(value)] = self._proxy(output, value)
            self._copies[id(value)] = value, found
            self.sources.read_at[id(value)] = value, source

            def use() -> None:
                node.op, node.args, node.place = source.op, self._args_of(source), self.trace.place()
                self.trace.prologue.append(node)
                self.loads.setdefault(source.key, output)
                self._guard_class(value, source)

            self.trace.unused[output] = use
        return found

    def _proxy(self, output: Value, value: Any) -> Tensor:
        """The proxy of a captured object."""
        proxy = self.trace.proxy(output)
        if type(value) is np.ndarray:
            self._originals[id(proxy)] = proxy, value
        else:
            self.trace.note_class(output, type(value))
        return proxy

    def _guard_class(self, value: Any, source: Source) -> None:
        what = "dtype or shape" if type(value) is np.ndarray else "class"
        self.guard(is_alike(value, source), f"the {what} of {source.text}")

    def load(self, value: Any, source: Source) -> Tensor:
        """A proxy for the value that the graph loads from `source`."""
        self._guard_class(value, source)
        proxy = self._proxy(self.trace.likely.like(self._load(source, type_outside(value)), value), value)
        if type(value) is np.ndarray:
            self._arrays.setdefault(id(value), proxy)
            self._copies.setdefault(id(value), (value, proxy))
            self.sources.read_at.setdefault(id(value), (value, source))
        return proxy

    def _load(self, source: Source, type: Any) -> Value:
        if source.op in ("param", "constant"):
            return source.args[0]  # type: ignore[no-any-return]
        found = self.loads.get(source.key)
        if found is None:
            node = Node(source.op, self._args_of(source), None, (), self.trace.place())
            self.trace.prologue.append(node)
            found = self.loads[source.key] = node.add_output(type, source.text if source.text.isidentifier() else "")
        elif isinstance(found.type, ObjectType):
            found.type = type
        return found

    def _args_of(self, source: Source) -> tuple[Any, ...]:
        return tuple(self.reader(part) if isinstance(part, Source) else part for part in source.args)

    def reader(self, source: Source, value: Any = _MISSING) -> Value:
        """The value of the graph that loads a source; its object has the class of `value`."""
        if value is _MISSING:
            return self._load(source, ObjectType())
        return self.trace.likely.like(self._load(source, object_type(type(value))), value)

    def _copy_structure(self, value: Any, kind: Any, source: Source) -> Any:
        if id(value) in self._copies:
            return self._captured_again(value, source)
        children = kind.children(value)
        if is_a(value, tuple) and not any(has_parts(part) or fixed_parts(part) for part in children.values()):
            self._guard_same(value, source)
            self.sources.others[id(value)] = value, source
            return value
        self.guard(is_structure(value, source), f"the structure of {source.text}")
        copy = kind.rebuild(value, [self.capture(part, source.part(kind, key)) for key, part in children.items()])
        if not is_a(value, tuple):
            self.trace.undo_log.touch(copy)
        return self._note_copy(value, copy, source)

    def _guard_same(self, value: Any, source: Source) -> None:
        late = source.key if is_quantity(value) else None
        self.guard(is_same(value, source), f"the value of {source.text}", late)

    def guard(self, condition: Condition, what: str, late: Any = None) -> None:
        """Use the trace only while a condition holds; otherwise `what` has changed."""
        where = user_line(self.trace.place())
        at = f", {where[0]}:{where[1]}" if where else ""
        self.guards.append(Guard(*condition, f"{what} changed{at}", late))

    def find(self, value: Any) -> tuple[Any, Source] | None:
        """The holder and source of an object that the graph reads, whose class is guarded; None if they are unknown."""
        is_new = id(value) not in self.sources.read_at
        found = self.sources.find(value)
        if found is not None and is_new:
            self._guard_class(value, found[1])
        return found

    def expose(self, value: Any) -> None:
        """Note that code which is not traced may read, while tracing, all objects that can be reached from a value."""
        rest = [value]
        while rest:
            part = rest.pop()
            if not (is_tensor(part) or is_a(part, type)) and id(part) not in self.exposed and has_parts(part):
                self.exposed[id(part)] = part
                self.look_into(part)
                rest.extend(inner for _, inner in parts_of(part))

    # Arrays from other places -----------------------------------------------------------------------------------------

    def array(self, value: Any) -> Tensor:
        """The proxy for an array from anywhere: an attribute of an object, or made by code that is not traced."""
        if type(value) is Tensor:  # it is one
            return value
        found = self._arrays.get(id(value))
        if found is None:
            found_at = self.find(value)
            if found_at is not None:
                return self.load(value, found_at[1])
            node = Node("getitem", (Constant([value]), 0), None, (), self.trace.place())
            self.trace.prologue.append(node)
            found = self._arrays[id(value)] = self.trace.proxy(node.add_output(type_of(value)))
            self._copies[id(value)] = value, found
        return found


def read_by_graph(environment: CapturedEnvironment) -> Iterator[Any]:
    """The containers that the graph reads itself, so that traced code has proxies of them, and no copies."""
    yield from environment.loaded_containers.values()
    yield from environment.late_attributes.containers.values()
    copies, arrays = environment._copies, environment._arrays
    yield from (value for value, copy in copies.values() if copy is arrays.get(id(value)))
