"""Random numbers and clocks: functions whose result differs from call to call.

NumPy's generators return a Python number for a single draw, and otherwise an array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import ORDERED, Vjp, always
from autograph.runtime.graph.traits import CHANGES_ARGUMENTS, DRAWS_ITEMS, MAKES_ARRAYS
from autograph.runtime.graph.types import (
    ANY,
    FLOAT,
    INT,
    NONE,
    PYTHON_DTYPES,
    ObjectType,
    Shape,
    TensorType,
    Type,
    array,
    inexact,
    python,
    scalar,
)
from autograph.runtime.ops.gradients.toolkit import same
from autograph.runtime.ops.inference.containers import iterated, list_of
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.infer import rule
from autograph.runtime.ops.inference.shape_rules import (
    Unknown,
    array_like,
    axis_arg,
    broadcast,
    dtype_arg,
    int_arg,
    operand,
    shape_arg,
    type_of_arg,
)
from autograph.runtime.ops.native.random_numbers import lowering

INT64 = np.dtype(np.int64)
Rule = Callable[..., Any]


def drawn(kind: type, size: Any, parameters: Sequence[Any] = ()) -> Type:
    """The type of one draw, or of an array of draws with the shape `size` or that of the parameters."""
    shapes = [operand(parameter).shape for parameter in parameters]
    if size is not None:
        return TensorType(PYTHON_DTYPES[kind], _size(size))
    shape = broadcast(*shapes)
    return TensorType(PYTHON_DTYPES[kind], shape) if shape else python(kind)


def _size(size: Any) -> Shape:
    if isinstance(size, ObjectType) and size.name == "NoneType":
        raise Unknown
    return shape_arg(size)


def distribution(kind: type, count: int) -> Rule:
    """The rule of a distribution with `count` parameters."""

    def infer(*args: Any, size: Any = None, **named: Any) -> Type:
        if len(args) > count:
            size = args[count]
        return drawn(kind, size, [*args[:count], *named.values()])

    return infer


def of_generator(infer: Rule, *classes: str) -> Rule:
    """The rule of a method, for objects of these classes only."""
    infer = rule(infer)

    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if type_of_arg(self).name in (classes or ("Generator", "RandomState")):     # type: ignore[union-attr]
            return infer(*args, **kwargs)
        return ANY

    return method


# ------------------------------------------------------------------------------------------- NumPy's other functions


def rand(*args: Any) -> Type:
    return TensorType(np.dtype(float), tuple(map(int_arg, args))) if args else FLOAT


def randint(low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Type:
    """The rule of `randint`: Python integers for the class `int`, NumPy's for other dtypes."""
    bounds = [low] if high is None else [low, high]
    found = drawn(int, size, bounds)
    if dtype is int or not isinstance(found, TensorType):
        return found
    return scalar(dtype_arg(dtype)) if found.weak else TensorType(dtype_arg(dtype), found.shape)


def integers(low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: Any = False) -> Type:
    return randint(low, high, size, dtype)


def choice(a: Any, size: Any = None, replace: Any = True, p: Any = None, axis: Any = 0, shuffle: Any = True) -> Type:
    a = operand(a)
    if not a.shape:
        if size is None:
            return inexact(scalar(INT64))           # versions differ
        return TensorType(INT64, _size(size))
    at = axis_arg(axis, a.ndim)
    rest = a.shape[:at], a.shape[at + 1 :]
    if size is not None:
        return TensorType(a.dtype, (*rest[0], *_size(size), *rest[1]))
    shape = rest[0] + rest[1]
    return TensorType(a.dtype, shape) if shape else scalar(a.dtype)


def permutation(x: Any, axis: Any = 0) -> Type:
    array_type = operand(x)
    if array_type.shape:
        return TensorType(array_type.dtype, array_type.shape)
    return array(INT64, int_arg(x))


def permuted(x: Any, *, axis: Any = None, out: Any = None) -> Type:
    return array_like(x)


def floats(size: Any = None, dtype: Any = np.float64, out: Any = None) -> Type:
    """The rule of `Generator.random` and others, which can draw float32."""
    return FLOAT if size is None else TensorType(dtype_arg(dtype), _size(size))


def standard_exponential(size: Any = None, dtype: Any = np.float64, method: Any = "zig", out: Any = None) -> Type:
    return floats(size, dtype, out)


def standard_gamma(shape: Any, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Type:
    found = drawn(float, size, [shape])
    return found if found == FLOAT else TensorType(dtype_arg(dtype), found.shape)   # type: ignore[union-attr]


FLOATS = {
    "beta": 2, "chisquare": 1, "exponential": 1, "f": 2, "gamma": 2, "gumbel": 2, "laplace": 2, "logistic": 2,
    "lognormal": 2, "noncentral_chisquare": 2, "noncentral_f": 3, "normal": 2, "pareto": 1, "power": 1, "rayleigh": 1,
    "standard_cauchy": 0, "standard_t": 1, "triangular": 3, "uniform": 2, "vonmises": 2, "wald": 2, "weibull": 1,
}  # fmt: skip
INTEGERS = {
    "binomial": 2, "geometric": 1, "hypergeometric": 3, "logseries": 1, "negative_binomial": 2, "poisson": 1,
    "zipf": 1,
}  # fmt: skip

# ------------------------------------------------------------------------------------------- Python's own, the clock


def of_numbers(found: Type) -> Rule:
    """The rule of a function that returns `found` for Python numbers; its result for NumPy's is unknown."""

    def infer(*args: Any, **kwargs: Any) -> Type:
        if all(operand(arg).weak and operand(arg).dtype.kind != "c" for arg in (*args, *kwargs.values())):
            return found
        raise Unknown

    return infer


# --------------------------------------------------------------------------------------------------- derivatives
#
# Derivatives in the parameters: a draw is a function of the parameters and of noise without parameters.


def of_spread(g: Any, out: Any, loc: Any = 0.0, scale: Any = 1.0, *_: Any, **__: Any) -> Any:
    return g * (out - loc) / scale


VJPS: dict[str, tuple[Vjp, ...]] = {
    "uniform": (
        lambda g, out, low=0.0, high=1.0, *_, **__: g * (high - out) / (high - low),
        lambda g, out, low=0.0, high=1.0, *_, **__: g * (out - low) / (high - low),
    ),
    "lognormal": (
        lambda g, out, *_, **__: g * out,
        lambda g, out, mean=0.0, sigma=1.0, *_, **__: g * out * (np.log(out) - mean) / sigma,
    ),
    **dict.fromkeys(("normal", "laplace", "logistic", "gumbel"), (same, of_spread)),
    **dict.fromkeys(("exponential", "rayleigh"), (lambda g, out, scale=1.0, *_, **__: g * out / scale,)),
}


def _of_method(vjp: Vjp) -> Vjp:
    return lambda g, out, self, *args, **kwargs: vjp(g, out, *args, **kwargs)


# ------------------------------------------------------------------------------------------------ declarations


def drawing(names: str, result: Any, **facts: Any) -> None:
    """Declare functions and methods that draw numbers, with the lowerings that there are."""
    for name in names.split():
        functions(name, result, effect=ORDERED, lower=lowering(name), **facts)


for _kind, _table in ((float, FLOATS), (int, INTEGERS)):
    for _name, _count in _table.items():
        _rule, _vjps = distribution(_kind, _count), VJPS.get(_name)
        drawing(f"np.random.{_name}", _rule, vjp=_vjps, traits=[MAKES_ARRAYS])
        _of_self = None if _vjps is None else (None, *map(_of_method, _vjps))
        drawing(f".{_name}", of_generator(_rule), vjp=_of_self, traits=[MAKES_ARRAYS])

drawing(
    """np.random.random np.random.random_sample np.random.sample np.random.ranf np.random.standard_normal
    np.random.standard_exponential""",
    distribution(float, 0), traits=[MAKES_ARRAYS],
)
functions("np.random.standard_gamma", distribution(float, 1), effect=ORDERED)
drawing("np.random.rand np.random.randn", rand, traits=[MAKES_ARRAYS])
drawing("np.random.randint", randint, traits=[MAKES_ARRAYS])
drawing("np.random.choice", choice)
functions("np.random.permutation", permutation, effect=ORDERED)
functions("np.random.seed", NONE, effect=ORDERED)
functions("np.random.default_rng", ObjectType("Generator"), effect=ORDERED)
functions("np.random.RandomState", ObjectType("RandomState"), effect=ORDERED)
functions(
    """np.random.dirichlet np.random.multinomial np.random.multivariate_normal np.random.get_state
    np.random.set_state np.random.bytes""",
    ANY, effect=ORDERED,
)  # fmt: skip
drawing(".random .standard_normal", of_generator(floats, "Generator"), traits=[MAKES_ARRAYS])
drawing(".standard_exponential", of_generator(standard_exponential, "Generator"), traits=[MAKES_ARRAYS])
functions(".standard_gamma", of_generator(standard_gamma, "Generator"), effect=ORDERED)
drawing(".integers", of_generator(integers, "Generator"), traits=[MAKES_ARRAYS])
drawing(".rand .randn", of_generator(rand, "RandomState"), traits=[MAKES_ARRAYS])
drawing(".randint", of_generator(randint, "RandomState"), traits=[MAKES_ARRAYS])
drawing(".random_sample", of_generator(distribution(float, 0), "RandomState"), traits=[MAKES_ARRAYS])
drawing(".getrandbits .randrange .expovariate .normalvariate .gauss", ANY)
drawing(".choice", of_generator(choice), traits=[(DRAWS_ITEMS, "choice")])
functions(".permutation", of_generator(permutation), effect=ORDERED)
functions(".permuted", of_generator(permuted), effect=ORDERED)
drawing(
    ".shuffle", of_generator(always(NONE), "Generator", "RandomState", "Random"),
    traits=[CHANGES_ARGUMENTS, (DRAWS_ITEMS, "shuffle")],
)  # fmt: skip
drawing("np.random.shuffle", NONE, traits=[CHANGES_ARGUMENTS])
drawing("random.shuffle", NONE, traits=[CHANGES_ARGUMENTS, (DRAWS_ITEMS, "shuffle")])

drawing("random.random", FLOAT)
drawing("random.uniform", of_numbers(FLOAT), vjp=VJPS["uniform"])
drawing("random.gauss random.normalvariate", of_numbers(FLOAT), vjp=VJPS["normal"])
functions("random.lognormvariate", of_numbers(FLOAT), effect=ORDERED, vjp=VJPS["lognormal"])
drawing("random.expovariate", of_numbers(FLOAT), vjp=lambda g, out, lambd=1.0: -g * out / lambd)
functions(
    """random.betavariate random.gammavariate random.paretovariate random.weibullvariate
    random.vonmisesvariate""",
    of_numbers(FLOAT), effect=ORDERED,
)  # fmt: skip
functions("random.triangular", of_numbers(inexact(FLOAT)), effect=ORDERED)     # it returns `low`, if `high` equals it
drawing("random.randint random.randrange random.getrandbits random.binomialvariate", INT)
drawing("random.choice", iterated, traits=[(DRAWS_ITEMS, "choice")])
functions("random.choices random.sample", list_of(ANY), effect=ORDERED)
functions("random.seed random.setstate", NONE, effect=ORDERED)
functions("random.getstate", ANY, effect=ORDERED)

functions("time.time time.perf_counter time.monotonic time.process_time time.thread_time", FLOAT, effect=ORDERED)
functions("time.time_ns time.perf_counter_ns time.monotonic_ns time.process_time_ns", INT, effect=ORDERED)
functions("time.sleep", NONE, effect=ORDERED)
