"""NumPy's ufuncs, with their methods."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import NO_GRADIENT, WRITE, Infer, Lower, Vjp, declare
from autograph.runtime.graph.traits import (
    ADDITION,
    ARRAY_PRODUCT,
    ELEMENTWISE,
    FACTORS,
    GIVES_BOOLEANS,
    MAKES_ARRAYS,
    MATRIX_PRODUCT,
    MOVES,
    OUTER,
    READS_VIEWS,
    SAME_IN_PLACE,
    SLOW_IN_NUMPY,
    mark,
)
from autograph.runtime.graph.types import NONE, ObjectType, Shape, TensorType, Type
from autograph.runtime.ops.gradients.elementwise import (
    DEGREE,
    OF_DIVMOD,
    OF_MATMUL,
    OF_MATVEC,
    OF_TWO,
    OF_VECDOT,
    OF_VECMAT,
    Rules,
    absolute,
    of_cores,
    of_one,
    pointwise,
    sign,
)
from autograph.runtime.ops.gradients.reductions import (
    extreme,
    extreme_of_initial,
    log_sum_of,
    product,
    product_of_initial,
    reducing,
    reductions,
    root_of_squares,
    running,
    running_extreme,
    running_log_sum,
    running_product,
    running_total,
    segments,
    total,
)
from autograph.runtime.ops.gradients.toolkit import as_array, conj, ndim
from autograph.runtime.ops.inference.infer import rule
from autograph.runtime.ops.inference.numpy_probe import dtype_of, probe, shaped
from autograph.runtime.ops.inference.shape_rules import (
    Unknown,
    Wrong,
    array_like,
    axis_arg,
    broadcast,
    constant,
    fits_int64,
    merge_dims,
    operand,
    out_types,
    reduced,
    result,
)
from autograph.runtime.ops.native import products, vectors
from autograph.runtime.ops.native.numpy_scalars import of_ufunc

PREFERRED = {"absolute": "abs", "remainder": "mod", "conjugate": "conj"}    # to the ufunc's own name


# ------------------------------------------------------------------------------------------------------- calls


def operands(args: Sequence[Any]) -> list[TensorType]:
    """The operands of a ufunc, from its arguments."""
    found = list(map(operand, args))
    if all(each.kind == "python" for each in found):
        for arg in args:
            if type(arg) is int and not fits_int64(arg):
                raise Unknown           # an unsigned integer or an object, with no other operand to say which
    return found


def apply_ufunc(ufunc: np.ufunc, found: Sequence[TensorType], shape: Shape, options: dict[str, Any]) -> Type:
    """The type of the result of a ufunc for operands that are broadcast to a shape."""
    answer = probe(ufunc, *found, **options)
    answers = answer.items if isinstance(answer, ObjectType) else (answer,)
    if len(shape) > max(each.ndim for each in found):       # as `where` has it
        answers = tuple(TensorType(dtype_of(each), shape) for each in answers)
    shapes = [shaped(each, shape) for each in answers]
    return shapes[0] if ufunc.nout == 1 else ObjectType("tuple", tuple(shapes))


def ufunc_rule(ufunc: np.ufunc) -> Infer:
    """The rule of a call of a ufunc."""

    def infer(*args: Any, where: Any = True, **options: Any) -> Type:
        if len(args) < ufunc.nin:
            raise Wrong
        given = out_types(args[ufunc.nin :] or options.pop("out", None))
        if len(given) == 1 and ufunc.nout == 1 and given[0] is not None:
            return given[0]
        found = operands(args[: ufunc.nin])
        shapes = [each.shape for each in found]
        if ufunc.signature:
            if options.keys() & {"axis", "axes", "keepdims"}:
                raise Unknown
            return apply_ufunc(ufunc, found, core_shape(ufunc.signature, shapes), constant(options))
        if where is not True:
            shapes.append(operand(where).shape)
        shapes += [each.shape for each in given if isinstance(each, TensorType)]
        answer = apply_ufunc(ufunc, found, broadcast(*shapes), constant(options))
        if isinstance(answer, ObjectType) and given:
            given += (None,) * (ufunc.nout - len(given))
            return ObjectType("tuple", tuple(old or new for old, new in zip(given, answer.items)))
        return answer

    return infer


def core_shape(signature: str, shapes: Sequence[Shape]) -> Shape:
    """The shape that a generalized ufunc gives, for a signature such as `(n?,k),(k,m?)->(n?,m?)`."""
    *cores, results = (re.findall(r"[^,]+", core) for core in re.findall(r"\(([^)]*)\)", signature))
    dims: dict[str, int | None] = {}
    batches = []
    for core, shape in zip(cores, shapes):
        names = core if len(shape) >= len(core) else [name for name in core if not name.endswith("?")]
        batch = len(shape) - len(names)
        if batch < 0:
            raise Wrong
        batches.append(shape[:batch])
        for name, dim in zip(names, shape[batch:]):
            dims[name] = merge_dims(dims.get(name), dim)
    return (*broadcast(*batches), *(dims[name] for name in results if name in dims))


# ----------------------------------------------------------------------------------------------------- methods


def _reduced_dtype(ufunc: np.ufunc, array: TensorType, dtype: Any) -> np.dtype[Any]:
    return dtype_of(probe(ufunc.reduce, TensorType(array.dtype, (None,)), dtype=constant(dtype)))


def reduce_rule(ufunc: np.ufunc) -> Infer:
    """The rule of `np.add.reduce` and so on."""

    def infer(
        array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False, **options: Any
    ) -> Type:
        found = array_like(array)
        return result(_reduced_dtype(ufunc, found, dtype), reduced(found.shape, axis, keepdims))

    return infer


def accumulate_rule(ufunc: np.ufunc) -> Infer:
    """The rule of `np.add.accumulate` and so on."""

    def infer(array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Type:
        found = array_like(array)
        if not found.ndim:
            raise Wrong
        return result(_reduced_dtype(ufunc, found, dtype), found.shape)

    return infer


def reduceat_rule(ufunc: np.ufunc) -> Infer:
    """The rule of `np.add.reduceat` and so on."""

    def infer(array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Type:
        found, (count,) = array_like(array), array_like(indices).shape
        number = axis_arg(axis, found.ndim)
        shape = (*found.shape[:number], count, *found.shape[number + 1 :])
        return result(_reduced_dtype(ufunc, found, dtype), shape)

    return infer


def outer_rule(ufunc: np.ufunc) -> Infer:
    """The rule of `np.multiply.outer` and so on."""

    def infer(first: Any, second: Any, **options: Any) -> Type:
        if "out" in options:
            raise Unknown
        a, b = array_like(first), array_like(second)
        a = TensorType(a.dtype, a.shape + (1,) * b.ndim)
        return apply_ufunc(ufunc, (a, b), broadcast(a.shape, b.shape), constant(options))

    return infer


# ------------------------------------------------------------------------------------------------- derivatives

VJPS: dict[str, Rules] = {
    **{name: (rule,) for name, rule in of_one(np).items()},
    **OF_TWO,
    "abs": (absolute,),
    "conj": (lambda g, out, x: conj(g),),
    "fmax": OF_TWO["maximum"],
    "fmin": OF_TWO["minimum"],
    "mod": OF_TWO["remainder"],
    "float_power": OF_TWO["power"],
    "deg2rad": (lambda g, out, x: g * DEGREE,),
    "rad2deg": (lambda g, out, x: g / DEGREE,),
    "negative": (lambda g, out, x: -g,),
    "positive": (lambda g, out, x: g,),
    "reciprocal": (lambda g, out, x: -g * out * out,),
    "square": (lambda g, out, x: 2 * g * x,),
    "rint": (None,),
    "sign": (sign,),
    "spacing": (None,),
    "modf": (lambda g, out, x: g[0],),
    "frexp": (lambda g, out, x: np.ldexp(g[0], -out[1]),),
    "divmod": OF_DIVMOD,
}
PRODUCTS = {"matmul": OF_MATMUL, "vecdot": OF_VECDOT, "matvec": OF_MATVEC, "vecmat": OF_VECMAT}

# --------------------------------------------------------------------------------------- derivatives of methods

REDUCED: dict[str, Rules] = {
    "add": reductions(total, total, axis=0),
    "multiply": reductions(product, product_of_initial, axis=0),
    "maximum": reductions(extreme, extreme_of_initial, axis=0),
    "logaddexp": (reducing(log_sum_of(np.exp), axis=0),),
    "logaddexp2": (reducing(log_sum_of(np.exp2), axis=0),),
    "hypot": (reducing(root_of_squares, axis=0),),
}
ACCUMULATED: dict[str, Vjp] = {
    "add": running(running_total, axis=0),
    "multiply": running(running_product, axis=0),
    "maximum": running(running_extreme, axis=0),
    "logaddexp": running(running_log_sum, axis=0),
}
for _name in ("minimum", "fmax", "fmin"):
    REDUCED[_name], ACCUMULATED[_name] = REDUCED["maximum"], ACCUMULATED["maximum"]


def _outer(rules: Rules) -> Iterator[Vjp | None]:
    """The derivatives of `ufunc.outer`, from those of the ufunc."""
    for at, vjp in enumerate(rules):
        yield None if vjp is None else partial(_outer_vjp, vjp, at == 0)


def _outer_vjp(vjp: Vjp, of_first: bool, g: Any, out: Any, x: Any, y: Any, /, **_: Any) -> Any:
    x, y = as_array(x), as_array(y)
    last = tuple(range(-ndim(y), 0))
    found = vjp(g, out, np.expand_dims(x, last), y)
    return np.sum(found, last) if of_first else found


# ------------------------------------------------------------------------------------------------ declarations

def _declare(name: str, ufunc: np.ufunc) -> None:
    is_pointwise = ufunc.signature is None
    traits = [ELEMENTWISE if is_pointwise else ARRAY_PRODUCT]
    if is_pointwise and ufunc.nout == 1:
        traits += vectors.traits(ufunc)
    if all(types.endswith("->?") for types in ufunc.types if "O" not in types):
        traits.append(GIVES_BOOLEANS)
    vjp: Rules | None = NO_GRADIENT if GIVES_BOOLEANS in traits else None
    if _own_name(name) in VJPS:
        vjp = pointwise(*VJPS[_own_name(name)], safe=2.0 if "cosh" in name else 0.5)
    elif name in PRODUCTS:
        vjp = of_cores(*PRODUCTS[name])
    # NumPy refuses integers to negative integer powers; nothing else depends on values
    declare(
        f"np.{name}", rule(ufunc_rule(ufunc)), target=ufunc, raises=ufunc is np.power, fold=ufunc, vjp=vjp,
        lower=_lowering(name, ufunc), traits=traits,
    )  # fmt: skip


def _lowering(name: str, ufunc: np.ufunc) -> Lower | None:
    if ufunc is np.matmul:
        return products.matmul
    if ufunc.signature is not None or ufunc.nout > 1:
        return None
    return vectors.or_vectors(ufunc, of_ufunc(ufunc, f"np.{name}"))


def _declare_methods(name: str, ufunc: np.ufunc) -> None:
    if ufunc.signature or ufunc.nout > 1:
        return
    declare(f"np.{name}.at", NONE, effect=WRITE, target=ufunc.at, raises=True)
    for method, make, vjp in (
        ("reduce", reduce_rule, REDUCED.get(name)),
        ("accumulate", accumulate_rule, ACCUMULATED.get(name)),
        ("reduceat", reduceat_rule, segments if name == "add" else None),
        ("outer", outer_rule, tuple(_outer(VJPS[name])) if name in VJPS else None),
    ):
        if ufunc.nin == 2:
            raises = ufunc is np.power or method == "reduceat"
            declare(
                f"np.{name}.{method}", rule(make(ufunc)), target=getattr(ufunc, method), raises=raises, vjp=vjp,
                traits=[(OUTER, f"np.{name}")] if method == "outer" else [],
            )  # fmt: skip


def _own_name(name: str) -> str:
    own = str(getattr(np, name).__name__)
    return PREFERRED.get(own, own)


# By `vars`, because getting each attribute in `dir` would import the modules that NumPy imports lazily.
_UFUNCS = {name: value for name, value in vars(np).items() if isinstance(value, np.ufunc)}

# The first name declared is the one that calls of the ufunc get.
for _name in sorted(_UFUNCS, key=lambda name: (_own_name(name) != name, name)):
    _declare(_name, _UFUNCS[_name])
    if _name == _own_name(_name):
        _declare_methods(_name, _UFUNCS[_name])

mark("np.add np.subtract", ADDITION, MOVES)
mark("np.negative np.positive", MOVES)
FACTORS.update({"np.multiply": (0, 1), "np.divide": (0,)})
mark("np.add np.subtract np.multiply np.divide np.bitwise_and np.bitwise_or np.bitwise_xor", SAME_IN_PLACE)
mark("np.negative np.abs np.sqrt np.square np.maximum np.minimum np.floor np.ceil", SAME_IN_PLACE)
mark("np.matmul", MATRIX_PRODUCT, READS_VIEWS, MAKES_ARRAYS)
mark("np.exp np.sqrt", SLOW_IN_NUMPY)
