"""Lowerings of functions and methods that draw a random number.

They draw from the generator's own state, so that the numbers, and those that Python draws afterwards, are the same as
without machine code. They check the arguments before they draw: Python would draw again.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.graph import Constant
from autograph.runtime.graph.operands import Array, Emitter, Fixed, Given, NoLowering, Number
from autograph.runtime.graph.types import FLOAT, INT, TensorType, scalar
from autograph.runtime.ops.native.number_rules import PYTHON, arithmetic, inverse
from autograph.runtime.ops.native.scalars import either, finite, fitted, number

Draw = Callable[..., Any]
_UNSIGNED = scalar("uint64")
_RULES: dict[tuple[Any, str], Draw] = {}     # by the class of the generator, and the name of the method


def _of(kind: Any, *names: str) -> Callable[[Draw], Draw]:
    """Enter the lowering of a method."""

    def enter(rule: Draw) -> Draw:
        _RULES.update(((kind, name), rule) for name in names)
        return rule

    return enter


def method(name: str) -> Draw:
    """The lowering of a method of generators."""

    def rule(emit: Emitter, owner: Any, *args: Any, **kwargs: Any) -> Any:
        kind = owner.of if isinstance(owner, Given) else type(owner.value if isinstance(owner, Constant) else owner)
        found = _RULES.get((kind, name)) if isinstance(kind, type) else None
        if found is None:
            raise NoLowering
        return _bound(found, emit, owner, *args, **kwargs)

    return rule


def _bound(rule: Draw, *args: Any, **kwargs: Any) -> Any:
    try:
        inspect.signature(rule).bind(*args, **kwargs)
    except TypeError:
        raise NoLowering from None      # Python raises the error
    return rule(*args, **kwargs)


def lowering(name: str) -> Draw | None:
    """The lowering of `.random`, a method of generators, or `random.random`, a function that is a method of one."""
    module, _, last = name.rpartition(".")
    rule, own = method(last), {"random": random, "np.random": np.random}.get(module)
    owner = getattr(getattr(own, last, None), "__self__", None)
    if (type(owner), last) not in _RULES if own is not None else all(last != each for _, each in _RULES):
        return None
    return rule if own is None else lambda emit, *args, **kwargs: rule(emit, owner, *args, **kwargs)


# Arguments ------------------------------------------------------------------------------------------------------------


def _integer(emit: Emitter, arg: Any) -> Number:
    found = number(emit, arg)
    if found.type != INT:
        raise NoLowering
    return found


def _float(emit: Emitter, arg: Any, positive: bool = False) -> Number:
    """A finite float, of a number; leaves machine code if it is none, or is not positive."""
    given = number(emit, arg)
    found = fitted(emit, given, FLOAT)
    if positive:
        emit.leave_if(inverse(emit, emit.compare("gt", found, emit.constant(0.0, FLOAT))))
    if given.type.dtype.kind == "f":
        emit.leave_if(inverse(emit, finite(emit, found)))
    return found


def _pythons(emit: Emitter, *args: Any) -> list[Number]:
    """Numbers of Python: NumPy's make NumPy's of the results."""
    found = [number(emit, arg) for arg in args]
    if any(each.type.kind != "python" for each in found):
        raise NoLowering
    return found


def _scaled(emit: Emitter, x: Number, by: Number, more: Number) -> Number:
    """`more + x * by`."""
    return emit.floating("add", more, emit.floating("mul", x, by))


def _leave_unless_less(emit: Emitter, a: Number, b: Number) -> None:
    emit.leave_if(emit.compare("ge", a, b))


def _defaults(name: str) -> tuple[Any, ...]:
    """The defaults of a function of `random`, which newer Pythons have; of older ones, what no lowering takes."""
    return tuple(each.default for each in inspect.signature(getattr(random, name)).parameters.values())


_MEAN, _DEVIATION = _defaults("gauss")
(_RATE,) = _defaults("expovariate")


def _leave_if_empty(emit: Emitter, count: Number) -> None:
    emit.leave_if(emit.compare("le", count, emit.constant(0, INT)))


def _vector(arg: Any) -> Array:
    if not isinstance(arg, Array) or arg.ndim != 1:
        raise NoLowering
    return arg


# Python's -------------------------------------------------------------------------------------------------------------


@_of(random.Random, "random")
def _random(emit: Emitter, owner: Any) -> Number:
    return emit.draws.double(emit.draws.python(owner, in_c=True))


@_of(random.Random, "getrandbits")
def _getrandbits(emit: Emitter, owner: Any, k: Any) -> Number:
    count = _integer(emit, k)
    least, most = emit.constant(1, INT), emit.constant(63, INT)
    emit.leave_if(either(emit, emit.compare("lt", count, least), emit.compare("gt", count, most)))
    return emit.draws.bits(emit.draws.python(owner, in_c=True), count)


@_of(random.Random, "randrange")
def _randrange(emit: Emitter, owner: Any, start: Any, stop: Any = None) -> Number:
    first = _integer(emit, start)
    if stop is None:
        first, last = emit.constant(0, INT), first
    else:
        last = _integer(emit, stop)
    _leave_unless_less(emit, first, last)
    width = arithmetic("sub", PYTHON)(emit, last, first)
    found = emit.draws.below(emit.draws.python(owner, in_c=False), width)
    return emit.integer("add", found, first)


@_of(random.Random, "randint")
def _randint(emit: Emitter, owner: Any, a: Any, b: Any) -> Number:
    last = arithmetic("add", PYTHON)(emit, _integer(emit, b), emit.constant(1, INT))
    found: Number = _randrange(emit, owner, a, last)
    return found


@_of(random.Random, "uniform")
def _uniform(emit: Emitter, owner: Any, a: Any, b: Any) -> Number:
    low, high = _pythons(emit, a, b)
    if low.type == high.type == INT:
        span = fitted(emit, arithmetic("sub", PYTHON)(emit, high, low), FLOAT)
    else:
        span = emit.floating("sub", fitted(emit, high, FLOAT), fitted(emit, low, FLOAT))
    low, span = _float(emit, low), _float(emit, span)
    return _scaled(emit, span, emit.draws.double(emit.draws.python(owner, in_c=False)), low)


@_of(random.Random, "expovariate")
def _expovariate(emit: Emitter, owner: Any, lambd: Any = _RATE) -> Number:
    (rate,) = _pythons(emit, lambd)
    rate = fitted(emit, rate, FLOAT)
    emit.leave_if(emit.compare("eq", rate, emit.constant(0.0, FLOAT)))
    rest = emit.floating("sub", emit.constant(1.0, FLOAT), emit.draws.double(emit.draws.python(owner, in_c=False)))
    return emit.floating("div", emit.negative(emit.library("log", rest)), rate)


@_of(random.Random, "gauss")
def _gauss_of_python(emit: Emitter, owner: Any, mu: Any = _MEAN, sigma: Any = _DEVIATION) -> Number:
    loc, scale = (_float(emit, each) for each in _pythons(emit, mu, sigma))
    return _scaled(emit, emit.draws.gauss(emit.draws.python(owner, in_c=False)), scale, loc)


@_of(random.Random, "normalvariate")
def _normalvariate(emit: Emitter, owner: Any, mu: Any = _MEAN, sigma: Any = _DEVIATION) -> Number:
    loc, scale = (_float(emit, each) for each in _pythons(emit, mu, sigma))
    return _scaled(emit, emit.draws.normal(emit.draws.python(owner, in_c=False)), scale, loc)


@_of(random.Random, "choice")
def _choice_of_python(emit: Emitter, owner: Any, seq: Any) -> Any:
    x, state = _vector(seq), emit.draws.python(owner, in_c=False)
    _leave_if_empty(emit, emit.length(x, 0))
    return emit.load(x, [emit.draws.below(state, emit.length(x, 0))])


@_of(random.Random, "shuffle")
def _shuffle_of_python(emit: Emitter, owner: Any, x: Any) -> Fixed:
    return _shuffled(emit, emit.draws.python(owner, in_c=False), x)


def _shuffled(emit: Emitter, state: Any, arg: Any) -> Fixed:
    """Shuffle an array in place."""
    x = _vector(arg)
    if not (x.contiguous and x.writeable) or x.dtype.itemsize > 8:
        raise NoLowering
    emit.draws.shuffle(state, x)
    return Fixed(None)


# NumPy's --------------------------------------------------------------------------------------------------------------
#
# A rule returns the function that draws a number. It is called once, or for each element of an array of draws.


def _draws(*kinds: Any, names: str, parameters: int, of: type = float) -> Callable[[Draw], Draw]:
    """Enter the lowering of methods whose parameter after so many others is `size`; they draw numbers of a class."""

    def enter(rule: Draw) -> Draw:
        def lowering(emit: Emitter, owner: Any, *args: Any, size: Any = None, **kwargs: Any) -> Any:
            args, more = args[:parameters], args[parameters:]
            if len(more) > (size is None):
                raise NoLowering
            draw = _bound(rule, emit, owner, *args, **kwargs)
            return _sized(emit, more[0] if more else size, draw, of)

        for kind in kinds:
            _of(kind, *names.split())(lowering)
        return rule

    return enter


def _sized(emit: Emitter, size: Any, draw: Draw, of: type = float) -> Any:
    """A number, or an array of them. Nothing leaves machine code once a number has been drawn."""
    if size is None:
        return draw()
    lengths = [fitted(emit, _of_integers(emit, each), INT) for each in (size if type(size) is tuple else (size,))]
    return emit.draws.array(np.dtype(of), lengths, draw)


_STATES = np.random.Generator, np.random.RandomState


@_draws(np.random.Generator, names="random", parameters=0)
@_draws(np.random.RandomState, names="random random_sample", parameters=0)
def _next_double(emit: Emitter, owner: Any) -> Draw:
    state = emit.draws.numpy(owner)
    return lambda: emit.draws.double(state)


@_draws(*_STATES, names="uniform", parameters=2)
def _uniform_of_numpy(emit: Emitter, owner: Any, low: Any = 0.0, high: Any = 1.0) -> Draw:
    first, last = _float(emit, low), _float(emit, high)
    _leave_unless_less(emit, first, last)
    span = emit.floating("sub", last, first)
    emit.leave_if(inverse(emit, finite(emit, span)))
    state = emit.draws.numpy(owner)
    return lambda: emit.draws.distribution(state, "uniform", FLOAT, first, span)


def _distribution(name: str, defaults: dict[str, float], type: TensorType) -> Draw:
    """The rule of a distribution whose parameters have defaults. The last one must be positive."""

    def rule(emit: Emitter, owner: Any, *args: Any, **kwargs: Any) -> Draw:
        if not kwargs.keys() <= set(list(defaults)[len(args) :]):
            raise NoLowering
        given = (defaults | dict(zip(defaults, args)) | kwargs).values()
        params = [_float(emit, each, positive=place + 1 >= len(given)) for place, each in enumerate(given)]
        state = emit.draws.numpy(owner)
        return lambda: emit.draws.distribution(state, name, type, *params)

    return rule


for _name, _given in {
    "standard_normal": {}, "normal": {"loc": 0.0, "scale": 1.0}, "standard_exponential": {},
    "exponential": {"scale": 1.0}, "poisson": {"lam": 1.0},
}.items():  # fmt: skip
    _rule = _distribution(_name, _given, type=INT if _name == "poisson" else FLOAT)
    _draws(np.random.Generator, names=_name, parameters=len(_given), of=int if _name == "poisson" else float)(_rule)


@_draws(np.random.Generator, names="integers", parameters=2, of=int)
def _integers(emit: Emitter, owner: Any, low: Any, high: Any = None, *, endpoint: bool = False) -> Draw:
    if type(endpoint) is not bool:
        raise NoLowering
    return _between(emit, owner, low, high, endpoint, scalar("int64"), masked=False)


@_draws(np.random.RandomState, names="randint", parameters=2, of=int)
def _randint_of_numpy(emit: Emitter, owner: Any, low: Any, high: Any = None) -> Draw:
    return _between(emit, owner, low, high, False, INT, masked=True)


def _between(
    emit: Emitter, owner: Any, low: Any, high: Any, endpoint: bool, type: TensorType, masked: bool
) -> Draw:
    first = fitted(emit, _of_integers(emit, low), INT)
    if high is None:
        first, last = emit.constant(0, INT), first
    else:
        last = fitted(emit, _of_integers(emit, high), INT)
    if endpoint:
        emit.leave_if(emit.compare("gt", first, last))
    else:
        _leave_unless_less(emit, first, last)
        last = emit.integer("sub", last, emit.constant(1, INT))
    span, state = Number(_UNSIGNED, emit.integer("sub", last, first).ref), emit.draws.numpy(owner)
    return lambda: Number(type, emit.draws.bounded(state, first, span, masked).ref)


def _of_integers(emit: Emitter, arg: Any) -> Number:
    found = number(emit, arg)
    if found.type.dtype.kind not in "iu":
        raise NoLowering
    return found


_CHOSEN = INT if type(np.random.default_rng(0).choice(2)) is int else scalar("int64")


def _choice(whole: TensorType, masked: bool) -> Draw:
    """The lowering of `choice`, of an array, or of the numbers below one.

    Args:
        whole: the type of these.
    """

    def rule(emit: Emitter, owner: Any, a: Any) -> Any:
        x = a if isinstance(a, Array) else None
        count = fitted(emit, _of_integers(emit, a), INT) if x is None else emit.length(_vector(x), 0)
        _leave_if_empty(emit, count)
        found = _between(emit, owner, count, None, False, INT, masked)()
        return Number(whole, found.ref) if x is None else emit.load(x, [found])

    return rule


_of(np.random.Generator, "choice")(_choice(_CHOSEN, masked=False))
_of(np.random.RandomState, "choice")(_choice(INT, masked=True))


@_of(np.random.Generator, "shuffle")
@_of(np.random.RandomState, "shuffle")
def _shuffle(emit: Emitter, owner: Any, x: Any) -> Fixed:
    return _shuffled(emit, emit.draws.numpy(owner), x)


@_draws(np.random.RandomState, names="standard_normal", parameters=0)
def _gauss(emit: Emitter, owner: Any) -> Draw:
    state = emit.draws.numpy(owner)
    return lambda: emit.draws.normal(state)


@_draws(np.random.RandomState, names="normal", parameters=2)
def _normal_of_state(emit: Emitter, owner: Any, loc: Any = 0.0, scale: Any = 1.0) -> Draw:
    mean, spread = _float(emit, loc), _float(emit, scale, positive=True)
    draw = _gauss(emit, owner)
    return lambda: _scaled(emit, draw(), spread, mean)


@_of(np.random.RandomState, "rand")
def _rand(emit: Emitter, owner: Any, *lengths: Any) -> Any:
    return _sized(emit, lengths or None, _next_double(emit, owner))


@_of(np.random.RandomState, "randn")
def _randn(emit: Emitter, owner: Any, *lengths: Any) -> Any:
    return _sized(emit, lengths or None, _gauss(emit, owner))
