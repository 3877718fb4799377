"""`ag.grad` and so on: functions that trace a function and record its gradients.

Traced code calls their `__ag_traced__` instead, which traces into the function and records the reverse (`reverse.py`).
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

import autograph.runtime.autodiff.reverse_control_flow
import autograph.runtime.autodiff.reverse_mutation  # noqa: F401  (registers handlers)
from autograph.common import pytree
from autograph.common.trace_rules import on_behalf
from autograph.errors import DerivativeError, TracingError
from autograph.runtime.autodiff.activity import has_gradient
from autograph.runtime.autodiff.inputs import DifferentiatedInputs, described, is_differentiable
from autograph.runtime.autodiff.reverse import Reverse
from autograph.runtime.graph.callables import name_of, parameters_of, place_of, user_code
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.types import ObjectType, TensorType
from autograph.runtime.ops.gradients.shadow_ops import some_gradient
from autograph.runtime.passes.speculatable import only_warns
from autograph.runtime.tracing.proxies.proxy import is_tensor, unpack
from autograph.runtime.tracing.state.blame import calls_programs
from autograph.runtime.tracing.state.trace import Trace

Which = int | str | Sequence[int | str]


class OnlyTraced:
    """A function that runs only within a trace.

    Args:
        run: the function to call in a trace.
    """

    def __init__(self, run: Callable[..., Any]) -> None:
        self._run = run

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TracingError("gradients are known only where the function is staged: put the call into a staged function")

    def __ag_traced__(self, trace: Trace) -> Callable[..., Any]:
        """The function that a trace calls instead of this."""
        return self._run


class Derivative(OnlyTraced):
    """The gradient of a function, with the arguments of the function.

    Args:
        argnums: the arguments asked for.
        has_aux: whether the function returns a pair, the second of which is not differentiated.
        wrt: objects with arrays (`value`), to be asked for instead of arguments.
        with_value: whether to give the value, too.
    """

    def __init__(
        self, function: Callable[..., Any], argnums: Which, has_aux: bool, wrt: Any = None, with_value: bool = False
    ) -> None:
        self.function = function
        self.argnums = argnums
        self.has_aux = has_aux
        self.wrt = wrt
        self.with_value = with_value
        functools.update_wrapper(self, function, updated=())

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.Signature(parameters_of(self.function))

    @property
    def __code__(self) -> Any:
        return user_code(self.function)

    def __ag_traced__(self, trace: Trace) -> Callable[..., Any]:
        return functools.partial(self._traced, trace)

    def _traced(self, trace: Trace, *args: Any, **kwargs: Any) -> Any:
        name = name_of(self.function)
        inputs = DifferentiatedInputs(trace, name)
        if self.wrt is not None:
            chosen = pytree.map(lambda variable: _value_of(trace, variable, name), self.wrt)
        else:
            chosen, args, kwargs = self._chosen(inputs, args, kwargs)
        differentiated = traced(trace, self.function, chosen, args, kwargs)
        inputs.give_back()
        value, aux = split(differentiated.result, name) if self.has_aux else (differentiated.result, None)
        check_scalar(value, name, place_of(self.function))
        found = differentiated.gradients(value, _one(trace, value, name))
        if not self.with_value and not self.has_aux:
            differentiated.forget()
        if self.wrt is None:
            found = found[0] if isinstance(self.argnums, (int, str)) else tuple(found)
        if self.with_value:
            return ((value, aux) if self.has_aux else value), found
        return (found, aux) if self.has_aux else found

    def _chosen(self, inputs: DifferentiatedInputs, args: Any, kwargs: Any) -> tuple[list[Any], Any, Any]:
        """The differentiated arguments, and all arguments with copies of these."""
        places = places_of(self, args, kwargs)
        everything: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        for place in places:
            everything[place] = inputs.of(everything[place])
        chosen = [everything[place] for place in places]
        return chosen, tuple(everything[at] for at in range(len(args))), {n: everything[n] for n in kwargs}


def _value_of(trace: Trace, variable: Any, name: str) -> Any:
    """The array of a variable to differentiate in."""
    value = trace.context.environment.array(variable.value)
    if not is_differentiable(value):
        raise DerivativeError(
            f"the gradient of {name} is asked for in a variable that holds something {described(value)}, but only "
            "floats and complex numbers have gradients: leave it out of wrt="
        )
    return value


class Differentiated:
    """A traced computation, of which gradients can be recorded.

    Args:
        start: where in the block that is open it begins; it ends where the block ends now.
        chosen: a structure of the proxies to differentiate in.
        result: its result.
        constant: nodes whose results count as constants.
        place: the place of the function in the user's program, for errors.
    """

    def __init__(
        self,
        trace: Trace,
        start: int,
        chosen: Any,
        result: Any,
        constant: Collection[Node] = (),
        place: tuple[str, int] | tuple[()] = (),
    ) -> None:
        self._trace = trace
        self._chosen = chosen
        self._block = trace.block
        self._nodes = trace.block.nodes[start:]
        self.result = result
        self._constant = constant
        self._place = place

    def gradients(self, outputs: Any, cotangents: Any) -> Any:
        """Record the gradients of the chosen inputs, from cotangents of outputs.

        Args:
            outputs: a part of the result.
            cotangents: the gradients of its leaves, in the same structure.
        """
        trace = self._trace
        if not trace.has(self._block):
            raise DerivativeError("gradients are asked for of what was computed in a branch or loop that has ended")
        inputs = [trace.use(leaf) for leaf in pytree.flatten(self._chosen) if is_tensor(leaf)]
        pairs = _pairs(outputs, cotangents)
        found = {}
        if self._nodes:
            start = self._block.nodes.index(self._nodes[0])
            end = self._block.nodes.index(self._nodes[-1]) + 1
            given = [(trace.use(leaf), cotangent) for leaf, cotangent in pairs if is_tensor(leaf)]
            constant = {*self._constant, *trace.called_methods}
            reverse = Reverse(trace, self._block, start, end, inputs, given, constant, self._place)
            reverse.run()
            found = {value: reverse.gradient(value) for value in inputs}
        else:
            for leaf, cotangent in pairs:
                if is_tensor(leaf) and trace.use(leaf) in inputs:
                    found[trace.use(leaf)] = cotangent
        return pytree.map(lambda leaf: self._found(found, leaf), self._chosen)

    def _found(self, found: dict[Any, Any], leaf: Any) -> Any:
        trace, value = self._trace, self._trace.use(leaf)
        if value not in found and isinstance(leaf._ag_value.type, ObjectType):
            return trace.record("gradient_in", (trace.record("shadow_of", (leaf,)), leaf))
        return like(trace, found.get(value, 0.0), leaf)

    def forget(self) -> None:
        """Let passes drop operations that only the unused value needs, with their warnings."""
        for node in self._nodes:
            node.own = node.own or only_warns(node)


def _pairs(outputs: Any, cotangents: Any) -> list[tuple[Any, Any]]:
    """The leaves of a result with their cotangents; the cotangent of a list that an op returned is a structure."""
    found = []
    rest = [(outputs, cotangents, "")]
    while rest:
        output, cotangent, path = rest.pop()
        kind, given = pytree.kind_of(output), pytree.kind_of(cotangent)
        if kind is None:
            if given is not None and not (is_tensor(output) and isinstance(output._ag_value.type, ObjectType)):
                raise _misfit(output, cotangent, path)
            found.append((output, cotangent))
            continue
        parts = kind.children(output)
        others = given.children(cotangent) if given is not None else {}
        if parts.keys() != others.keys():
            raise _misfit(output, cotangent, path)
        rest += [(part, others[key], path + kind.step(key)) for key, part in parts.items()][::-1]
    return found


def _misfit(outputs: Any, cotangents: Any, path: str) -> DerivativeError:
    form = {True: "one array or number", False: f"a structure of {len(pytree.flatten(outputs))}"}[is_tensor(outputs)]
    other = f"{len(pytree.flatten(cotangents))} in a {type(cotangents).__name__}"
    return DerivativeError(
        f"the function gives {form}{f' at {path}' if path else ''}, but {other} were given as its gradients: give them "
        "in the form of the result"
    )


@on_behalf
def check_callable(function: Any) -> None:
    """Check that the object to differentiate is a function."""
    if is_tensor(function):
        function._ag_trace.needs(function, "to be differentiated")
    if not callable(function):
        raise TypeError(f"what is differentiated is a function, not {function!r}")


@on_behalf
@calls_programs
def traced(trace: Trace, function: Callable[..., Any], chosen: Any, args: Any, kwargs: Any) -> Differentiated:
    """Trace a call of a function, to be differentiated in the chosen inputs as they are before the call."""
    trace.callbacks.differentiate()
    start, chosen = len(trace.block.nodes), pytree.map(lambda leaf: leaf, chosen)
    result = trace.context.calls.replacement(function)(*args, **kwargs)
    return Differentiated(trace, start, chosen, result, place=place_of(function))


class Pullback(OnlyTraced):
    """The pullback of a function, within the trace of the function."""

    def __init__(self, differentiated: Differentiated, outputs: Any) -> None:
        super().__init__(lambda cotangents: tuple(differentiated.gradients(outputs, cotangents)))


def traced_vjp(trace: Trace, function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """`ag.vjp` in a trace."""
    check_callable(function)
    name = name_of(function)
    inputs = DifferentiatedInputs(trace, name)
    chosen = [inputs.of(primal) for primal in primals]
    differentiated = traced(trace, function, chosen, chosen, {})
    inputs.give_back()
    if not has_aux:
        return differentiated.result, Pullback(differentiated, differentiated.result)
    value, aux = split(differentiated.result, name)
    return value, Pullback(differentiated, value), aux


def traced_jvp(trace: Trace, function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """`ag.jvp` in a trace: the reverse of the reverse, which is linear in its cotangents."""
    check_callable(function)
    trace.callbacks.differentiate()
    start, inputs = len(trace.block.nodes), DifferentiatedInputs(trace, name_of(function))
    chosen = [inputs.of(primal) for primal in primals]
    before = pytree.map(lambda leaf: leaf, chosen)
    value = trace.context.calls.replacement(function)(*chosen)
    parts = pytree.map(lambda leaf: _parts(trace, leaf), value)
    seeds = itertools.count()
    begin = pytree.map(lambda leaf: _some_gradient(trace, leaf, next(seeds)), parts)
    place = place_of(function)
    pulled = Differentiated(trace, start, before, parts, place=place).gradients(parts, begin)
    tangent = Differentiated(trace, start, begin, pulled, place=place).gradients(pulled, list(tangents))
    inputs.give_back()
    return value, pytree.map(lambda found, leaf: like(trace, found, leaf), tangent, parts)


def _parts(trace: Trace, leaf: Any) -> Any:
    """The items of a tuple that an op returned; other leaves as they are."""
    type = leaf._ag_value.type if is_tensor(leaf) else None
    if not isinstance(type, ObjectType) or not type.items:
        return leaf
    return tuple(_parts(trace, part) for part in unpack(trace, leaf, len(type.items)))


def _some_gradient(trace: Trace, leaf: Any, seed: int) -> Any:
    """An arbitrary cotangent of the class of a leaf.

    The numbers do not matter, but neither they nor their sums are zero, so that blanks refuse them.
    """
    type = leaf._ag_value.type if is_tensor(leaf) else None
    if isinstance(type, TensorType) and type.kind != "array" and not type.shape:
        return _number(trace, some_gradient(np.zeros((), type.dtype), seed), type)
    return trace.record("bound", (0.0,)) if type is None else trace.record("some_gradient", (leaf, seed))


def traced_stop(trace: Trace, value: Any) -> Any:
    """`ag.stop_gradient` in a trace."""
    return pytree.map(lambda leaf: trace.record("stop_gradient", (leaf,)) if is_tensor(leaf) else leaf, value)


def _one(trace: Trace, value: Any, name: str) -> Any:
    """The cotangent 1 of a number, of its class, on which the behavior of a division by zero depends.

    Args:
        name: of the function that has returned it, for errors.
    """
    type = value._ag_value.type if is_tensor(value) else None
    if isinstance(type, TensorType) and type.exact:
        return _number(trace, np.ones((), type.dtype), type)
    if type is None:
        return trace.record("bound", (1.0,))
    return trace.record("fit", (1.0, value)) if isinstance(type, TensorType) else trace.record("one_in", (value, name))


def _number(trace: Trace, value: Any, type: TensorType) -> Any:
    """A constant as a Python number or NumPy scalar, as the type says."""
    return trace.record("bound", (value.item() if type.kind == "python" else value[()],))


def like(trace: Trace, gradient: Any, leaf: Any) -> Any:
    """A gradient as a number or array of the class of its leaf."""
    type = trace.use(leaf).type if is_tensor(leaf) else TensorType(np.dtype(float), (), "python")
    if isinstance(type, TensorType) and type.kind == "python" and not type.exact:  # a float or a complex number
        return trace.record("gradient_in", (trace.record("fit", (gradient, leaf)), leaf))
    if isinstance(type, TensorType) and type.kind == "python":
        return trace.record("complex" if type.dtype.kind == "c" else "float", (gradient,))
    if isinstance(type, ObjectType) or (is_tensor(gradient) and gradient._ag_value.type == type):
        return gradient
    return trace.record("fit", (gradient, leaf))


# The request ----------------------------------------------------------------------------------------------------------


def places_of(asked: Derivative, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[int | str]:
    """The positions or names of the differentiated arguments."""
    wanted: Sequence[int | str] = [asked.argnums] if isinstance(asked.argnums, (int, str)) else asked.argnums
    if not isinstance(wanted, (list, tuple, range)):
        raise DerivativeError(f"argnums= takes a position or name of an argument, or several, not {wanted!r}")
    names = [parameter.name for parameter in parameters_of(asked.function)]
    found: list[int | str] = []
    for each in wanted:
        place: int | str = each
        if isinstance(each, str) and each not in kwargs and each in names[: len(args)]:
            place = names.index(each)
        elif isinstance(each, int):
            place = each + len(args) if each < 0 else each
        if not (place in kwargs if isinstance(place, str) else 0 <= place < len(args)):
            raise DerivativeError(
                f"the gradient of {name_of(asked.function)} is asked for in argument {each!r}, but the call has "
                f"{len(args)} positional arguments{' and ' + ', '.join(kwargs) if kwargs else ''}"
            )
        found.append(place)
    return found


def split(result: Any, name: str) -> tuple[Any, Any]:
    """The differentiated part of a result, and the auxiliary part."""
    if not isinstance(result, tuple) or len(result) != 2:
        raise DerivativeError(f"{name} must return a pair with has_aux=True: the value to differentiate, and the rest")
    return result


def check_scalar(value: Any, name: str, place: tuple[str, int] | tuple[()]) -> None:
    """Check that a function returned one float."""
    if is_tensor(value):
        type = value._ag_value.type
        if has_gradient(type) and not (isinstance(type, TensorType) and type.shape):
            return
    elif isinstance(value, (float, complex, np.floating)):
        return
    raise DerivativeError(
        f"the gradient is asked for of {name}, which returns something {described(value)}; it must return one float. "
        "Sum the result, or use ag.vjp for the gradients of several numbers", *place
    )
