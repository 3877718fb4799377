"""`[e for x in xs if c]` → `ag__.list_comp(xs, lambda x: e, lambda x: c)`; sets, dicts and generators likewise.

    [e for a, b in xs]         →  ag__.list_comp(xs, lambda a, b: e)
    [e for a, (b, c) in xs]    →  ag__.list_comp(xs, lambda a, b, c: e, target=(0, (1, 2)))

    [e for x in xs for y in x]  →  ag__.list_comp(xs, lambda x: ag__.gen_exp(x, lambda y: e), flat=True)

Only comprehensions whose targets consist of names are rewritten. One whose target an inner function captures stays
plain, because all its elements share one variable.
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.builtins import TAKE_ITEMS
from autograph.converters.context import movable
from autograph.converters.context.base import Context, binds_here
from autograph.converters.logical import call_of, deferred
from autograph.syntax import scope, template, trees

_OPERATORS = {
    gast.ListComp: "list_comp",
    gast.SetComp: "set_comp",
    gast.DictComp: "dict_comp",
    gast.GeneratorExp: "gen_exp",
}


def rewrite(node: Any, context: Context) -> Any:
    if not context.decide(node, "comprehension", _reason(node, context)):
        _rename_variables(node, context)
        return None
    elements = scope.elements(node)
    for generator in reversed(node.generators[1:]):
        elements = [gast.copy_location(_call("gen_exp", generator, elements, node), node)]
    return _call(_OPERATORS[type(node)], node.generators[0], elements, node)


def _call(operator: str, generator: Any, elements: list[Any], node: Any) -> Any:
    """Return a call of an operator for one `for`; its element may be a call of the operator for the next one."""
    parameters = _names(generator.target) or []
    conditions = generator.ifs
    if len(conditions) > 1:
        conditions = [call_of("and_", [*map(deferred, conditions)])]
        gast.copy_location(conditions[0], node)
    lambdas = [gast.copy_location(template.thunk(part, *parameters), part) for part in (*elements, *conditions)]
    plain = len(parameters) > 1 and all(isinstance(name, gast.Name) for name in generator.target.elts)
    options = {}
    if not plain and not isinstance(generator.target, gast.Name):
        options["target"] = _shape(generator.target, parameters)
    if generator is not node.generators[-1]:
        options["flat"] = template.constant(True)
    return template.call(operator, generator.iter, *lambdas, **options)


def _names(target: Any) -> list[str] | None:
    """Return the names in a target, in order; None if it contains anything else, or none."""
    if isinstance(target, gast.Name):
        return [target.id]
    parts = [_names(part) for part in target.elts] if isinstance(target, (gast.Tuple, gast.List)) else []
    return [name for part in parts for name in part or []] if parts and None not in parts else None


def _shape(target: Any, names: list[str]) -> Any:
    """Return the structure of a target, as a display of the indices of its names."""
    if isinstance(target, gast.Name):
        return template.constant(names.index(target.id))
    return gast.Tuple([_shape(part, names) for part in target.elts], gast.Load())


def _reason(node: Any, context: Context) -> str | None:
    if len(node.generators) > 1 and isinstance(node, gast.DictComp):
        return "it is a dict with several `for`s"
    bound = [_names(generator.target) for generator in node.generators]
    if None in bound:
        return "its target is more than names"
    if any(len(set(names or ())) < len(names or ()) for names in bound):
        return "its target names a variable twice"
    if binds_here(node):
        return "`:=` binds a name of the function"
    parts = scope.elements(node)
    for number, generator in enumerate(node.generators):
        parts += [*generator.ifs, generator.iter] if number else generator.ifs
    if not _captured_by_functions(parts).isdisjoint(name for names in bound for name in names or ()):
        return "an inner function captures its variable"
    if any(generator.is_async for generator in node.generators):
        return "it is asynchronous"
    return movable.reason(parts, context)


def _rename_variables(node: Any, context: Context) -> None:
    """Rename the variables of a comprehension that stays plain in a generated function to names that no local has.

    From 3.12 on Python runs it in that function itself, and loses a variable of an outer function of the same name.
    """
    if not getattr(node, "in_body", False) or isinstance(node, gast.GeneratorExp):
        return
    for name in scope.targets(node):
        if context.is_local(name):
            fresh = context.namer.fresh(name)
            context.targets.add(fresh)
            _rename(scope.inner_parts(node), name, fresh)


def _rename(nodes: list[Any], old: str, new: str) -> None:
    """Rename a variable, except in inner scopes that have a variable of that name."""
    for node in nodes:
        if isinstance(node, scope.COMPREHENSIONS) and old in scope.targets(node):
            _rename([node.generators[0].iter], old, new)
        elif not (isinstance(node, scope.FUNCTIONS) and old in scope.parameters(node)):
            if isinstance(node, gast.Name) and node.id == old:
                node.id = new
            _rename(trees.children(node), old, new)


# Operators that have done with a generator, and with a `key`, when they return.
_CONSUMERS = frozenset(f"{name}_" for name in (*TAKE_ITEMS, "dict"))


def _captured_by_functions(parts: list[Any]) -> set[str]:
    """Return the names that functions in a comprehension read, perhaps after the next element."""
    found: set[str] = set()
    consumed: set[int] = set()      # the nodes of generators and functions that are gone before the next element
    for node in (inner for part in parts for inner in trees.walk(part)):
        consumed.update(map(id, _consumed(node)))
        if id(node) in consumed:
            continue
        if isinstance(node, gast.Lambda) and hasattr(node, "origin"):
            found.update(scope.uses(node).captured)
        elif template.operator_of(node) == "gen_exp":
            found.update(scope.uses(*node.args[1:]).captured)
        elif isinstance(node, gast.GeneratorExp):
            found.update(scope.uses(node).captured)
    return found


def _consumed(node: Any) -> list[Any]:
    """Return the arguments of a call that it keeps no longer than it runs."""
    name = template.operator_of(node)
    if name not in _CONSUMERS and not _is_join(node):
        return []
    iterables = node.args[:1] if len(node.args) == 1 or name == "sum_" else []    # `min(a, b)` may return either
    return [*iterables, *[each.value for each in node.keywords if each.arg == "key"]]


def _is_join(node: Any) -> bool:
    """Whether a node is `ag__.call(", ".join)(…)`."""
    wrapped = getattr(node, "func", node)
    method = wrapped.args[0] if template.operator_of(wrapped) == "call" and len(wrapped.args) == 1 else None
    return isinstance(method, gast.Attribute) and method.attr == "join" and isinstance(method.value, gast.Constant)


REWRITERS = dict.fromkeys(_OPERATORS, rewrite)
