"""Make inferences of rules.

A rule is written for arguments of exact types, in terms of NumPy. If it does not know the answer, it raises `Unknown`,
often through a function of `shape_rules.py`. `rule` makes an `infer` of it, which

    * returns `object` where the rule raises, because rules never judge: a wrong program fails when it runs;
    * asks the rule about each exact type that a value of an inexact type may have, and joins the answers, so that no
      rule has to know about inexact types;
    * returns the type of the array of `out=`, for a rule that has a parameter of that name;
    * caches answers.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from autograph.runtime.graph import types
from autograph.runtime.graph.opdef import Infer
from autograph.runtime.graph.types import ANY, KINDS, ObjectType, TensorType, Type
from autograph.runtime.ops.inference.shape_rules import CODES, NUMERIC, DType, Unknown, Wrong, out_type

_MOST = 1024        # the greatest number of combinations of exact types to try a rule with


@cache
def possible(type: TensorType) -> tuple[TensorType, ...]:
    """Exact types such that an answer that holds for all of them holds for every value of an inexact type.

    The smallest and the largest dtype of each kind represent all dtypes of that kind.
    """
    if type.exact:
        return (type,)
    if type.dtype.kind not in NUMERIC:
        raise Unknown
    dtypes = _narrower(type.dtype)
    found = [] if type.ndim else [
        types.python(kind) for kind in (bool, int, float, complex) if _fits(np.dtype(kind), type.dtype)
    ]
    for kind in KINDS[1 : KINDS.index(type.kind) + 1]:
        if kind == "array" or not type.ndim:
            found += [TensorType(dtype, type.shape, kind) for dtype in dtypes]
    return tuple(found)


def _fits(dtype: DType, wide: DType) -> bool:
    return bool(np.result_type(dtype, wide) == wide)


@cache
def _narrower(wide: DType) -> list[DType]:
    fitting = [dtype for dtype in map(np.dtype, CODES) if _fits(dtype, wide)]
    kinds = [[dtype for dtype in fitting if dtype.kind == kind] for kind in NUMERIC]
    return [dtype for each in kinds if each for dtype in dict.fromkeys([each[0], each[-1]])]


def _mapped(arg: Any, function: Callable[[TensorType], Any]) -> Any:
    """The argument with `function(type)` in the place of each inexact type, in order."""
    if isinstance(arg, TensorType):
        return arg if arg.exact else function(arg)
    if type(arg) in (tuple, list):
        return type(arg)(_mapped(part, function) for part in arg)
    if type(arg) is dict:
        return {key: _mapped(part, function) for key, part in arg.items()}
    if isinstance(arg, slice):
        return slice(*(_mapped(part, function) for part in (arg.start, arg.stop, arg.step)))
    if isinstance(arg, ObjectType) and arg.name == "tuple":
        return ObjectType("tuple", _mapped(arg.items, function))
    return arg


def _one_by_one(types: Iterable[TensorType]) -> Callable[[TensorType], TensorType]:
    rest = iter(types)
    return lambda _: next(rest)


Answer: TypeAlias = "Type | list[Type]"


def ask(function: Infer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Answer:
    """The answer of a rule; ANY if the rule does not know it."""
    inexact: list[TensorType] = []
    _mapped((args, kwargs), inexact.append)
    try:
        if not inexact:
            return function(*args, **kwargs)
        choices = [possible(each) for each in inexact]
        if math.prod(map(len, choices)) > _MOST:
            return ANY
        answers = []
        for exact in itertools.product(*choices):
            exact_args, exact_kwargs = _mapped((args, kwargs), _one_by_one(exact))
            try:
                answers.append(function(*exact_args, **exact_kwargs))
            except Wrong:
                pass                    # the program ends here if it comes to this, so there will be no value
        return _join_answers(answers)
    except Exception:                   # arguments that no rule foresaw, most of them wrong
        return ANY


def _join_answers(answers: list[Answer]) -> Answer:
    several = [answer for answer in answers if isinstance(answer, list)]
    if not several:
        return types.join_all(dict.fromkeys(answers))       # type: ignore[arg-type]
    if len(several) < len(answers) or len(set(map(len, several))) > 1:
        return ANY
    return [types.join_all(dict.fromkeys(each)) for each in zip(*several)]


_PLAIN = frozenset({int, bool, float, complex, str, type(None), type(Ellipsis), type(np.dtype(int)), type})


def _key(arg: Any) -> Any:
    """A key of an argument, different for 1, 1.0 and True; TypeError if its answer must not be cached."""
    kind = type(arg)
    if kind is TensorType or kind is ObjectType:
        return arg
    if kind is tuple or kind is list:
        return (kind, *map(_key, arg))
    if kind is slice:
        return (slice, _key(arg.start), _key(arg.stop), _key(arg.step))
    if kind in _PLAIN or isinstance(arg, (np.dtype, np.number, np.bool)):
        return (kind, arg)
    raise TypeError


_ROOM = 4096


def rule(function: Infer) -> Infer:
    """Make the `infer` of an op from a rule for exact types; see the module's documentation."""
    known: dict[Any, Answer] = {}
    function = _unless_out(function)

    def infer(*args: Any, **kwargs: Any) -> Answer:
        try:
            key = (*map(_key, args), *kwargs, *map(_key, kwargs.values()))
            found = known.get(key)
        except TypeError:
            return ask(function, args, kwargs)
        if found is None:
            if len(known) >= _ROOM:
                known.clear()
            known[key] = found = ask(function, args, kwargs)
        return list(found) if type(found) is list else found

    infer.__name__, infer.__module__ = function.__name__, function.__module__  # `wraps` takes ms for hundreds of rules
    return infer


def _unless_out(function: Infer) -> Infer:
    """A rule that gives the type of the array of `out=`, if it is named and the function has that parameter."""
    code = getattr(function, "__code__", None)
    if code is None or "out" not in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        return function
    positional = code.co_varnames[: code.co_argcount]
    place = positional.index("out") if "out" in positional else sys.maxsize

    def infer(*args: Any, **kwargs: Any) -> Answer:
        return out_type(args[place] if place < len(args) else kwargs.get("out")) or function(*args, **kwargs)

    infer.__name__, infer.__module__ = function.__name__, function.__module__
    return infer
