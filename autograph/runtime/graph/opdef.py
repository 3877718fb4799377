"""Declarations of ops, and the registry.

The name of an op shows its kind:

    add, lt, getitem, not, …     an operator or a construct of Python: engines write `template`, or know it
    np.sum, math.sqrt, len       a function: engines write a call of `target`
    .sum, .append                a method: engines write a call of that method of the first argument
    call                         a call of its first argument, an unknown function
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeAlias

from autograph.common.statics import class_attribute
from autograph.runtime.graph.traits import Relation, Trait
from autograph.runtime.graph.types import ANY, Type

# Called with the node's args and kwargs, with types in place of values (constants stay). It returns the type of the
# output, or a list of types for several outputs. It never raises, and does not check the call: a wrong one raises
# NumPy's error when it runs.
Infer: TypeAlias = Callable[..., "Type | list[Type]"]

# The derivative of an op in one positional argument, in reverse mode: `rule(g, out, *args, **kwargs)` maps the gradient
# `g` of the result `out` to the gradient of that argument. For an op with several outputs, `g` and `out` are tuples;
# for a structure, such as the list of `np.stack`, the rule returns a structure of the same form. The caller sums the
# result to the argument's shape if that was broadcast, and casts it to its dtype. Rules are NumPy code without branches
# on values: they run on arrays, numbers, and proxies. Gradients of complex numbers are those of holomorphic functions,
# without conjugation, as in JAX.
Vjp: TypeAlias = Callable[..., Any]

# The lowering of an op to machine code: `rule(emit, *args, **kwargs)`, see `autograph.runtime.graph.operands`.
Lower: TypeAlias = Callable[..., Any]

PURE = "pure"      # computes a new value from its arguments, and does nothing else
VIEW = "view"      # the same, but the result may share memory with an argument, or be the argument
WRITE = "write"    # mutates its first argument, and may return it
ORDERED = "ordered"  # has other visible effects, or depends on mutable state: is never dropped


@dataclass(frozen=True, slots=True)
class OpDef:
    """An operation.

    Attributes:
        name: the name in nodes.
        infer: see `Infer`.
        effect: PURE, VIEW, WRITE or ORDERED.
        target: the Python function of an op that is a function.
        template: the Python syntax of an operator: `{} + {}`.
        raises: whether it can raise although the types of its arguments are exact and fit.
        vjp: for each positional argument its derivative, or None if the gradient is zero because the result does not
            depend on it smoothly, as it is for further arguments; None as a whole if the derivatives are unknown.
        lower: see `Lower`; None if only Python runs it.
        fold: computes it for constants, or raises if that takes long or much memory; None if the result may differ at
            another time or in another process.
    """

    name: str
    infer: Infer
    effect: str = PURE
    target: Any = None
    template: str = ""
    raises: bool = False
    vjp: tuple[Vjp | None, ...] | None = None
    lower: Lower | None = None
    fold: Callable[..., Any] | None = None


def unknown(*args: Any, **kwargs: Any) -> Type:
    """The inference of an op without one."""
    return ANY


def always(found: Type) -> Infer:
    """The inference of an op whose result has the same type for all arguments."""

    def infer(*args: Any, **kwargs: Any) -> Type:
        return found

    return infer


OPS: dict[str, OpDef] = {}
# The op for a NumPy or Python function: `OPS[FUNCTIONS[np.sum]]`. Keys are hashable callables.
FUNCTIONS: dict[Any, str] = {}


NO_GRADIENT = (None,)       # of an op whose result is constant between jumps, or holds no floats


def declare(
    name: str,
    result: Infer | Type | None = None,
    *,
    vjp: Vjp | tuple[Vjp | None, ...] | None = None,
    traits: Iterable[Trait | tuple[Relation, Any]] = (),
    **rest: Any,
) -> OpDef:
    """Declare an op, once.

    Args:
        result: the `infer` of `OpDef`, or the type of the result if it is always the same.
        vjp: as `OpDef` has it, or the derivative in the first argument alone.
        traits: see `traits.py`; a relation comes with the other op or fact that it leads to.
        rest: the other attributes of `OpDef`.

    Raises:
        ValueError: an op of that name exists.
    """
    if name in OPS:
        raise ValueError(f"the op {name} is declared twice")
    infer = unknown if result is None else result if callable(result) else always(result)
    op = OpDef(name, infer, vjp=(vjp,) if callable(vjp) else vjp, **rest)
    OPS[name] = op
    for trait in traits:
        if isinstance(trait, Trait):
            trait.add(name)
        else:
            relation, fact = trait
            relation[name] = fact
    if op.target is not None:
        FUNCTIONS.setdefault(op.target, name)
    return op


def lookup(name: str) -> OpDef:
    """The op of that name; an undeclared method may do anything."""
    found = OPS.get(name)
    if found is None:
        if not name.startswith("."):
            raise KeyError(f"there is no op {name}")
        found = OpDef(name, unknown, ORDERED, raises=True)
    return found


def op_of(function: Any) -> str | None:
    """The name of the op that a function is; None if it is none."""
    if type(class_attribute(type(function), "__hash__")) is FunctionType:
        return None     # the user has written it
    try:
        return FUNCTIONS.get(function)
    except TypeError:  # it cannot be hashed
        return None
