"""A saved directory as a model: its functions by name, and what they take and return."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograph.runtime.graph.aliasing import aliasing_of
from autograph.runtime.graph.types import MaybeUnbound, TensorType
from autograph.runtime.graph_text.parser import ParseError, parse_type
from autograph.saving.contents import DEFAULTS, example_of, load_functions, signatures_of
from autograph.serving.values import Inputs

# TensorFlow's names of dtypes.
_DTYPES = {"float16": "DT_HALF", "float32": "DT_FLOAT", "float64": "DT_DOUBLE", "bool": "DT_BOOL"}
_DTYPES |= {f"{kind}{bits}": f"DT_{kind.upper()}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
_DTYPES |= {f"complex{bits}": f"DT_COMPLEX{bits}" for bits in (64, 128)}


class Model:
    """The functions of a saved directory, which threads may call at the same time.

    If a function changes variables or anything else around it, or prints, calls run one at a time.

    Args:
        directory: of `ag.save`.
        allow_callbacks, engine: as for `ag.load`.

    Attributes:
        contents: of the directory.
        functions: by their paths.
        is_pure: whether no function changes anything.
    """

    def __init__(
        self, directory: str | os.PathLike[str], allow_callbacks: Sequence[str] = (), engine: str | None = None
    ) -> None:
        self.contents, functions = load_functions(directory, allow_callbacks, engine)
        self.functions = {path: Inputs(path, function) for path, function in functions.items()}
        graphs = [each.fresh for function in functions.values() for each in signatures_of(function)]
        self.is_pure = not any(graph is not None and aliasing_of(graph).changes_outside() for graph in graphs)
        self._one_at_a_time: Any = contextlib.nullcontext() if self.is_pure else threading.Lock()

    def function(self, name: str | None = None) -> Inputs:
        """The function of a path, or the default one.

        Raises:
            LookupError: there is none; the message lists those that there are.
        """
        if name == DEFAULTS[0] and name not in self.functions:
            name = None
        return self.functions[self.contents.function(name).path]

    def call(self, inputs: Inputs, given: Mapping[str, Any], rows: bool = False) -> Any:
        """The result of a function.

        Args:
            given: the inputs by name, see `Inputs.arguments`.

        Raises:
            InputError: they do not fit.
        """
        args, kwargs = inputs.arguments(given, rows)
        function: Callable[..., Any] = inputs.function
        with self._one_at_a_time:
            return function(*args, **kwargs)

    def compile(self) -> None:
        """Trace and compile all signatures now, so that no call waits for that."""
        for inputs in self.functions.values():
            for number in range(len(signatures_of(inputs.function))):
                args, kwargs = example_of(inputs.function, number)
                inputs.function.compile(*args, **kwargs)

    def metadata(self) -> dict[str, Any]:
        """The signatures as TensorFlow Serving describes them."""
        found = {each.path: self._signature(each.path) for each in self.contents.functions}
        with contextlib.suppress(LookupError):
            found.setdefault(DEFAULTS[0], found[self.function().path])
        return found

    def _signature(self, path: str) -> dict[str, Any]:
        inputs = self.functions[path]
        call = next(each for each in self.contents.functions if each.path == path).calls[0]
        result = call.result
        if isinstance(result, list):
            result = {f"output_{place}": each for place, each in enumerate(result)}
        outputs = result if isinstance(result, dict) else {"output_0": result}
        return {
            "inputs": {name: _tensor(name, type) for name, type in inputs.calls[0].items()},
            "outputs": {name: _tensor(name, type) for name, type in outputs.items()},
            "method_name": "tensorflow/serving/predict",
            "calls": inputs.calls,      # all, where TensorFlow has one
        }


def _tensor(name: str, text: Any) -> dict[str, Any]:
    """The description of an input or output of a type."""
    found: Any = None
    with contextlib.suppress(ParseError):
        found = parse_type(str(text))
    found = found.inner if isinstance(found, MaybeUnbound) else found
    if not isinstance(found, TensorType):
        dtype = "DT_STRING" if text == "str" else "DT_VARIANT"
        return {"dtype": dtype, "tensor_shape": {"dim": [], "unknown_rank": True}, "name": name}
    dims = [{"size": str(-1 if length is None else length), "name": ""} for length in found.shape]
    dtype = _DTYPES.get(found.dtype.name, "DT_STRING")
    return {"dtype": dtype, "tensor_shape": {"dim": dims, "unknown_rank": False}, "name": name}
