"""A staged function for one signature only; and the code of a graph, to read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autograph.errors import SignatureError, TracingError
from autograph.runtime.dispatch.arguments import read
from autograph.runtime.dispatch.input_signature import misfit
from autograph.runtime.dispatch.specialize import Specializer
from autograph.runtime.dispatch.trace_cache import Trace
from autograph.runtime.dispatch.trace_entry import MISS
from autograph.runtime.graph.graph import Graph, Value, types_in
from autograph.runtime.graph.signature import Dynamic
from autograph.runtime.graph.types import MaybeUnbound, ObjectType, TensorType

if TYPE_CHECKING:
    from autograph.runtime.graph_text.view import GraphView


class ConcreteFunction:
    """Runs calls of one signature; other calls are errors.

    Attributes:
        signature: of the arguments that it takes.
        trace: the trace that runs.
    """

    __ag_staged__ = True

    def __init__(self, specializer: Specializer, bind: Callable[..., tuple[Any, ...]], trace: Trace) -> None:
        self._specializer = specializer
        self._bind = bind
        self.trace = trace
        self.signature = trace.signature
        self.__name__ = self.__qualname__ = specializer.name
        self.__wrapped__ = specializer.function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self._bind(*args, **kwargs)
        signature, reading = read(self._specializer.parameters, values, self._specializer.policy)
        problem = misfit(self.signature, signature)
        if problem:
            raise SignatureError(
                f"this is {self._specializer.name} for ({self.signature}) only, but in this call {problem}. "
                f"Call {self._specializer.name} itself, which takes anything, or get a concrete function for these"
            )
        if reading.sharing == self.trace.sharing:
            result = self.trace.entry(*values)
            if result is not MISS:
                return result
        self.trace = self._specializer.trace_for(values, (self.trace.key, self.signature))  # a guard does not hold now
        return self.trace.entry(*values)

    @property
    def graph(self) -> GraphView:
        """The optimized graph, to look at.

        Raises:
            TracingError: this signature runs as plain Python.
        """
        from autograph.runtime.graph_text.view import GraphView  # only now: it takes its time

        return GraphView(self._graph)

    @property
    def _graph(self) -> Graph:
        if self.trace.graph is None:
            raise TracingError(f"{self!r} has no graph, for it runs as plain Python: {self.trace.plain}")
        return self.trace.graph

    @property
    def inputs(self) -> list[Value]:
        """The graph's parameters."""
        return self._graph.params

    @property
    def outputs(self) -> list[Value]:
        """The values in the result of the graph, in order."""
        return self._graph.block.result_values

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """`(args, kwargs)` with the type of each staged leaf, and the value of each static one."""
        leaves = self.signature.leaves
        return self.signature.fill([leaf.type if isinstance(leaf, Dynamic) else leaf.value for leaf in leaves])

    @property
    def structured_outputs(self) -> Any:
        """The structure that the graph returns, with types in place of values."""
        return _outputs(self._graph)

    def __repr__(self) -> str:
        return f"<{self._specializer.name} for ({self.signature})>"

    def __str__(self) -> str:
        return pretty(self._specializer, self.trace)


def pretty(specializer: Specializer, trace: Trace) -> str:
    """A signature for people to read: parameters and results."""
    lines = [f"{specializer.name}({', '.join(p.name for p in specializer.parameters)})"]
    staged = [f"    {path}: {leaf}" for path, leaf in trace.signature.dynamic]
    fixed = [f"    {path} = {leaf}" for path, leaf in trace.signature.static]
    for heading, described in (("staged", staged), ("static", fixed)):
        if described:
            lines += [f"  {heading}:", *described]
    return "\n".join([*lines, "  returns:", f"    {_returns(trace)}"])


def _returns(trace: Trace) -> str:
    if trace.graph is None:
        return f"the result of the plain function: {trace.plain}"
    return "nothing, as it always raises" if trace.graph.block.results is None else _text(_outputs(trace.graph))


def _outputs(graph: Graph) -> Any:
    results = graph.block.results
    return None if results is None else types_in(results[0])


def _text(part: Any) -> str:
    if type(part) is tuple:
        return f"({', '.join(map(_text, part))}{',' * (len(part) == 1)})"
    if type(part) is list:
        return f"[{', '.join(map(_text, part))}]"
    if type(part) is dict:
        return f"{{{', '.join(f'{key!r}: {_text(value)}' for key, value in part.items())}}}"
    return str(part) if isinstance(part, (TensorType, ObjectType, MaybeUnbound)) else repr(part)


class Lowered:
    """The code that an engine made of a graph. `print` shows all of it.

    The machine code of a loop is made when it is first run, or asked for here; that of the engine "auto", which waits
    until it pays, only shows once it is there.

    Attributes:
        engine: its name.
        source: the text of the Python function that runs, in which loops of machine code are calls.
    """

    def __init__(self, engine: str, source: str, native: Any = None) -> None:
        self.engine = engine
        self.source = source
        self._native = native

    def to_llvm(self, places: bool = False) -> str:
        """The machine code of its loops, if the engine makes any, as LLVM's assembly.

        Args:
            places: write the user's lines above the code that comes from them.
        """
        return self._code("llvm", places)

    def to_asm(self, places: bool = False) -> str:
        """The same, as the processor's assembly."""
        return self._code("asm", places)

    llvm, asm = property(to_llvm), property(to_asm)

    def _code(self, form: str, places: bool) -> str:
        if self._native is None:
            return ""
        self._native.prepare()
        return str(self._native.annotated(form) if places else getattr(self._native, form))

    def __str__(self) -> str:
        code = self.to_llvm(places=True)
        return f"{self.source}\n{code}" if code else self.source

    def __repr__(self) -> str:
        return f"<lowered for the engine {self.engine}; print it to see the code>"
