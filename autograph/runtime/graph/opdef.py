"""All that is known of an operation, declared once; and the registry of operations.

An op is one of these, told apart by its name:

    add, lt, getitem, not, …     an operator or a construct of Python: engines write `template`, or know it
    np.sum, math.sqrt, len       a function: engines write a call of `target`
    .sum, .append                a method: engines write a call of that method of the first argument
    call                         a call of its first argument, of which nothing is known
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeAlias

from autograph.common.statics import class_attribute
from autograph.runtime.graph.traits import Relation, Trait
from autograph.runtime.graph.types import ANY, Type

# Called with the node's args and kwargs, in which a type stands for each value (constants stay what they are);
# gives the type of the output, or a list of types for an op with several outputs. It never raises, nor does it judge
# whether the operation is in order: that will show when it runs, with NumPy's own message.
Infer: TypeAlias = Callable[..., "Type | list[Type]"]

# The derivative of an op in one of its positional arguments, in reverse mode: `rule(g, out, *args, **kwargs)`, with the
# gradient `g` of what the op gave (`out`) and its arguments, gives the gradient of that argument. For an op of several
# outputs, `g` and `out` are tuples; for an argument that is a structure, such as the list of `np.stack`, it gives a
# structure of the same form. What it gives is summed to the argument's shape if that was broadcast, and gets its
# dtype. Rules are NumPy code without branches on values: they run on arrays, numbers, and the proxies of a trace.
# Gradients in complex numbers are those of holomorphic functions, without conjugation, as JAX has them.
Vjp: TypeAlias = Callable[..., Any]

# How machine code does an op: `rule(emit, *args, **kwargs)`, see `autograph.runtime.graph.operands`.
Lower: TypeAlias = Callable[..., Any]

PURE = "pure"      # computes a new value from what its arguments are and hold, and that is all
VIEW = "view"      # the same, but the result may share memory with an argument, or be the argument
WRITE = "write"    # changes its first argument, which it may give back
ORDERED = "ordered"  # does something that can be seen, or depends on something that can change: is never dropped


@dataclass(frozen=True, slots=True)
class OpDef:
    """An operation.

    Attributes:
        name: as nodes name it.
        infer: see `Infer`.
        effect: PURE, VIEW, WRITE or ORDERED.
        target: the Python function, for ops that are functions.
        template: how Python writes it, for operators: `{} + {}`.
        raises: whether it can raise although its arguments' types are exact and fit.
        vjp: for each positional argument its derivative, None for those that the result does not depend on smoothly
            (their gradient is zero), and for arguments beyond; None in the whole if it is unknown.
        lower: see `Lower`; None for what only Python does.
        fold: computes it of constants, or raises if that takes long or much memory; None if it may give another result
            for the same constants at another time, or in another process.
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


NO_GRADIENT = (None,)       # the derivatives of an op whose result is constant between its jumps, or holds no floats


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
        ValueError: there is an op of that name.
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
    """The op of that name; a method that is not declared may do anything."""
    found = OPS.get(name)
    if found is None:
        if not name.startswith("."):
            raise KeyError(f"there is no op {name}")
        found = OpDef(name, unknown, ORDERED, raises=True)
    return found


def op_of(function: Any) -> str | None:
    """The op that a function is, if it has been declared."""
    if type(class_attribute(type(function), "__hash__")) is FunctionType:
        return None     # the user has written it
    try:
        return FUNCTIONS.get(function)
    except TypeError:  # it cannot be hashed
        return None
