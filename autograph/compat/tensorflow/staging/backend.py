"""The backend for functions with TensorFlow's API: the rules of TensorFlow's AutoGraph.

A condition that is a tensor is staged, even if its value is known; so is a loop over a tensor, a dataset or an
iterator. All else runs as Python while tracing, and a loop that begins in plain Python cannot become a staged one.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

from autograph import operators
from autograph.common import trace_rules
from autograph.common.code_flags import of_code
from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor, is_tensor
from autograph.compat.tensorflow.core.dtypes import bool as bool_
from autograph.compat.tensorflow.core.dtypes import float32, int32
from autograph.compat.tensorflow.core.errors import InvalidArgumentError
from autograph.compat.tensorflow.core.kernels import kernel
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Tensor, effect, type_of, wrap
from autograph.compat.tensorflow.ops import array_ops, math_ops, printing, reduce_ops
from autograph.compat.tensorflow.staging import mutations
from autograph.compat.tensorflow.staging.branches import CONDITIONAL, stage_if
from autograph.compat.tensorflow.staging.loops import Items, StrictLoop
from autograph.operators import backend as protocol
from autograph.operators.state import State, reached_by

Thunk = Callable[[], Any]

_CHANGED = (
    "condition of while loop started as non-Tensor, then changed to Tensor. This may happen because variables "
    "changed type, or a break or return statement inside the loop depends on a Tensor. Let the condition be a tensor "
    "from the beginning"
)
_PYTHON_FOR = (
    "break and return statements that depend on a tensor are not supported in Python for loops. Iterate over a tensor "
    "or dataset instead"
)


class TensorFlowBackend(protocol.Backend):
    """Stages tensors by TensorFlow's rules."""

    name = "tensorflow"
    may_drop: bool = True  # its exceptions are errors of the program

    @property
    def current(self) -> graphs.FuncGraph:
        return graphs.recording()

    def owns(self, value: Any) -> bool:
        return is_tensor(value)

    def if_stmt(self, test: Any, body: Thunk, orelse: Thunk | None, state: State) -> Any:
        test = _condition(test, "if statement")
        return stage_if(self.current, test, [body, orelse or (lambda: None)], state)

    def if_exp(self, test: Any, body: Thunk, orelse: Thunk) -> Any:
        test = _condition(test, CONDITIONAL)
        return stage_if(self.current, test, [body, orelse], reached_by(body, orelse), CONDITIONAL)

    def while_stmt(self, first: Any, test: Thunk, body: Thunk, state: State, until: Thunk | None, options: Any) -> Any:
        if is_tensor(first):
            limit = dict(options or {}).get("maximum_iterations")
            if limit is not None:
                test, body, state = _at_most(limit, test, body, state)
            loop = StrictLoop(self.current.trace, body, state, until, self.current, options)
            return loop.stage(lambda: _condition(test(), "while loop"))
        now = first
        while now:
            body()
            if until is not None and _plain(until(), _CHANGED):
                break
            now = _plain(test(), _CHANGED)
        return None

    def for_stmt(self, iterable: Any, body: Any, state: State, until: Thunk | None, options: Any, first: Any) -> Any:
        items = _items(self.current, iterable)
        if items is not None:
            return StrictLoop(self.current.trace, body, state, until, self.current, options, items).stage()
        for item in iterable:
            body(item)
            if until is not None and _plain(until(), _PYTHON_FOR):
                break
        return None

    def and_(self, first: Any, rest: Sequence[Thunk], test: bool = False) -> Any:
        from autograph.operators.logical import and_

        others = rest[0] if len(rest) == 1 else partial(and_, *rest, test=test)  # type: ignore[arg-type, misc]
        return stage_if(self.current, _condition(first), [others, lambda: first], reached_by(*rest), CONDITIONAL)

    def or_(self, first: Any, rest: Sequence[Thunk], test: bool = False) -> Any:
        from autograph.operators.logical import or_

        others = rest[0] if len(rest) == 1 else partial(or_, *rest, test=test)  # type: ignore[arg-type, misc]
        return stage_if(self.current, _condition(first), [lambda: first, others], reached_by(*rest), CONDITIONAL)

    def not_(self, value: Any) -> Any:
        return math_ops.logical_not(_condition(value)) if is_tensor(value) else not value

    def assert_stmt(self, test: Any, message: Thunk | None) -> Any:
        text = "" if message is None else message()
        effect(_check, _condition(test)._value, str(text))

    def ref(self, value: Any) -> Any:
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("autograph."):
            frame = frame.f_back
        mutations.touch(self.current, value, {mutations.name_of(frame.f_code)})
        return NotImplemented

    def call(self, function: Any) -> Any:
        mutations.touch(self.current, getattr(function, "__self__", None), set())
        name = function.__name__ if isinstance(function, (BuiltinFunctionType, type)) else ""
        if name and vars(builtins).get(name) is function:
            return getattr(operators, f"{name}_", NotImplemented)
        plain = getattr(function, "__func__", function)
        if type(plain) is FunctionType and not trace_rules.is_plain(str(plain.__globals__.get("__name__"))):
            check_syntax(function)
        return getattr(function, "__tf_inline__", NotImplemented)

    def builtin(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if name == "print" and any(map(is_tensor, args)) and "BUILTIN_FUNCTIONS" in map(str, self.current.features):
            return printing.print_like_python(*args, **kwargs)
        if name == "print" and self.current.printed and kwargs.get("file") in (None, sys.stdout):
            return print(*args, **{**kwargs, "file": self.current.printed[-1]})
        method = getattr(type(args[0]), f"_{name}_", None) if args else None
        if method is not None:
            return method(*args, **kwargs)
        return _BUILTINS[name](*args, **kwargs) if name in _BUILTINS and any(map(is_tensor, args)) else NotImplemented

    def in_(self, *args: Any, **kwargs: Any) -> Any:
        return NotImplemented

    list_comp = set_comp = dict_comp = gen_exp = in_  # these iterate as Python does


def _plain(value: Any, message: str) -> Any:
    """A condition of a loop that runs as Python, which must not be a tensor."""
    if is_tensor(value):
        raise NotImplementedError(message)
    return value


def _at_most(limit: Any, test: Thunk, body: Thunk, state: State) -> tuple[Thunk, Thunk, State]:
    """The parts of a loop that ends after so many iterations."""
    ag_iterations = convert_to_tensor(0)

    def goes_on() -> Any:
        return math_ops.logical_and(_condition(test(), "while loop"), ag_iterations < limit)

    def iteration() -> None:
        nonlocal ag_iterations
        body()
        ag_iterations += 1

    counted = State((*state.names, "ag_iterations"), *state.functions, iteration)
    return goes_on, iteration, counted


def _condition(value: Any, what: str = "") -> Tensor:
    """The condition of a construct, as a tensor of bool.

    Args:
        what: the name of the construct, which needs a tensor of bool; "" for operators, which convert.
    """
    tensor = convert_to_tensor(value)
    if what and (tensor.dtype is not bool_ or tensor.shape.rank not in (0, None)):
        raise ValueError(
            f"condition of {what} expected to be `tf.bool` scalar, got {tensor}; to use as boolean Tensor, use "
            "`tf.cast`; to check for None, use `is not None`"
        )
    return tensor if tensor.dtype is bool_ else math_ops.cast(tensor, bool_)


@kernel
def _check(value: Any, message: str) -> None:
    if not value:
        raise InvalidArgumentError(f"assertion failed: {message or 'the condition is false'}")


def _items(graph: graphs.FuncGraph, iterable: Any) -> Items | None:
    """The items of a staged loop; None if the loop is plain Python."""
    if hasattr(iterable, "_items_"):
        found: Items = iterable._items_(graph)
        return found
    if not is_tensor(iterable):
        return None
    tensor = convert_to_tensor(iterable)
    if tensor.shape.rank == 0:
        raise ValueError("Cannot iterate over a scalar tensor.")
    shape = TensorShape(None) if tensor.shape.rank is None else tensor.shape[1:]
    return Items(tensor._value, lambda params: wrap(params[0], tensor.dtype, shape), [type_of(tensor.dtype, shape)],
                 is_range=tensor.is_range)  # fmt: skip


# Builtin functions ----------------------------------------------------------------------------------------------------


def _len(value: Any) -> Any:
    tensor = convert_to_tensor(value)
    if tensor.shape.rank == 0:
        raise ValueError("len requires a non-zero rank for Tensor arguments")
    length = tensor.shape[0] if tensor.shape.rank is not None else None
    return length if length is not None else array_ops.shape(tensor)[0]


_BUILTINS: dict[str, Any] = {
    "range": array_ops.range,
    "len": _len,
    "int": lambda value, base=10: math_ops.cast(value, int32),
    "float": lambda value: math_ops.cast(value, float32),
    "bool": lambda value: math_ops.cast(value, bool_),
    "max": lambda first, *rest: reduce(math_ops.maximum, rest, first) if rest else reduce_ops.reduce_max(first),
    "min": lambda first, *rest: reduce(math_ops.minimum, rest, first) if rest else reduce_ops.reduce_min(first),
    "sum": lambda values, start=0: reduce_ops.reduce_sum(values) + start,
    "sorted": lambda values, **_: reduce_ops.sort(values),
}

TENSORFLOW = TensorFlowBackend()


def check_syntax(function: Callable[..., Any]) -> None:
    """Check that a function has no loop with an `else`, and is no generator.

    Raises:
        NotImplementedError: TensorFlow's AutoGraph refuses it.
    """
    plain = function.__func__ if type(function) is MethodType else function
    if type(plain) is not FunctionType:
        return
    if inspect.isgeneratorfunction(plain):
        raise NotImplementedError(f"generators are not supported: {plain.__qualname__} is one")
    refused = _refused(plain.__code__)
    if refused:
        raise NotImplementedError(refused)


@of_code
def _refused(code: CodeType) -> str:
    """The construct of a function that is refused; "" if there is none, or there is no source."""
    try:
        lines, _ = inspect.getsourcelines(code)
        tree: Any = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return ""
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.While)) and node.orelse:
            kind = "for" if isinstance(node, ast.For) else "while"
            line = code.co_firstlineno + node.lineno - 1
            return f"{kind}/else statement not yet supported ({code.co_filename}:{line})"
    return ""
