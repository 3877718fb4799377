"""The captured environment: the globals, closure variables and attributes that a traced function reads and sets.

Traced code does not run with its module's globals but with `Globals` of its own, which hands out numbers and other
constants as they are, and notes a guard for each; arrays become proxies that are read anew at each run; small
containers are taken apart in the same way. What the code assigns stays in the environment, and is written back by the
graph.
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
    may_vary,
    stands_for_itself,
)
from autograph.runtime.graph.signature import Guard
from autograph.runtime.graph.static_keys import static_key
from autograph.runtime.graph.types import ObjectType, type_of
from autograph.runtime.tracing.environment.globals import Globals
from autograph.runtime.tracing.environment.guards import (
    Condition,
    has_fixed_parts,
    is_alike,
    is_alive,
    is_same,
    is_structure,
)
from autograph.runtime.tracing.environment.object_parts import (
    CONSTANTS,
    fixed_parts,
    has_parts,
    is_empty,
    is_long,
    is_of_library,
    is_small,
    parts_of,
    type_outside,
)
from autograph.runtime.tracing.environment.object_source import ObjectSources, fixed_source, inner_source
from autograph.runtime.tracing.environment.process_settings import guard_decimals
from autograph.runtime.tracing.environment.source import Source, constant, with_distinct_names
from autograph.runtime.tracing.proxies.context import Environment
from autograph.runtime.tracing.proxies.graph_break import Plain
from autograph.runtime.tracing.proxies.proxy import Tensor, is_tensor
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import attributes

_MISSING: Any = object()
# Builtins that traced code gets as they are, in any trace: classes, and functions once one has been looked at.
_AS_THEY_ARE: dict[str, Any] = {name: kind for name, kind in vars(builtins).items() if isinstance(kind, type)}


class CapturedEnvironment(Environment):
    """What one trace captures from around the function.

    Attributes:
        exposed: what code saw which is not traced.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.sources = ObjectSources(trace)
        self.exposed: dict[int, Any] = {}
        self.late = trace.context.late
        self.guards: list[Guard] = []
        self.globals: dict[int, Globals] = {}
        self.cells: dict[int, tuple[CellType, CellType, Any]] = {}
        self.met_again: list[tuple[Any, Source | Value]] = []  # objects that are known, from other sources
        self.libraries: list[tuple[Any, Source | Value]] = []  # modules and classes that take no part in staging
        self.bound: dict[int, Any] = {}  # methods of containers that objects have as attributes
        self.read_late: dict[tuple[int, str], Tensor] = {}
        self._late: dict[int, tuple[Any, Source, Tensor]] = {}  # what is read late, where, and what stands for it
        self.reread: dict[int, Any] = {}  # containers that are globals, and that the graph reads
        self.reread_parts: dict[int, Any] = {}  # the same for those in objects
        self._seen: dict[int, tuple[Any, Any]] = {}
        self._originals: dict[int, tuple[Any, Any]] = {}  # of copies of containers, by those
        self._loads: dict[tuple[Any, ...], Value] = {}
        self._arrays: dict[int, Tensor] = {}

    # Globals and closure variables ------------------------------------------------------------------------------------

    def globals_of(self, real: dict[str, Any]) -> Globals:
        """The globals that traced code of a module has."""
        if isinstance(real, Globals):
            return real
        found = self.globals.get(id(real))
        if found is None:
            found = Globals(real, self.builtins(real), self.see, self.guard, self.trace)
            self.globals[id(real)] = found
            self.trace.undo_log.watch(found)
        return found

    def builtins(self, real: dict[str, Any]) -> dict[str, Any]:
        """The builtins that traced code of a module has: those that do something are recorded."""
        found = real.get("__builtins__", builtins)
        names = vars(found) if is_a(found, ModuleType) else found
        known = _AS_THEY_ARE
        all = {name: value if known.get(name) is value else self._builtin(name, value) for name, value in names.items()}
        if "__import__" in names:       # not if it is what `namedtuple` writes
            all["__import__"] = self._importer(names["__import__"], real)
        return all

    def _builtin(self, name: str, value: Any) -> Any:
        """What traced code gets for a builtin; notes if that is the builtin itself, whatever the trace."""
        found = self.trace.context.calls.stand_in(value)
        if found is value and type(value) is BuiltinFunctionType:
            _AS_THEY_ARE[name] = value
        return found

    def _importer(self, original: Any, real: dict[str, Any]) -> Callable[..., Any]:
        """What `import` calls in traced code of a module."""

        @on_behalf
        def imported(name: str, globals: Any = None, *args: Any, **kwargs: Any) -> Any:
            module = original(name, real, *args, **kwargs)
            return self.see(module, constant(module, "imported", module_name(module)))

        return imported

    def cell(self, real: CellType, name: str) -> CellType:
        """The closure cell that traced code has in the place of a real one."""
        if any(real is mine for _, mine, _ in self.cells.values()):
            return real
        found = self.cells.get(id(real))
        if found is None:
            mine, value = CellType(), _MISSING
            content = cell_content(real, _MISSING)
            if content is _MISSING:
                self.guard(("is_empty(cell)", {"cell": real, "is_empty": is_empty}), f"the variable {name}")
            else:
                read = (Constant(real), "cell_contents")
                source = Source("getattr", read, "cell.cell_contents", (("cell", real),), name)
                self.cells[id(real)] = real, mine, value  # for functions that close over themselves
                mine.cell_contents = value = self.see(content, source)
            found = self.cells[id(real)] = real, mine, value
            self.trace.undo_log.watch(mine)
        return found[1]

    def roots(self) -> Iterator[Any]:
        """All that traced code can reach without being given it."""
        for names in self.globals.values():
            yield names
            yield from names.seen.values()
            yield from (part for name, part in dict.items(names) if name != "__builtins__")
        for _, mine, _ in self.cells.values():
            yield mine
        for thing, _ in self.sources.objects.values():
            yield thing

    def is_taken_apart(self, value: Any) -> bool:
        """Whether traced code has a copy of a container, which is a global or variable, or in one."""
        return self._seen.get(id(value), (None, value))[1] is not value

    @property
    def known_in_all(self) -> int:
        """How many objects, containers and globals are known."""
        return len(self.sources.objects) + len(self._seen) + len(self.reread) + len(self.reread_parts)

    def original(self, copy: Any) -> Any:
        """The container that traced code has a copy of."""
        return self._originals.get(id(copy), (copy, copy))[1]

    # Looking at values ------------------------------------------------------------------------------------------------

    def see(self, value: Any, source: Source) -> Any:
        """What traced code gets for a captured value."""
        if is_tensor(value):
            return value
        if reason := identity_is_users(value):
            raise Plain(reason, self.trace.place())
        self.sources.note_place(value, source)
        if type(value) is np.ndarray:
            return self.load(value, source)
        kind = pytree.kind_of(value) if not is_a(value, type) else None
        if kind is not None and not is_a(value, tuple) and (source.key in self.late or not is_small(value)):
            self.reread[id(value)] = value
        if source.key in self.late:
            return self.load(value, source)
        self.trace.context.meet(value)
        if is_opaque(value) or (kind is not None and not is_small(value)):
            return self.load(value, source)
        if kind is not None:
            self._know_fixed(value, source)
            return self._take_apart(value, kind, source)
        if type(value) in (MethodType, functools.partial):
            names = {**dict(source.names), "key": static_key, "known": static_key(value)}
            self.guard((f"key({source.expression}) == known", names), f"the value of {source.text}")
            return self.see_static(value, source.text)
        if changed_by(value) is not None:
            raise Plain(f"{source.text} is a method of a {type(value.__self__).__name__}", self.trace.place())
        is_own = type(value) is FunctionType and not trace_rules.is_plain(value.__module__)
        if is_own and looks_around(value.__code__):
            raise Plain(f"{source.text} looks at frames or at all globals", self.trace.place())
        self._guard_same(value, source)
        self._know_fixed(value, source)
        if is_a(value, CONSTANTS):
            return value
        self._know_within(value, source.text)
        if is_a(value, ModuleType) and not trace_rules.is_plain(module_name(value)):
            return self.globals_of(vars(value)).view(value)
        stand_in = self.trace.context.calls.stand_in(value)
        if is_a(value, ModuleType) or (stand_in is value and not is_a(value, BuiltinFunctionType)):
            self.know(value, source)
        return stand_in

    def partial(self, value: functools.partial[Any], source: Source) -> Any:
        """What stands for a partial, which has what stands for its arguments."""
        if id(value) in self._seen:
            return self._seen_again(value, source)
        args, keywords = source.attribute("args"), source.attribute("keywords")
        copy = functools.partial(
            self.see(value.func, source.attribute("func")),
            *[self.see(part, args.item(at)) for at, part in enumerate(value.args)],
            **{name: self.see(part, keywords.item(name)) for name, part in value.keywords.items()},
        )
        self._seen[id(value)] = value, copy
        self._originals[id(copy)] = copy, value
        self.sources.others[id(copy)] = copy, source
        return copy

    def _seen_again(self, value: Any, source: Source) -> Any:
        """What stands for a value that has been found in another place, which must be there at each run, too."""
        copy = self._seen[id(value)][1]
        known = self.sources.others.get(id(copy))
        if known is not None and known[1].key != source.key:
            self.guard(*_is_one_place(source, known[1]))
        return copy

    def see_static(self, value: Any, text: str) -> Any:
        """What traced code gets for a value that is the same at each run, although what it refers to may change."""
        self.trace.context.meet(value)
        self._know_within(value, text)
        if is_a(value, frozenset):
            self.know_parts(value, text)
        if type(value) is MethodType and is_open(type(value.__self__)):
            owner = value.__self__
            self.know(owner, constant(owner, "owner", f"{text}.__self__"))
        elif type(value) is functools.partial:
            return self.partial(value, constant(value, "partial", text))
        elif type(value) is FunctionType or is_a(value, (type, ModuleType)) or is_open(type(value)):
            self.know(value, constant(value, "thing", text))
        if is_a(value, ModuleType) and not trace_rules.is_plain(module_name(value)):
            return self.globals_of(vars(value)).view(value)
        return self.trace.context.calls.stand_in(value)

    def _know_within(self, value: Any, text: str) -> None:
        """Know what is called by way of a function of this library's, such as the owner of a staged method."""
        if class_has(type(value), "__ag_staged__") or class_has(type(value), "__ag_traced__"):
            self.see_static(getattr(value, "__wrapped__", None), text)

    def _know_fixed(self, value: Any, source: Source) -> None:
        """Know the objects that a value has in places without a name, and see to it that it has them at each run."""
        parts = fixed_parts(value)
        if parts and type(value) is not weakref.ref:
            self.guard(has_fixed_parts(value, parts, source), f"an object in {source.text}")
        self.know_parts(value, source.text)

    def know_parts(self, value: Any, text: str) -> None:
        """The same for a value that is part of the signature: it has them as long as it is that value.

        But a weak reference may lose what it refers to.
        """
        for part in fixed_parts(value):
            source = fixed_source(part, value, text)
            if type(value) is weakref.ref:
                self.guard(is_alive(source), f"what {text} refers to")
            self.know(part, source)

    def know(self, thing: Any, source: Source | Value) -> None:
        """Know an object, class or module whose attributes traced code may read and set."""
        if is_of_library(thing):
            self.libraries.append((thing, source))
            return
        if (type(thing) is FunctionType and not vars(thing)) or (is_a(thing, type) and not is_users(thing)):
            return
        if not (stands_for_itself(type(thing)) or type(thing) is FunctionType or is_a(thing, (type, ModuleType))):
            return
        if class_has(type(thing), "__ag_traced__"):
            return  # for something else stands for it
        if id(thing) in self.sources.objects:
            self.met_again.append((thing, source))
        else:
            self.sources.objects[id(thing)] = thing, source
            self._read_late(thing, source)
            for value, at, proxy in list(self._late.values()):
                self._put_everywhere(value, at, proxy, thing, source)
            self._stage_parts(thing, source)

    def know_class(self, kind: type, whole: bool = False) -> None:
        """Know a class by which traced code may get at what changes; or by which it gets at anything, if `whole`."""
        if id(kind) in self.sources.objects:
            return
        parts = [part for _, part in parts_of(kind)]
        is_changed = any(id(kind) in key for key in self.late)
        if is_changed or (whole and parts) or any(is_opaque(p) or is_a(p, (list, dict, set)) for p in parts):
            self.know(kind, constant(kind, "holder", kind.__qualname__))

    def is_proxy_of(self, value: Any, thing: Any, name: str, before: Any) -> bool:
        """Whether `value` is what stands for the attribute itself, so that nothing has been assigned."""
        proxies = self.read_late.get((id(thing), name)), self._arrays.get(id(before))
        return value is not None and any(each is value for each in proxies)

    def _stage_parts(self, root: Any, source: Source | Value) -> None:
        """Put proxies in the place of the arrays and opaque objects that an object holds, for the time of the trace."""
        for thing, base in list(self.sources.within(root, source)):
            for key, part in parts_of(thing):
                if changed_by(part) is not None:
                    self.bound[id(part)] = part
                elif is_a(thing, tuple) and trace_rules.depends_on_settings(str(module_of(type(part)))):
                    guard_decimals(self.trace)  # what is in a tuple cannot be replaced
                elif not is_a(thing, tuple) and not is_tensor(part) and (is_opaque(part) or is_long(part)):
                    self.trace.undo_log.replace(thing, key, self._read_when_used(part, inner_source(thing, base, key)))

    def _read_when_used(self, value: Any, source: Source) -> Tensor:
        """A proxy for an array or an object, which the graph reads if traced code uses it."""
        found = self._arrays.get(id(value))
        if found is None:
            node = Node("getattr", (), None, (), ())
            output = node.add_output(type_outside(value), source.text if source.text.isidentifier() else "")
            found = self._arrays[id(value)] = self._proxy(output, value)
            self._seen[id(value)] = value, found
            self.sources.read_at[id(value)] = value, source

            def use() -> None:
                node.op, node.args, node.place = source.op, self._args_of(source), self.trace.place()
                self.trace.prologue.append(node)
                self._guard_class(value, source)

            self.trace.unused[output] = use
        return found

    def _proxy(self, output: Value, value: Any) -> Tensor:
        """The proxy for what stands for a captured object."""
        proxy = self.trace.proxy(output)
        if type(value) is np.ndarray:
            self._originals[id(proxy)] = proxy, value
        else:
            self.trace.note_class(output, type(value))
        return proxy

    def _guard_class(self, value: Any, source: Source) -> None:
        what = "dtype or shape" if type(value) is np.ndarray else "class"
        self.guard(is_alike(value, source), f"the {what} of {source.text}")

    def _read_late(self, root: Any, source: Source | Value) -> None:
        """Let attributes, of objects within `root`, be read when the graph runs."""
        wanted = {key[1:] for key in self.late if key[0] == "attribute"}
        for thing, base in list(self.sources.within(root, source)) if wanted else ():
            for name, value in list(attributes(thing).items()):
                if (id(thing), name) in self.read_late:
                    continue
                if (id(thing), name) in wanted or ((base.text, name) in wanted and may_vary(value)):
                    self._read_everywhere(value, thing, base.attribute(name))

    def _read_everywhere(self, value: Any, thing: Any, at: Source) -> None:
        """Put one proxy in the place of an attribute of `thing`, in all that the function knows of this very value."""
        proxy, name = self.load(value, at), at.args[1]
        self.read_late[id(thing), name] = proxy
        self.trace.undo_log.replace(thing, name, proxy)
        if is_quantity(value):  # equal numbers are often one object
            return
        if type(value) in (list, dict, set):
            self.reread_parts[id(value)] = value
            self.sources.note_place(value, at)
        self._late[id(value)] = value, at, proxy
        for root, source in list(self.sources.objects.values()):
            self._put_everywhere(value, at, proxy, root, source)

    def _put_everywhere(self, value: Any, at: Source, proxy: Tensor, root: Any, source: Source | Value) -> None:
        """The same in all that is within `root`."""
        for thing, base in list(self.sources.within(root, source)):
            for name in [name for name, part in attributes(thing).items() if part is value or part is proxy]:
                self.guard(*_is_one_place(base.attribute(name), at))
                self.read_late[id(thing), name] = proxy
                self.trace.undo_log.replace(thing, name, proxy)
            items = thing.items() if is_a(thing, dict) else enumerate(thing) if is_a(thing, list) else ()
            for key in [key for key, part in items if part is value or part is proxy]:
                self.guard(*_is_one_place(base.item(key), at))
                self.trace.undo_log.replace(thing, key, proxy)
        if self.sources.too_far:
            self.sources.refuse(self.sources.too_far)

    def load(self, value: Any, source: Source) -> Tensor:
        """A proxy for what the graph reads from `source` when it runs."""
        self._guard_class(value, source)
        proxy = self._proxy(self._load(source, type_outside(value)), value)
        if type(value) is np.ndarray:
            self._arrays.setdefault(id(value), proxy)
            self._seen.setdefault(id(value), (value, proxy))
            self.sources.read_at.setdefault(id(value), (value, source))
        return proxy

    def _load(self, source: Source, type: Any) -> Value:
        if source.op in ("param", "constant"):
            return source.args[0]  # type: ignore[no-any-return]
        found = self._loads.get(source.key)
        if found is None:
            node = Node(source.op, self._args_of(source), None, (), self.trace.place())
            self.trace.prologue.append(node)
            found = self._loads[source.key] = node.add_output(type, source.text if source.text.isidentifier() else "")
        elif isinstance(found.type, ObjectType):
            found.type = type
        return found

    def _args_of(self, source: Source) -> tuple[Any, ...]:
        return tuple(self.reader(part) if isinstance(part, Source) else part for part in source.args)

    def reader(self, source: Source, value: Any = _MISSING) -> Value:
        """What reads, when the graph runs, something of the class of `value`."""
        return self._load(source, ObjectType() if value is _MISSING else ObjectType(type(value).__name__))

    def _take_apart(self, value: Any, kind: Any, source: Source) -> Any:
        if id(value) in self._seen:
            return self._seen_again(value, source)
        children = kind.children(value)
        if is_a(value, tuple) and not any(has_parts(part) or fixed_parts(part) for part in children.values()):
            self._guard_same(value, source)
            self.sources.others[id(value)] = value, source
            return value
        self.guard(is_structure(value, source), f"the structure of {source.text}")
        copy = kind.rebuild(value, [self.see(part, source.part(kind, key)) for key, part in children.items()])
        self._seen[id(value)] = value, copy
        self._originals[id(copy)] = copy, value
        self.sources.others[id(copy)] = copy, source
        if not is_a(value, tuple):
            self.trace.undo_log.touch(copy)
        return copy

    def _guard_same(self, value: Any, source: Source) -> None:
        late = source.key if is_quantity(value) else None
        self.guard(is_same(value, source), f"the value of {source.text}", late)

    def guard(self, condition: Condition, what: str, late: Any = None) -> None:
        """Let the trace be used only where a condition holds; `what` has changed if it does not."""
        where = user_line(self.trace.place())
        at = f", {where[0]}:{where[1]}" if where else ""
        self.guards.append(Guard(*condition, f"{what} changed{at}", late))

    def find(self, value: Any) -> tuple[Any, Source] | None:
        """Where something is, for the graph to read; see to it that there is something of that class then."""
        is_new = id(value) not in self.sources.read_at
        found = self.sources.find(value)
        if found is not None and is_new:
            self._guard_class(value, found[1])
        return found

    def expose(self, value: Any) -> None:
        """Know that code which is not traced looks, while tracing, at all that can be reached from a value."""
        rest = [value]
        while rest:
            part = rest.pop()
            if not (is_tensor(part) or is_a(part, type)) and id(part) not in self.exposed and has_parts(part):
                self.exposed[id(part)] = part
                rest.extend(inner for _, inner in parts_of(part))

    # Arrays and objects met on the way --------------------------------------------------------------------------------

    def array(self, value: Any) -> Tensor:
        """A proxy for an array that was not seen before: an attribute of an object, or made by code not traced."""
        if type(value) is Tensor:  # stands for it already
            return value
        found = self._arrays.get(id(value))
        if found is None:
            found_at = self.find(value)
            if found_at is not None:
                return self.load(value, found_at[1])
            node = Node("getitem", (Constant([value]), 0), None, (), self.trace.place())
            self.trace.prologue.append(node)
            found = self._arrays[id(value)] = self.trace.proxy(node.add_output(type_of(value)))
            self._seen[id(value)] = value, found
        return found


def _is_one_place(source: Source, other: Source) -> tuple[Condition, str]:
    """That the same object is in two places, as the arguments of `guard`."""
    expressions, names = with_distinct_names([source, other])
    return (" is ".join(expressions), names), f"what {source.text} is"
