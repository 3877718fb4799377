"""Control flow as functions: `tf.cond`, `tf.while_loop` and their like; assertions; scopes of names."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from autograph.common import pytree
from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.convert import convert_leaves, convert_to_tensor, is_tensor
from autograph.compat.tensorflow.core.errors import InvalidArgumentError
from autograph.compat.tensorflow.core.kernels import kernel
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Tensor, effect
from autograph.compat.tensorflow.ops import math_ops, reduce_ops
from autograph.compat.tensorflow.staging.branches import CONDITIONAL, stage_if
from autograph.compat.tensorflow.staging.loops import StrictLoop
from autograph.operators.backend import untraced
from autograph.operators.state import State, reached_by

__all__ = [  # the names of `tf` itself
    "Assert", "assert_equal", "assert_greater", "assert_less", "case", "cond", "group", "no_op", "switch_case",
    "while_loop",
]  # fmt: skip


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = None) -> Any:
    """Call `true_fn` or `false_fn`, as the condition says; gives its result."""
    graph = graphs.current()
    if graph is None or not is_tensor(pred):
        return true_fn() if pred else false_fn()
    test = convert_to_tensor(pred)
    return stage_if(graph, test, [true_fn, false_fn], reached_by(true_fn, false_fn), CONDITIONAL)


def switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: str | None = None) -> Any:
    """Call the function of a number; for other numbers `default`, or the last function."""
    pairs = isinstance(branch_fns, dict) or all(isinstance(each, tuple) for each in branch_fns)
    cases = dict(branch_fns if pairs else enumerate(branch_fns))
    last = default or cases[max(cases)]
    index = convert_to_tensor(branch_index)

    def choose(rest: list[tuple[int, Callable[[], Any]]]) -> Any:
        if not rest:
            return last()
        (number, function), *others = rest
        return cond(math_ops.equal(index, number), function, lambda: choose(others))

    return choose(sorted(cases.items()))


def case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, name: str | None = None) -> Any:
    """Call the function of the first condition that holds, or `default`."""
    (pred, function), *rest = pred_fn_pairs
    if not rest and default is None:
        return cond(pred, function, function)
    return cond(pred, function, (lambda: case(rest, default)) if rest else default)


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any = None,
    parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False, maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Call `body` with the loop variables while `cond` of them holds; its results are their next values."""
    if not callable(cond) or not callable(body):
        raise TypeError("'cond' and 'body' must be callable")
    if not isinstance(loop_vars, (list, tuple, dict)) or not loop_vars:
        raise ValueError("'loop_vars' must be provided, as a structure that is not empty")
    variables = convert_leaves(tuple(loop_vars))
    count = convert_to_tensor(0)
    graph = graphs.current()

    def test() -> Any:
        go_on = convert_to_tensor(cond(*variables))
        return go_on if maximum_iterations is None else math_ops.logical_and(go_on, count < maximum_iterations)

    def iteration() -> None:
        nonlocal variables, count
        found = body(*variables)
        parts = tuple(found) if type(found) in (list, tuple) else (found,)
        variables, count = convert_leaves(parts), count + 1

    if graph is None:
        while test():
            iteration()
    else:
        shapes = [] if shape_invariants is None else pytree.flatten(shape_invariants)
        invariants = [(variables, TensorShape(None))] if shapes else []
        state = State(("variables", "count"), iteration, test)
        StrictLoop(graph.trace, iteration, state, None, graph, {"shape_invariants": invariants}).stage(test)
    if isinstance(loop_vars, dict) and len(variables) == 1:
        return variables[0]
    return list(variables) if isinstance(loop_vars, list) else tuple(variables)


@contextlib.contextmanager
def scope(name: Any = None, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """A part of the program with a name, a device or an order of its own, which have no effect here."""
    yield name


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """A part of the program that runs at once, while the function around it is traced; no tape watches it.

    Source: https://www.tensorflow.org/api_docs/python/tf/init_scope
    """
    with graphs.building(None), graphs.untaped(), untraced():
        yield


def Assert(condition: Any, data: Any, summarize: Any = None, name: str | None = None) -> None:
    """Raise `InvalidArgumentError` when the graph runs, unless the condition holds."""
    _assert(convert_to_tensor(condition), data, "")


def _assert(condition: Tensor, data: Any, message: str) -> None:
    values = [convert_to_tensor(each)._value if is_tensor(each) else each for each in data or ()]
    effect(partial(_check_holds, message), reduce_ops.reduce_all(condition)._value, *values)


@kernel
def _check_holds(message: str, holds: Any, *found: Any) -> None:
    if not holds:
        shown = " ".join(f"[{each}]" for each in ([message] if message else []) + list(found))
        raise InvalidArgumentError(f"assertion failed: {shown}")


def _asserting(of: Callable[..., Tensor], sign: str) -> Callable[..., None]:
    def check(x: Any, y: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> None:
        _assert(of(x, y), (), message or f"Condition x {sign} y did not hold.")

    return check


assert_equal = _asserting(math_ops.equal, "==")
assert_none_equal = _asserting(math_ops.not_equal, "!=")
assert_less = _asserting(math_ops.less, "<")
assert_less_equal = _asserting(math_ops.less_equal, "<=")
assert_greater = _asserting(math_ops.greater, ">")
assert_greater_equal = _asserting(math_ops.greater_equal, ">=")


def assert_positive(x: Any, message: str | None = None, **_: Any) -> None:
    """Check that all elements are positive."""
    _assert(math_ops.greater(x, 0), (), message or "Condition x > 0 did not hold.")


def no_op(name: str | None = None) -> None:
    """Does nothing."""


def group(*inputs: Any, **_: Any) -> None:
    """Does nothing: the inputs have run already, in order."""
