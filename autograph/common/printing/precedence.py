"""Which expression binds how tightly, and how tightly each place in a tree demands it.

An expression needs parentheses where it binds weaker than its place demands. The tables here are all that the
printer knows of Python's operator precedence.
"""

from __future__ import annotations

from typing import Any

(YIELD, TUPLE, NAMED, TEST, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, TERM, FACTOR,
 POWER, AWAIT, NUMBER, ATOM) = range(19)  # fmt: skip

_NEVER_BARE = -1

_BINARY = {
    "BitOr": BIT_OR, "BitXor": BIT_XOR, "BitAnd": BIT_AND, "LShift": SHIFT, "RShift": SHIFT, "Add": SUM, "Sub": SUM,
    "Mult": TERM, "MatMult": TERM, "Div": TERM, "FloorDiv": TERM, "Mod": TERM, "Pow": POWER,
}  # fmt: skip

_BINDING = {
    "NamedExpr": _NEVER_BARE, "Yield": YIELD, "YieldFrom": YIELD, "Lambda": TEST, "IfExp": TEST, "Compare": COMPARE,
    "Await": AWAIT, "MatchOr": BIT_OR,
}  # fmt: skip


def kind(node: Any) -> str:
    """The name of a node's type, the same for `ast` and `gast`, whose types are not."""
    return type(node).__name__


def binding(node: Any) -> int:
    """How tightly an expression binds, printed without parentheses around it."""
    name = kind(node)
    if name in ("Name", "Call", "Attribute"):
        return ATOM
    if name == "BinOp":
        return _BINARY[kind(node.op)]
    if name == "BoolOp":
        return OR if kind(node.op) == "Or" else AND
    if name == "UnaryOp":
        return NOT if kind(node.op) == "Not" else FACTOR
    if name == "Tuple":
        return TUPLE if len(node.elts) > 1 else ATOM
    if name == "Constant":
        if type(node.value) in (int, float) and (node.value < 0 or repr(node.value) == "-0.0"):
            return FACTOR
        return NUMBER if type(node.value) is int else ATOM  # `1.real` is no attribute
    if name == "MatchAs" and node.pattern is not None:
        return TEST
    return _BINDING.get(name, ATOM)


# other fields demand TEST: only `:=`, `yield` and bare tuples need parentheses there
_DEMANDS: dict[str, dict[str, int]] = {
    "Expr": {"value": YIELD},
    "Assign": {"targets": TUPLE, "value": YIELD},
    "AugAssign": {"value": YIELD},
    "AnnAssign": {"value": YIELD},
    "Return": {"value": TUPLE},
    "For": {"target": TUPLE, "iter": TUPLE},
    "AsyncFor": {"target": TUPLE, "iter": TUPLE},
    "If": {"test": NAMED},
    "While": {"test": NAMED},
    "Match": {"subject": NAMED},
    "match_case": {"guard": NAMED},
    "MatchClass": {"cls": NUMBER},
    "MatchAs": {"pattern": BIT_OR},
    "MatchOr": {"patterns": BIT_XOR},
    "comprehension": {"target": TUPLE, "iter": OR, "ifs": OR},
    "IfExp": {"test": OR, "body": OR},
    "Compare": {"left": BIT_OR, "comparators": BIT_OR},
    "Starred": {"value": BIT_OR},
    "Await": {"value": NUMBER},
    "Yield": {"value": TUPLE},
    "Attribute": {"value": ATOM},
    "Subscript": {"value": NUMBER},
    "Call": {"func": NUMBER},
}


def demand(parent: Any, field: str) -> int:
    """How tightly a node in a field of `parent` must bind to need no parentheses."""
    name = kind(parent)
    if name == "BinOp":
        level = _BINARY[kind(parent.op)]
        if level == POWER:  # the only one that groups to the right, and allows a sign there
            return AWAIT if field == "left" else FACTOR
        return level if field == "left" else level + 1
    if name == "BoolOp":
        return AND if kind(parent.op) == "Or" else NOT
    if name == "UnaryOp":
        return NOT if kind(parent.op) == "Not" else FACTOR
    places = _DEMANDS.get(name)
    return places.get(field, TEST) if places else TEST


def needs_parentheses(node: Any, level: int) -> bool:
    """Whether `node` must be parenthesized in a place that demands `level`."""
    bound = binding(node)
    return bound < level and not (bound == _NEVER_BARE and level == NAMED)
