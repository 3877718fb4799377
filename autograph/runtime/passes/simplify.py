"""Simplification: replace operations that return an operand, or an item of a structure just built.

    v1 = not(b)                         v1 = not(b)
    v2 = not(v1)              →         …                b in place of v2, if it is a bool
    t = build((x, y))                   t = build((x, y))
    a, b = unpack(t, 2)                 …                x and y in place of a and b

Each replacement is exact for all values: `x + 0` is `x` for integers, but not for the float -0.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from autograph.runtime.graph import traits
from autograph.runtime.graph.aliasing import Aliasing, aliasing_of
from autograph.runtime.graph.graph import UNBOUND, Block, Graph, Node, Value, walk
from autograph.runtime.graph.passed_numbers import passed_by
from autograph.runtime.graph.types import STR, MaybeUnbound, TensorType, Type, type_of
from autograph.runtime.passes.rewriter import Outcome, Rewriter, is_leaf, shown

# Returns the replacement of each output, or None.
Rule: TypeAlias = "Callable[[Node, Aliasing], list[Any] | None]"


def run(graph: Graph) -> Outcome:
    """Replace results by equal operands."""
    ops = {node.op for node in walk(graph.block)}
    if not any(next(_rules(op), None) or op == "getattr" or op in traits.LENGTH for op in ops):
        return Outcome()
    return _Simplifying(graph).run(graph)


class _Simplifying(Rewriter):
    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.aliasing = aliasing_of(graph)
        self.passed = passed_by(graph)
        self.shapes_last = not any(node.op in traits.RESHAPES and _is_array(node.args[0]) for node in walk(graph.block))

    def node(self, node: Node, block: Block) -> None:
        found = self.known(node)
        if found is not None:
            self.replace(node.outputs, found, f"{shown(node)} gives one of its operands", node.place)
            return
        super().node(node, block)

    def known(self, node: Node) -> list[Any] | None:
        """The outputs of a node, if they are known."""
        for rule in _rules(node.op):
            found = rule(node, self.aliasing)
            if found is not None and not (rule in _COMPUTING and self.passed.is_kept(node.output)):
                return found
        return _static(node) if self.shapes_last and (node.op == "getattr" or node.op in traits.LENGTH) else None


def _type(arg: Any) -> Type | None:
    if isinstance(arg, Value):
        return arg.type
    return None if isinstance(arg, (tuple, list, dict, slice)) else type_of(arg)


def _is_array(arg: Any) -> bool:
    """Whether an argument is an array of known dtype and rank."""
    return isinstance(arg, Value) and isinstance(arg.type, TensorType) and arg.type.kind == "array" and arg.type.exact


def _is_number(arg: Any, kinds: str) -> bool:
    """Whether an argument is a number with a dtype of one of `kinds`."""
    found = _type(arg)
    if not isinstance(found, TensorType) or not found.exact:
        return False
    return found.kind in ("python", "scalar") and found.dtype.kind in kinds


# --------------------------------------------------------------------------------------------------- arithmetic


def _neutral(node: Node, aliasing: Aliasing) -> list[Any] | None:
    """The result of an operator whose other operand is its neutral element.

    Not for complex numbers: both parts of a product use both parts of each factor, and 0 times infinity is NaN.
    """
    number, kinds = traits.NEUTRAL[node.op]
    x, y = node.args
    for other, constant in ((x, y), (y, x))[: 1 + (node.op in traits.COMMUTATIVE)]:
        if type(constant) is int and constant == number and _is_number(other, kinds):
            return [other] if _type(other) == node.output.type else None
    return None


def _involution(node: Node, aliasing: Aliasing) -> list[Any] | None:
    """The operand of an involution applied twice: `-(-x)`."""
    inner = _made_by(node.args[0], node.op)
    if inner is None or not _is_number(inner.args[0], traits.INVOLUTION[node.op]):
        return None
    return [inner.args[0]] if _type(inner.args[0]) == node.output.type else None


def _converted(node: Node, aliasing: Aliasing) -> list[Any] | None:
    """The operand of a conversion to its own class."""
    if len(node.args) != 1 or node.kwargs or _type(node.args[0]) != node.output.type:
        return None
    return [*node.args] if _is_number(node.args[0], "biufc") or node.output.type == STR else None


# --------------------------------------------------------------------------------------------------- structures


def _made_by(arg: Any, *ops: str) -> Node | None:
    """The node that computes an argument, if it has one of these ops."""
    return arg.node if isinstance(arg, Value) and arg.node is not None and arg.node.op in ops else None


def _structure(arg: Any, aliasing: Aliasing) -> Any:
    """The tuple, list or dict that an argument certainly is; None if unknown."""
    made = _made_by(arg, "build")
    if made is not None:
        structure = made.args[0]
        return structure if type(structure) is tuple or not aliasing.is_written(arg) else None
    return arg if type(arg) in (tuple, list, dict) else None


def _item(node: Node, aliasing: Aliasing) -> list[Any] | None:
    x, index = node.args
    structure = _structure(x, aliasing)
    if type(structure) in (tuple, list):
        if type(index) is int and -len(structure) <= index < len(structure) and is_leaf(structure[index]):
            return [structure[index]]
    elif type(structure) is dict and type(index) in (str, int) and all(type(key) in (str, int) for key in structure):
        if index in structure and is_leaf(structure[index]):
            return [structure[index]]
    return None


def _unpacked(node: Node, aliasing: Aliasing) -> list[Any] | None:
    structure = _structure(node.args[0], aliasing)
    if type(structure) not in (tuple, list) or "star" in node.kwargs or len(structure) != len(node.outputs):
        return None
    return list(structure) if all(map(is_leaf, structure)) else None


def _bound(node: Node, aliasing: Aliasing) -> list[Any] | None:
    x = node.args[0]
    if x is UNBOUND or (isinstance(x, Value) and isinstance(x.type, MaybeUnbound)):
        return None
    return [x]


# ------------------------------------------------------------------------------------------------------- arrays


def _static(node: Node) -> list[Any] | None:
    """A fact that follows from the type of an array."""
    x = node.args[0]
    if not _is_array(x):
        return None
    name = node.args[1] if node.op == "getattr" else ""
    if name == "ndim":
        return [x.type.ndim]
    if name == "dtype":
        return [x.type.dtype]
    if None in x.type.shape:
        return None
    if node.op in traits.LENGTH:
        return [x.type.shape[0]] if x.type.shape else None
    return {"shape": [x.type.shape], "size": [int(np.prod(x.type.shape, dtype=object))]}.get(name)


def _transposed(arg: Any) -> Any:
    """The operand of a transpose; None for other arguments."""
    made = _made_by(arg, "getattr", *traits.TRANSPOSES)
    if made is None or made.kwargs or not _is_array(made.args[0]):
        return None
    return made.args[0] if list(made.args[1:]) == (["T"] if made.op == "getattr" else []) else None


def _transpose(node: Node, aliasing: Aliasing) -> list[Any] | None:
    """`x.T.T` is `x`, where the identity of the view does not matter."""
    inner = _transposed(node.output)
    x = _transposed(inner) if inner is not None else None
    return [x] if x is not None and not aliasing.is_kept(node.output) else None


def _same_array(node: Node, aliasing: Aliasing) -> list[Any] | None:
    """`np.asarray(x)` of an array is the array; and so is `x.astype(d, copy=False)` if `d` is its dtype."""
    x, *rest = node.args
    if not _is_array(x) or x.type.dtype.kind not in "biufc":
        return None
    options, copies = dict(node.kwargs), traits.COPIES_BY_DEFAULT[node.op]
    if rest and "dtype" not in options:
        options["dtype"] = rest.pop(0)
    if copies and (options.pop("copy", True) is not False or "dtype" not in options):
        return None
    dtype = options.pop("dtype", None)
    if rest or options or not (dtype is None or _is_dtype(dtype, x.type.dtype)):
        return None
    return [x]


def _is_dtype(arg: Any, dtype: np.dtype[Any]) -> bool:
    if isinstance(arg, np.dtype):
        return bool(arg == dtype)
    return isinstance(arg, type) and (issubclass(arg, np.generic) or arg in (bool, int, float, complex)) and (
        np.dtype(arg) == dtype and dtype.isnative
    )


_COMPUTING = (_neutral, _involution)    # the others give an operand of operations that give that object
_OF_CONSTRUCTS: dict[str, Rule] = {"bound": _bound, "getitem": _item, "unpack": _unpacked, "getattr": _transpose}
_BY_FACTS: tuple[tuple[traits.Trait | traits.Relation, Rule], ...] = (
    (traits.NEUTRAL, _neutral),
    (traits.INVOLUTION, _involution),
    (traits.CONVERSION, _converted),
    (traits.TRANSPOSES, _transpose),
    (traits.COPIES_BY_DEFAULT, _same_array),
)


def _rules(op: str) -> Iterator[Rule]:
    """The rules of an op."""
    if op in _OF_CONSTRUCTS:
        yield _OF_CONSTRUCTS[op]
    else:
        yield from (rule for facts, rule in _BY_FACTS if op in facts)
