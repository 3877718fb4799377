"""Inlines the check whether a backend traces into uses of operators that otherwise return their argument.

Only the compiled code changes, not the printed text:

    ag__.ref(x)[i]                →    (ag__.ref(x) if ag__.ACTIVE else x)[i]
    ag__.fstring(lambda: f"{x}")  →    (ag__.fstring(lambda: f"{x}") if ag__.ACTIVE else f"{x}")
    x is None                     →    (ag__.concrete(x, parts=False) if ag__.ACTIVE else x) is None
    "a" in x                      →    "a" in (ag__.concrete(x, inside=True) if ag__.ACTIVE else x)
    x[0]                          →    (ag__.ref(x) if ag__.ACTIVE else x)[0]
    lax.scan(f, x, xs)            →    (ag__.call(lax.scan) if ag__.ACTIVE else lax.scan)(f, x, xs)
    xs += [x]                     →    if ag__.ACTIVE and ag__.is_container(xs):
                                           xs = ag__.in_place('iadd', ag__.ref(xs), [x])
                                       else:
                                           xs += [x]
    ag__.ref(a)[i] += [x]         →    (ag__.place(a) if ag__.ACTIVE else a)[i] += [x]
    x                             →    (ag__.bound(x) if ag__.ACTIVE else x)
    x += 1                        →    if ag__.ACTIVE:
                                           ag__.bound(x)
                                           x += 1
                                       else:
                                           x += 1

Calling the operator would take several times as long as the indexing or the call itself. The last six, and comparisons
like `x is None` (see `converters/comparisons.py`), have no operator in the printed text. Only reads of variables that
may be unbound become calls of `bound` (see `binding.py`).
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.syntax import template, trees

_INLINE = frozenset({"ref", "call", "fstring", "concrete", "context", "place"})
_DISPLAYS = (gast.Tuple, gast.List, gast.Set, gast.Dict)
# Operators that may change a list, set, dict or the like in place.
_IN_PLACE = {
    gast.Add: "iadd", gast.Mult: "imul", gast.BitOr: "ior", gast.BitAnd: "iand", gast.BitXor: "ixor", gast.Sub: "isub"
}  # fmt: skip


def inline(tree: gast.AST, whole: bool = False) -> None:
    """Inline the checks, in place.

    Only arguments that are names, dotted names or f-strings are inlined, so no large expression is compiled twice.

    Args:
        whole: also let the backend substitute operands of comparisons and of operators of sets. Python does not read
            the items of containers through the backend there, so it must not get a container with proxies in it.
    """
    for node in list(trees.walk(tree)) if whole else ():
        _guard_whole(node)
    for node in list(trees.walk(tree)):
        if getattr(node, "guarded", False):
            _guard(node)
        if isinstance(node, gast.AugAssign) and type(node.op) in _IN_PLACE:
            target: Any = getattr(node.target, "value", None)
            if template.operator_of(target) == "ref":
                target.func.attr = "place"
        for field in trees.PARTS[type(node)]:
            value = getattr(node, field, None)
            if isinstance(value, list):
                value[:] = [_checked(_check_reads(item)) for item in value]
            elif isinstance(value, (gast.Call, gast.Name)):
                setattr(node, field, _checked(value))


def _guard(node: Any) -> None:
    """Let a tracing backend substitute operands that Python compares by identity, matches, or enters."""
    if isinstance(node, gast.With):
        for item in node.items:
            item.context_expr = _substituted("context", item.context_expr)
    elif isinstance(node, gast.Match):
        if isinstance(node.subject, gast.Tuple):
            node.subject.elts[:] = [_substituted("concrete", part, inside=True) for part in node.subject.elts]
        else:
            node.subject = _substituted("concrete", node.subject, inside=True)
    elif isinstance(node, gast.Subscript):
        node.value = _substituted("ref", node.value)
    elif isinstance(node, gast.Call):
        node.func = _substituted("call", node.func)
    else:
        _guard_comparison(node)


def _guard_whole(node: Any) -> None:
    """Let a tracing backend substitute operands that Python compares or combines as a whole."""
    if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Sub, gast.BitOr, gast.BitAnd, gast.BitXor)):
        node.left, node.right = (_substituted("whole", part) for part in (node.left, node.right))
    elif isinstance(node, gast.Compare) and not isinstance(node.ops[0], (gast.Is, gast.IsNot)):
        node.left = _substituted("whole", node.left)
        node.comparators[:] = [_substituted("whole", part) for part in node.comparators]


def _guard_comparison(node: gast.Compare) -> None:
    for i, op in enumerate(node.ops):
        if isinstance(op, (gast.In, gast.NotIn)) and not isinstance(node.comparators[i], _DISPLAYS):
            node.comparators[i] = _substituted("concrete", node.comparators[i], inside=True)
    here = [isinstance(op, (gast.Is, gast.IsNot)) for op in node.ops]
    last = node.comparators[-1]
    none = len(node.ops) == 1 and isinstance(last, gast.Constant) and last.value is None
    options = {"parts": False} if none else {}
    if here[0]:
        node.left = _substituted("concrete", node.left, **options)
    for i, operand in enumerate(node.comparators):
        if here[i] or here[i + 1 : i + 2] == [True]:
            node.comparators[i] = _substituted("concrete", operand, **options)


def _substituted(operator: str, node: Any, **options: bool) -> Any:
    """Return a call of an operator that returns plain values unchanged; with an inline check if `node` is a name."""
    if isinstance(node, (gast.Constant, gast.Starred)):
        return node
    named = {name: template.constant(value) for name, value in options.items()}
    return gast.copy_location(_checked(gast.copy_location(template.call(operator, node, **named), node)), node)


def _in_place(node: Any) -> Any:
    """Return an augmented assignment to a name that reports changed containers to a tracing backend."""
    if not isinstance(node, gast.AugAssign) or not isinstance(node.target, gast.Name) or type(node.op) not in _IN_PLACE:
        return node
    if isinstance(getattr(node.value, "value", None), (int, float, complex)) and not isinstance(node.op, gast.Mult):
        return node  # numbers only
    name, operator = node.target.id, template.constant(_IN_PLACE[type(node.op)])
    test = template.expression("ag__.ACTIVE and ag__.is_container(name)", name=name)
    text = "name = ag__.in_place(operator, ag__.ref(name), value)"
    reported = template.statements(text, name=name, operator=operator, value=node.value)
    return gast.copy_location(gast.If(test, [gast.copy_location(each, node) for each in reported], [node]), node)


def _check_reads(node: Any) -> Any:
    """Add checks to a `del` or augmented assignment, whose reads are no loads."""
    new = _in_place(node)
    names_read = node.targets if isinstance(node, gast.Delete) else [getattr(node, "target", None)]
    checks = [gast.copy_location(gast.Expr(_bound(each)), node) for each in names_read if hasattr(each, "unbound")]
    if not checks:
        return new
    return gast.copy_location(gast.If(template.attribute("ACTIVE"), [*checks, new], [node]), node)


def _bound(name: gast.Name) -> Any:
    options = {"free": template.constant(True)} if name.unbound == "free" else {}
    return template.call("bound", gast.copy_location(template.name(name.id), name), **options)


def _checked(node: Any) -> Any:
    if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load) and hasattr(node, "unbound"):
        traced, plain = gast.copy_location(_bound(node), node), node
    else:
        traced, plain = node, _plain(node) if isinstance(node, gast.Call) and not hasattr(node, "origin") else None
    if plain is None:
        return node
    return gast.copy_location(gast.IfExp(template.attribute("ACTIVE"), traced, plain), node)


def _plain(node: gast.Call) -> Any:
    """Return the expression for a call of an operator if no backend traces; None if there is no inline check for it."""
    operator = template.operator_of(node)
    if operator not in _INLINE:
        return None
    argument = node.args[0]
    if operator == "fstring":
        return argument.body
    return argument if isinstance(trees.dotted(argument)[0], (gast.Name, gast.Constant)) else None
