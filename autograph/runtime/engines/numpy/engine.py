"""The NumPy engine: compiles a graph to one plain function of Python and NumPy. It needs no other package.

The function does the same as the user's program, on the same objects and in the same order: operators are operators,
calls are calls, a `while` is a `while`. So it gives the same answers, and takes the time of such code written by hand.

    plan = Scheduler(graph).plan        decides which expressions are nested           `schedule`
    variables = Variables(plan)         lets values share variables, and names these   `coalescing`
    release_arrays(plan, variables)     deletes arrays that are no longer used         `releases`
    Expressions, Statements             write an `ast`, with nodes for line numbers    `expressions`, `statements`
    rotate_back, collect_lists, …       make it read and run better                    `ast_rewrites`
"""

from __future__ import annotations

import ast
import builtins
import itertools
import linecache
import marshal
import math
import re
import weakref
from collections.abc import Callable, Collection, Sequence
from functools import partial
from types import CodeType, FunctionType, TracebackType
from typing import Any

from autograph.common import disk_cache
from autograph.common.code_flags import codes_in
from autograph.common.parsing import parse
from autograph.common.printing.literals import Quoting
from autograph.common.printing.unparse import Unparser
from autograph.common.trace_rules import wants_full_tracebacks
from autograph.runtime.engines.numpy.ast_rewrites import collect_lists, limit_nesting, rotate_back
from autograph.runtime.engines.numpy.coalescing import Variables, is_usable
from autograph.runtime.engines.numpy.constants import Globals, StandIn
from autograph.runtime.engines.numpy.expressions import Expressions
from autograph.runtime.engines.numpy.instrument import BEGIN, FIRST, STUB, instrumented, originals, site_of
from autograph.runtime.engines.numpy.line_table import Marks, home, relocated
from autograph.runtime.engines.numpy.releases import release_arrays
from autograph.runtime.engines.numpy.schedule import Scheduler
from autograph.runtime.engines.numpy.statements import Statements
from autograph.runtime.engines.numpy.tracebacks import Known, known_at, node_at, survived, translate
from autograph.runtime.graph.graph import Graph, Place
from autograph.runtime.graph.signature import Checks, Event
from autograph.runtime.profiling import recorder

_numbers = itertools.count(1)
_NO_WORD = re.compile(r"\W")


class Outer:
    """The globals of a module of the user's, as trace files refer to them."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names


class Compiled:
    """A graph, compiled by an engine. It can be called.

    Attributes:
        run: the bare function. It takes the graph's parameters by position.
        native: its machine code, if the engine makes any.
        events: the report of the engine, for `explain`.
        short_calls: a trial of other code for short calls, if the engine makes any.
    """

    graph: Graph
    run: Callable[..., Any]
    native: Any = None
    short_calls: Any = None
    events: Sequence[Event] = ()

    def bind(self, names: dict[str, Any], name: str) -> None:
        """Bind a name to `run`, now and whenever the engine replaces that."""
        names[name] = self.run

    def checked(self, checks: Checks, miss: object) -> tuple[Callable[..., Any], Any] | None:
        """A function that checks the arguments of a call and runs the code, and its counter; None if there is none.

        Args:
            miss: what it returns if a check fails.
        """
        return None

    def translate(self, error: BaseException) -> None:
        """Show the user's functions in place of generated ones in the traceback of an error."""
        raise NotImplementedError

    def __call__(self, *args: Any) -> Any:
        try:
            return self.run(*args)
        except BaseException as error:
            self.translate(error)
            raise


@disk_cache.storable
class Executable(Compiled):
    """A graph as a function of Python and NumPy.

    Attributes:
        bound: the globals that others replace.
        filename: the file that it is shown in, if it has no place of the user's.
        module: the globals of the user's function.
    """

    bound: dict[str, Any]
    _instrumented: CodeType | None

    def __init__(
        self,
        graph: Graph,
        tree: ast.FunctionDef,
        names: dict[str, Any],
        marks: Marks,
        filename: str | None,
        module: dict[str, Any],
    ) -> None:
        self.graph = graph
        self.filename = filename
        self._tree: ast.FunctionDef | None = tree
        self._source: str | None = None
        self._marks = marks
        self.module = module
        self.bound = {}
        self._codes: dict[CodeType, CodeType] = {}
        self._set_run(self._relocated(self._compiled(tree)), names)

    def _set_run(self, code: CodeType, names: dict[str, Any]) -> None:
        builtin_names = {"__builtins__": builtins, **_of_warnings(self.module)}
        self._code, self._instrumented = code, None
        self.run = FunctionType(code, builtin_names | names)
        recorder.follow("graphs", self)

    def __getstate__(self) -> Any:
        """The parts that are saved on disk: all except the tree."""
        code = self._code
        names = {name: value for name, value in self.run.__globals__.items() if name not in _GIVEN}
        codes = marshal.dumps((code, self._codes.get(code)))
        return self.graph, codes, names | self.bound, self._marks, Outer(self.module)

    def __setstate__(self, state: Any) -> None:
        self.graph, codes, names, self._marks, self.module = state
        code, marked = marshal.loads(codes)
        self.filename = self._tree = self._source = None
        self.bound = {}
        self._codes = {} if marked is None else dict(zip(codes_in(code), codes_in(marked)))
        self._set_run(code, names)

    @property
    def source(self) -> str:
        """The text of the function."""
        if self._source is None:
            self._source = text_of(self._made_tree())
        return self._source

    def _made_tree(self) -> ast.FunctionDef:
        """The function as a tree, made again if this was on disk."""
        if self._tree is None:
            self._tree = compile(self.graph, module=self.module)._tree
            assert self._tree is not None
        return self._tree

    @property
    def codes(self) -> Collection[CodeType]:
        """The generated code that shows in tracebacks as the user's."""
        return self._codes.keys()

    @survived
    def translate(self, error: BaseException, around: Sequence[Known] = ()) -> None:
        """Show the user's functions in place of the generated one in the traceback of an error.

        Call it with an exception of `run`, before raising that again. It does nothing if the environment variable
        AUTOGRAPH_FULL_TRACEBACK is 1.

        Args:
            around: see `tracebacks.translate`.
        """
        if self._codes:
            translate(error, self._codes, self._marks, around)
        del error  # see `tracebacks.translate`

    def known_at(self, entry: TracebackType) -> Known:
        """See `tracebacks.known_at`."""
        return known_at(entry, self._codes, self._marks)

    def place_of(self, entry: TracebackType) -> Place:
        """The place of the node that an entry of a traceback is at."""
        node = node_at(entry, self._codes, self._marks)
        return node.place if node is not None else ()

    def _measure(self) -> None:
        """Time the nodes while there is a profile, from the next call on; see `instrument`."""
        is_timed = recorder.is_on("graphs") and not wants_full_tracebacks()
        self.run.__globals__[FIRST] = weakref.WeakMethod(self._first_timed)     # stays: threads may be about to call it
        self.run.__code__ = STUB if is_timed else self._code

    def _first_timed(self, *args: Any) -> Any:
        """The first call that is timed."""
        with recorder.unrecorded():
            if self._instrumented is None:
                self._instrumented = self._instrument()
        with recorder.lock:
            self.run.__code__ = self._instrumented if recorder.is_on("graphs") else self._code
        return self.run(*args)

    def _instrument(self) -> CodeType:
        """Code that times the nodes."""
        marked = self._compiled(instrumented(self._made_tree(), self._marks))
        if self._code in self._codes:
            for one, other in zip(codes_in(marked), codes_in(self._codes[self._code])):
                originals.put(one, other)
        self.run.__globals__[BEGIN] = partial(recorder.begin_graph, site_of(self.graph, self._marks, marked))
        return self._relocated(marked)

    def _compiled(self, tree: ast.FunctionDef) -> CodeType:
        """The code of the function, with marks for lines."""
        if wants_full_tracebacks():
            return _code_of(builtins.compile(self.source, self._register(tree.name), "exec"))
        function = home(self._marks)
        filename = self._register(tree.name) if function is None else function.co_filename
        return _code_of(builtins.compile(ast.Module([tree], []), filename, "exec"))     # which has the very constants

    def _relocated(self, marked: CodeType) -> CodeType:
        """The same code with the user's lines."""
        function = home(self._marks)
        if function is None or wants_full_tracebacks():
            return marked
        code = relocated(marked, self._marks, function)
        self._codes |= dict(zip(codes_in(code), codes_in(marked)))
        return code

    def _register(self, name: str) -> str:
        """Let debuggers and tracebacks find the text. Returns the name by which they do."""
        filename = self.filename or f"<autograph {name} {next(_numbers)}>"
        lines = self.source.splitlines(keepends=True)
        linecache.cache[filename] = len(self.source), None, lines, filename
        weakref.finalize(self, linecache.cache.pop, filename, None)
        return filename


def compile(graph: Graph, *, module: dict[str, Any] | None = None, filename: str | None = None) -> Executable:
    """Compile a graph.

    Args:
        module: the globals of the user's function; Python and NumPy warn in the name of its module.
        filename: the name by which debuggers and tracebacks find the generated text, if they show it.
    """
    plan = Scheduler(graph).plan
    variables = Variables(plan)
    release_arrays(plan, variables)
    constants = Globals(variables.names)
    expressions = Expressions(plan, variables, constants)
    body = Statements(expressions).body(plan.body)
    if body and isinstance(body[-1], ast.Return) and body[-1].value is None:
        body.pop()
    params = [variables.name(param) for param in plan.params]
    tree = _function(_function_name(graph.name), params, body or [ast.Pass(**expressions.at)])
    rotate_back(tree)
    limit_nesting(tree, expressions.at)
    collect_lists(tree, expressions.marks)
    return Executable(graph, tree, constants.values, expressions.marks, filename, module or {})


_GIVEN = frozenset({"__builtins__", "__name__", "__warningregistry__", BEGIN, FIRST})


def _of_warnings(module: dict[str, Any]) -> dict[str, Any]:
    """The globals that `warnings` uses: the name of the module, and its registry of warnings."""
    if "__name__" not in module:
        return {}
    return {"__name__": module["__name__"], "__warningregistry__": module.setdefault("__warningregistry__", {})}


def _function(name: str, params: list[str], body: list[ast.stmt]) -> ast.FunctionDef:
    (function,) = parse(f"def {name}({', '.join(params)}): pass").body
    assert isinstance(function, ast.FunctionDef)
    function.body = body
    return function


def _function_name(name: str) -> str:
    found = _NO_WORD.sub("_", name.rpartition(".")[2])
    return found if is_usable(found) else "function"


def _code_of(module: CodeType) -> CodeType:
    """The code of the only function that a module defines."""
    return next(each for each in module.co_consts if isinstance(each, CodeType))


# Text -----------------------------------------------------------------------------------------------------------------

_DOUBLE_QUOTES = Quoting(preferred='"')


def text_of(function: ast.FunctionDef) -> str:
    """The text of a function."""
    printer = _Printer(_DOUBLE_QUOTES)
    printer.dispatch(function)
    return printer.text()[1:] + "\n"


class _Printer(Unparser):
    def part(self, owner: Any, field: str, node: Any) -> None:
        if field in ("target", "targets") and isinstance(node, ast.Tuple) and len(node.elts) == 1:
            super().part(owner, field, node.elts[0])
            self.write(",")
        else:
            super().part(owner, field, node)

    def place(self, node: Any, level: int) -> None:
        super().place(_shown(node), level)


def _shown(tree: ast.expr) -> ast.expr:
    """The expression that the printer writes for a part of the tree."""
    if isinstance(tree, StandIn):
        return _shown(tree.shown)
    value = tree.value if isinstance(tree, ast.Constant) else None
    if isinstance(value, float) and not math.isfinite(value):
        return _call("float", repr(value))
    if isinstance(value, complex) and (repr(value)[0] in "(-" or "inf" in repr(value) or "nan" in repr(value)):
        return _call("complex", str(value).strip("()"))
    return tree


def _call(name: str, text: str) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), [ast.Constant(text)], [])
