"""Python's operators.

On Python numbers they are Python's operators, on arrays and NumPy scalars ufuncs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from autograph.runtime.graph.opdef import WRITE, Infer, Lower, declare, op_of
from autograph.runtime.graph.traits import (
    ADDITION,
    ARITHMETIC,
    ARRAY_PRODUCT,
    AS_OPERATOR,
    AS_UFUNC,
    BITWISE,
    COMMUTATIVE,
    COMPARISON,
    CONSUMES,
    CONVERSION,
    ELEMENTWISE,
    EQUALITY,
    FACTORS,
    FLOOR_DIVISION,
    GIVES_BOOLEANS,
    IDENTITY,
    IN_PLACE,
    INTERVAL,
    INVOLUTION,
    MAKES_ARRAYS,
    MAKES_VIEWS,
    MATRIX_PRODUCT,
    MIRRORED,
    MOVES,
    NARROWS,
    NEGATED,
    NEGATION,
    NEUTRAL,
    ON_CONTAINER,
    ORDERING,
    OVERLOADED,
    PARTIAL,
    PLAIN,
    READS_VIEWS,
    RING,
    SAME_IN_PLACE,
    SHIFT,
    SHORTENS,
    STATEMENT,
    UFUNC_BY_VALUE,
    Relation,
    Trait,
)
from autograph.runtime.graph.types import (
    ANY,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    STR,
    ObjectType,
    TensorType,
    Type,
    inexact,
    join_all,
)
from autograph.runtime.graph_text import notation
from autograph.runtime.ops.gradients.elementwise import OF_MATMUL, OF_TWO, absolute
from autograph.runtime.ops.inference.infer import ask, rule
from autograph.runtime.ops.inference.numpy_probe import probe, shaped
from autograph.runtime.ops.inference.shape_rules import broadcast, is_type, operand, type_of_arg
from autograph.runtime.ops.mathematics.ufuncs import core_shape
from autograph.runtime.ops.native import (
    builtins,
    complex_numbers,
    intervals,
    math_functions,
    number_rules,
    products,
    scalars,
    vectors,
)
from autograph.runtime.ops.native.complex_numbers import also, lowered
from autograph.runtime.ops.native.complex_rules import by_parts
from autograph.runtime.ops.native.number_rules import PYTHON
from autograph.runtime.ops.python import constants

BINARY = "add sub mul truediv floordiv mod matmul lshift rshift pow and xor or".split()
COMPARISONS = "lt le eq ne gt ge".split()
UNARY = "neg pos invert".split()
# The ufuncs of operators.
UFUNCS: dict[str, np.ufunc] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide, "floordiv": np.floor_divide,
    "mod": np.remainder, "pow": np.power, "neg": np.negative, "pos": np.positive, "abs": np.absolute,
    "lshift": np.left_shift, "rshift": np.right_shift, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor, "invert": np.invert, "lt": np.less, "le": np.less_equal, "eq": np.equal,
    "ne": np.not_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


def python_function(name: str) -> Callable[..., Any]:
    """`operator.and_` for `and`."""
    function: Callable[..., Any] = getattr(operator, name, None) or getattr(operator, f"{name}_")
    return function


# The functions that apply operators to proxies.
FUNCTIONS = frozenset({pow, *map(python_function, (*BINARY, *UNARY))})


def remembering(rule: Infer) -> Infer:
    """`infer.rule` for operators: faster, because only the types of constants matter."""
    known: dict[tuple[Any, ...], Any] = {}

    def infer(*args: Any, **kwargs: Any) -> Any:
        for arg in args:
            if type(arg) is not TensorType:
                args = tuple(map(simplified, args))
                break
        try:
            return known[args]
        except KeyError:
            known[args] = found = ask(rule, args, kwargs)
            return found
        except TypeError:           # of lists
            return ask(rule, args, kwargs)

    return infer


def simplified(arg: Any) -> Any:
    """The type of an argument; lists and tuples stay as they are."""
    return arg if isinstance(arg, (list, tuple)) else type_of_arg(arg)


# ---------------------------------------------------------------------------------------------- numbers and arrays


def numeric(name: str) -> Infer:
    """The rule of an operator on numbers and arrays, or lists that NumPy makes arrays."""
    function = python_function(name)

    def infer(*args: Any) -> Type:
        if name == "invert" and args == (BOOL,):
            return INT              # to ask, as `probe` does, makes Python warn
        found = list(map(operand, args))
        shapes = [each.shape for each in found]
        shape = core_shape(MATMUL, shapes) if name == "matmul" else broadcast(*shapes)
        return shaped(probe(function, *found), shape)

    return infer


MATMUL = str(np.matmul.signature)


def binary(name: str) -> Infer:
    """The rule of a binary operator."""
    on_numbers, on_objects = numeric(name), objects(name)

    def infer(first: Any, second: Any) -> Any:
        if isinstance(first, TensorType) and isinstance(second, TensorType):
            return on_numbers(first, second)
        a, b = type_of_arg(first), type_of_arg(second)
        if a == ANY or b == ANY:
            return ANY
        number, sequence = (a, b) if isinstance(a, TensorType) else (b, a)
        if isinstance(number, TensorType) and isinstance(sequence, ObjectType):
            kinds = ("array",) if name == "mul" else ("scalar", "array")    # an integer repeats a list
            if number.kind in kinds and sequence.name in ("list", "tuple"):
                return on_numbers(first, second)
        return on_objects(a, b)

    return infer


# -------------------------------------------------------------------------------------------------- other objects


def objects(name: str) -> Callable[[Type, Type], Type]:
    """The rule of a binary operator with an operand that is neither a number nor an array."""

    def infer(a: Type, b: Type) -> Type:
        if name == "mod" and a in (STR, BYTES):
            return a
        if isinstance(a, ObjectType) and isinstance(b, ObjectType):
            return _compared(name, a, b) if name in COMPARISONS else _combined(name, a, b)
        if name == "mul":
            return _repeated(a, b)
        if name in ("eq", "ne") and all(map(_is_plain, (a, b))):
            return BOOL
        return ANY

    return infer


LIST = ObjectType("list")
BYTES = ObjectType("bytes")
# Comparisons for equality, which give a bool.
PLAIN_OBJECTS = frozenset({"str", "bytes", "list", "tuple", "dict", "set", "frozenset", "range", "NoneType"})


def _is_plain(type: Type) -> bool:
    if isinstance(type, TensorType):
        return type.kind == "python"
    return isinstance(type, ObjectType) and type.name in PLAIN_OBJECTS


def _compared(name: str, a: ObjectType, b: ObjectType) -> Type:
    if not _is_plain(a) or not _is_plain(b):
        return ANY
    # lists and tuples are ordered by their items, whose operator may return anything
    ordered = name in ("eq", "ne") or (a.name == b.name and a.name in ("str", "bytes", "set", "frozenset"))
    return BOOL if ordered else ANY


def _combined(name: str, a: ObjectType, b: ObjectType) -> Type:
    if a.name != b.name:
        return ANY
    if name == "add":
        if a.name == "tuple" and a.items and b.items:
            return ObjectType("tuple", a.items + b.items)
        return ObjectType(a.name) if a.name in ("str", "bytes", "list", "tuple") else ANY
    if a.name in ("set", "frozenset") and name in ("and", "or", "xor", "sub"):
        return ObjectType(a.name)
    return ObjectType("dict") if a.name == "dict" and name == "or" else ANY


def _repeated(a: Type, b: Type) -> Type:
    """The type of a list, tuple or string times a number."""
    sequence, number = (b, a) if isinstance(a, TensorType) else (a, b)
    if isinstance(sequence, ObjectType) and sequence.name in ("str", "bytes", "list", "tuple"):
        if isinstance(number, TensorType) and number.kind != "array" and number.dtype.kind in "biu":
            return ObjectType(sequence.name)
    return ANY


# -------------------------------------------------------------------------------------------------------- powers

# Exponents for which NumPy uses another ufunc, so that the dtype of the result may differ.
EXPONENTS: dict[str, tuple[Any, ...]] = {
    "b": (True,),
    "i": (0, 1, 2, 3),
    "u": (0, 1, 2, 3),
    "f": (0.0, 0.5, 1.0, 2.0, 3.0),
    "c": (0j, 1j, 2 + 0j),
}


def python_power(base: Any, exponent: Any) -> Type:
    """`base ** exponent` of Python numbers, each a type or a constant."""
    kinds = {type_of_arg(base), type_of_arg(exponent)}
    if COMPLEX in kinds:
        return COMPLEX
    if FLOAT not in kinds:
        if type_of_arg(exponent) == BOOL:
            return INT
        if isinstance(exponent, TensorType):
            return inexact(FLOAT)           # an int to a negative power is a float
        return INT if exponent >= 0 else FLOAT
    if not isinstance(exponent, TensorType) and float(exponent).is_integer():
        return FLOAT
    if type_of_arg(exponent) != FLOAT or (not isinstance(base, TensorType) and base >= 0):
        return FLOAT
    return inexact(COMPLEX)                 # a negative number to the power of a fraction is complex


def array_power(base: Any, exponent: Any) -> Type:
    a, b = operand(base), operand(exponent)
    shape = broadcast(a.shape, b.shape)
    if b.ndim:
        return shaped(probe(operator.pow, a, b), shape)
    values = EXPONENTS.get(b.dtype.kind, ()) if is_type(exponent) else (exponent,)
    found: list[Type] = []
    for value in values:
        if is_type(exponent) and b.kind != "python":
            value = b.dtype.type(value) if b.kind == "scalar" else np.array(value, b.dtype)
        found.append(shaped(probe(operator.pow, a, value), shape))
    return join_all(found)


def power(base: Any, exponent: Any) -> Type:
    """`base ** exponent`."""
    a, b = type_of_arg(base), type_of_arg(exponent)
    if isinstance(a, TensorType) and isinstance(b, TensorType) and a.kind == b.kind == "python":
        return python_power(base, exponent)
    return array_power(base, exponent)


# -------------------------------------------------------------------------------------------------- declarations


def in_place(plain: Infer) -> Infer:
    """The rule of `a += b`: arrays and lists keep their type, other values are replaced."""

    def infer(first: Any, second: Any) -> Any:
        if isinstance(first, TensorType) and first.kind == "array":
            return first if first.ndim or first.exact else join_all([first, plain(first, second)])   # type: ignore[list-item]
        given = type_of_arg(second)
        if type_of_arg(first) == LIST and isinstance(given, ObjectType) and _is_plain(given):
            return LIST
        return plain(first, second)

    return infer


def template(name: str) -> str:
    """How Python writes an operator."""
    return f"{{}} {notation.BINARY[name]} {{}}" if name in notation.BINARY else notation.UNARY[name] + "{}"


Traits: TypeAlias = Sequence[Trait | tuple[Relation, Any]]


def _binary(
    name: str, lower: Lower | None, traits: Traits, in_place_traits: Traits = (), **facts: Any
) -> None:
    """Declare a binary operator and its in-place form, which has the same derivatives in the old value.

    Args:
        lower: the lowering for numbers.
    """
    infer, in_place_lower = rule(power) if name == "pow" else remembering(binary(name)), lower
    if name == "pow" and lower is not None:
        lower, traits = vectors.or_squares(lower), [*traits, READS_VIEWS, MAKES_VIEWS]
    elif lower is not None and name in UFUNCS and UFUNCS[name].signature is None:
        lower, in_place_lower = vectors.or_vectors(UFUNCS[name], lower), vectors.or_view(UFUNCS[name], lower)
        own = vectors.traits(UFUNCS[name])
        traits, in_place_traits = [*traits, *own], [*in_place_traits, *own]
    facts |= {"lower": lower, "fold": constants.BOUNDED.get(name) or python_function(name)}
    declare(name, infer, template=template(name), traits=traits, **facts)
    facts |= {"effect": WRITE, "raises": True, "traits": [IN_PLACE, STATEMENT, (PLAIN, name), *in_place_traits]}
    facts["lower"] = None if name == "matmul" else in_place_lower
    declare(f"i{name}", in_place(infer), template=template(f"i{name}"), **facts)


def _sum(name: str) -> Lower:
    """The lowering of `add` or `sub`."""
    return lowered(name, number_rules.arithmetic(name, PYTHON), by_parts(number_rules.arithmetic(name, PYTHON)))


def _bits(name: str) -> Lower:
    """The lowering of `and`, `or` or `xor`."""
    return lowered(name, number_rules.bits(name))


_FIELD = [ELEMENTWISE, ARITHMETIC, SAME_IN_PLACE]       # + - * /
_BITS = [ELEMENTWISE, BITWISE, PARTIAL]
_binary(
    "add", _sum("add"), vjp=OF_TWO["add"],
    traits=[
        *_FIELD, RING, ADDITION, MOVES, OVERLOADED, COMMUTATIVE, (INTERVAL, intervals.added), (NEUTRAL, (0, "iu")),
        (ON_CONTAINER, "join"),
    ],
    in_place_traits=[CONSUMES, OVERLOADED, (ON_CONTAINER, "extend")],
)  # fmt: skip
_binary(
    "sub", _sum("sub"), vjp=OF_TWO["subtract"], in_place_traits=[CONSUMES],
    traits=[*_FIELD, RING, ADDITION, MOVES, (INTERVAL, intervals.subtracted), (NEUTRAL, (0, "iuf"))],
)  # fmt: skip
_binary(
    "mul", lowered("mul", number_rules.arithmetic("mul", PYTHON), complex_numbers.product),
    vjp=OF_TWO["multiply"],
    traits=[
        *_FIELD, RING, COMMUTATIVE, OVERLOADED, (INTERVAL, intervals.multiplied), (NEUTRAL, (1, "iuf")),
        (FACTORS, (0, 1)), (ON_CONTAINER, "repeat"),
    ],
    in_place_traits=[OVERLOADED],
)  # fmt: skip
_binary(
    "truediv", also(scalars.true_division, complex_numbers.true_division), raises=True,
    vjp=OF_TWO["divide"], traits=[*_FIELD, (NEUTRAL, (1, "f")), (FACTORS, (0,))],
)  # fmt: skip
_binary(
    "floordiv", lowered("floordiv", scalars.floor_division), raises=True, vjp=OF_TWO["floor_divide"],
    traits=[
        ELEMENTWISE, FLOOR_DIVISION, PARTIAL, (INTERVAL, intervals.divided), (NEUTRAL, (1, "iu")),
        (SHORTENS, intervals.division_shortens),
    ],
)  # fmt: skip
_binary(
    "mod", lowered("mod", scalars.remainder), raises=True, vjp=OF_TWO["remainder"],
    traits=[ELEMENTWISE, FLOOR_DIVISION, PARTIAL, (INTERVAL, intervals.remainder)],
)  # fmt: skip
_binary(
    "pow", also(math_functions.power, complex_numbers.power), raises=True, vjp=OF_TWO["power"],
    traits=[ELEMENTWISE, UFUNC_BY_VALUE],
)  # fmt: skip
_binary(
    "matmul", products.matmul, [MATRIX_PRODUCT, PARTIAL, ARRAY_PRODUCT, READS_VIEWS, MAKES_ARRAYS], [ARRAY_PRODUCT],
    vjp=OF_MATMUL,
)
_binary(
    "and", _bits("and"), in_place_traits=[CONSUMES],
    traits=[
        *_BITS, COMMUTATIVE, SAME_IN_PLACE, (INTERVAL, intervals.conjunction),
        (SHORTENS, intervals.mask_shortens),
    ],
)  # fmt: skip
for _name in ("or", "xor"):
    _binary(
        _name, _bits(_name), in_place_traits=[CONSUMES],
        traits=[*_BITS, COMMUTATIVE, SAME_IN_PLACE, (INTERVAL, intervals.disjunction), (NEUTRAL, (0, "iu"))],
    )  # fmt: skip
_binary(
    "lshift", lowered("lshift", scalars.left_shift), raises=True,
    traits=[*_BITS, SHIFT, (INTERVAL, intervals.shifted_left), (NEUTRAL, (0, "iu"))],
)  # fmt: skip
_binary(
    "rshift", lowered("rshift", scalars.right_shift), raises=True,
    traits=[
        *_BITS, SHIFT, (INTERVAL, intervals.shifted_right), (NEUTRAL, (0, "iu")),
        (SHORTENS, intervals.shift_shortens),
    ],
)  # fmt: skip

for _name, _negated, _mirrored, _narrows in (
    ("lt", "ge", "gt", intervals.below),
    ("le", "gt", "ge", intervals.at_most),
    ("gt", "le", "lt", intervals.above),
    ("ge", "lt", "le", intervals.at_least),
    ("eq", "ne", "eq", intervals.meet),
    ("ne", "eq", "ne", intervals.unequal),
):
    _kind, _lower = ORDERING, scalars.comparison(_name)
    if _name in ("eq", "ne"):
        _kind, _lower = EQUALITY, also(_lower, complex_numbers.comparison(_name))
    declare(
        _name, remembering(binary(_name)), template=template(_name), vjp=(None, None),
        lower=vectors.or_vectors(UFUNCS[_name], _lower),
        fold=python_function(_name),
        traits=[
            ELEMENTWISE, COMPARISON, GIVES_BOOLEANS, _kind, READS_VIEWS, MAKES_VIEWS, (NEGATED, _negated),
            (MIRRORED, _mirrored), (NARROWS, _narrows), (ON_CONTAINER, _name),
        ],
    )  # fmt: skip


def _unary(name: str, lower: Lower, *traits: Trait | tuple[Relation, Any], **facts: Any) -> None:
    lower, traits = vectors.or_vectors(UFUNCS[name], lower), (*traits, READS_VIEWS, MAKES_VIEWS)
    facts |= {"template": template(name), "fold": python_function(name), "traits": [ELEMENTWISE, *traits]}
    declare(name, remembering(numeric(name)), lower=lower, **facts)


_unary(
    "neg", lowered("neg", number_rules.negative(PYTHON), by_parts(number_rules.negative(PYTHON))),
    RING, MOVES, SAME_IN_PLACE, (INTERVAL, intervals.opposite), (INVOLUTION, "if"), vjp=lambda g, out, x: -g,
)  # fmt: skip
_unary(
    "pos", lowered("pos", number_rules.same, number_rules.same),
    RING, MOVES, CONVERSION, (INTERVAL, intervals.same), vjp=lambda g, out, x: g,
)  # fmt: skip
_unary("invert", scalars.inverted, BITWISE, PARTIAL, (INTERVAL, intervals.inverted), (INVOLUTION, "iu"))
declare(
    "abs", remembering(numeric("abs")), target=abs, fold=abs, vjp=absolute,
    lower=vectors.or_vectors(
        np.absolute, also(lowered("abs", number_rules.absolute(PYTHON)), complex_numbers.absolute)
    ),
    traits=[ELEMENTWISE, SAME_IN_PLACE, (INTERVAL, intervals.absolute), READS_VIEWS, MAKES_VIEWS],
)  # fmt: skip
declare(
    "not", BOOL, template=template("not"), raises=True, fold=operator.not_, vjp=(None, None), lower=builtins.negation,
    traits=[NEGATION, GIVES_BOOLEANS, (INVOLUTION, "b"), (ON_CONTAINER, "empty")],
)  # fmt: skip
declare(
    "is", BOOL, template=template("is"), vjp=(None, None), lower=builtins.identity, traits=[IDENTITY, GIVES_BOOLEANS]
)
declare(
    "in", BOOL, template=template("in"), raises=True, fold=constants.contains, vjp=(None, None),
    traits=[EQUALITY, GIVES_BOOLEANS, (ON_CONTAINER, "contains")],
)  # fmt: skip
AS_UFUNC.update({name: op_of(ufunc) for name, ufunc in UFUNCS.items()}, matmul="np.matmul")
AS_OPERATOR.update({ufunc: name for name, ufunc in AS_UFUNC.items()})
