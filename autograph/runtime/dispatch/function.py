"""`ag.function`: a function that is traced, once for each signature, and then runs as a graph.

A call goes to the dispatcher (`dispatcher.py`), which looks up the entry of a trace (`trace_entry.py`) by the key of
the arguments (`arguments.py`). If there is none, the specializer (`specialize.py`) makes one.
"""

from __future__ import annotations

import copy
import functools
import inspect
import sys
import weakref
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, cast, overload

from autograph.common.bytecode import looks_at_frames
from autograph.common.call_counter import with_code
from autograph.common.code_marks import is_switch, put_in_front, users_code
from autograph.common.method_views import MethodView
from autograph.errors import TracingError
from autograph.runtime.dispatch import pickling
from autograph.runtime.dispatch.arguments import arrange
from autograph.runtime.dispatch.compilation import Hooks
from autograph.runtime.dispatch.concrete_function import ConcreteFunction, Lowered, pretty
from autograph.runtime.dispatch.dispatcher import make_binder, make_dispatcher, trampoline
from autograph.runtime.dispatch.explain import Report
from autograph.runtime.dispatch.input_signature import placeholders
from autograph.runtime.dispatch.options import FunctionOptions, check_options
from autograph.runtime.dispatch.random_tiers import make_tiers
from autograph.runtime.dispatch.specialize import Specializer
from autograph.runtime.dispatch.trace_cache import Trace
from autograph.runtime.dispatch.trace_entry import MISS
from autograph.runtime.dispatch.trace_report import report_on, takes_json
from autograph.runtime.graph.callables import may_look_at_caller, name_of, parameters_of, place_of
from autograph.runtime.profiling import recorder
from autograph.runtime.profiling.function_calls import measured
from autograph.runtime.tracing.state.staged_containers import StagedItems

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from autograph.runtime.graph_text.view import GraphView

P = ParamSpec("P")
Rest = ParamSpec("Rest")
R = TypeVar("R")

_MADE_OF = frozenset({"__code__", "__defaults__", "__kwdefaults__"})
_eager: list[bool] = []  # not empty while functions run as plain Python


class Function(Generic[P, R]):
    """A Python function that runs as a graph. It is called as the function is, and does what the function does.

    Attributes:
        python_function: the plain function.
    """

    __ag_staged__ = True

    # Calling an instance goes straight to the dispatcher in the slot, which changes with the policy.
    __slots__ = (
        *("__call__", "__dict__", "__weakref__", "python_function"),
        *("_bind", "_is_in_torch", "_options", "_parameters", "_reference", "_sources", "_specializer"),
        *("_front", "_front_code", "_tiers", "plainly"),
    )

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    def __init__(self, python_function: Callable[P, R], **options: Any) -> None:
        _check_stageable(python_function)
        self.python_function = python_function
        functools.update_wrapper(self, python_function)
        self._options = options
        self._front: weakref.ref[FunctionType] | None = None    # the function that has the code of this one
        self._front_code: CodeType | None = None    # of the user's that its code leads to
        self._sources: Any = None   # of an unpickled function: where the source of its helpers is
        self._begin()
        recorder.follow("functions", self)

    def _begin(self) -> None:
        """Forget all traces, and read the plain function as it is now."""
        function = self.python_function
        if self._sources is not None:
            pickling.put_in_files(function, self._sources)  # for helpers that were unpickled later than this
        self._is_in_torch = False
        self.plainly = Plainly(self)
        self._parameters = parameters_of(function)
        self._bind = make_binder(function, self._parameters)
        checked = check_options([p.name for p in self._parameters], **self._options)
        self._specializer = Specializer(
            name_of(function), function, self._parameters, self._bind, checked, self._dispatch
        )
        self._tiers = None
        if checked.is_tiered:
            made = self._specializer
            self._tiers = make_tiers(
                function, self._parameters, made, self._dispatch, self._dispatcher, self.plainly
            )
            self._specializer.tiers = self._tiers
            self._specializer.seconds_allowed = self._tiers.seconds_allowed
        self._dispatch()

    def __setattr__(self, name: str, value: Any) -> None:
        """Set code and defaults of the plain function, which is then staged anew."""
        if name not in _MADE_OF:
            object.__setattr__(self, name, self._measured(value) if name == "__call__" else value)
            if name == "__call__":
                self._exchange_code()
            return
        setattr(self.python_function, name, value)
        self._begin()

    def _dispatch(self) -> None:
        """Let calls run the plain function in tier 0, else a dispatcher that computes keys by the policy of now."""
        made = self._specializer
        if made.sourceless or self._looks_at_caller():  # it must find its caller's frame below its own
            self.__call__ = self.python_function  # type: ignore[method-assign]
            return
        if self._tiers is not None and self._tiers.is_resting:
            self.__call__ = self._undiverted if Hooks.active else self._tiers.call  # type: ignore[method-assign]
            return
        dispatcher = self._dispatcher(made.traces.find.get, made.inline_cache())
        self.__call__ = sys.modules["torch"].compiler.disable(dispatcher) if self._is_in_torch else dispatcher  # type: ignore[method-assign]

    def _dispatcher(self, find: Callable[..., Any], cached: Trace | None = None) -> FunctionType:
        """A dispatcher that finds entries by `find`, after it has tried the trace `cached`."""
        made, is_inner = self._specializer, self._front is not None
        names = {"active": Hooks.active, "eager": _eager, "divert": self._divert, "find": find, "slow": made.run}
        function, parameters = self.python_function, self._parameters
        return make_dispatcher(function, parameters, made.keyers(), names, cached, is_inner=is_inner)

    def _measured(self, call: Any) -> Any:
        """The implementation of a call, measured if there is a profile."""
        if type(call) is not FunctionType:
            return call     # the first call of an unpickled function, which is not complete yet, or one within a trace
        function: Any = self.python_function
        has_trampoline = type(function) is FunctionType and not is_switch(function)     # which has other parameters
        made = measured(self, call, Hooks.active, disguised=not has_trampoline)
        if made is call or self._front is not None or not has_trampoline:
            return made
        shown = with_code(function, trampoline(function, self._parameters, made))
        vars(shown)["__ag_measured__"] = made       # for code does not keep it alive
        return shown

    def _measure(self) -> None:
        """Let calls be measured while there is a profile."""
        if self.__call__ != self._first_call:
            self._dispatch()

    def _undiverted(self, *args: Any, **kwargs: Any) -> Any:
        """A call in tier 0 while traces are made: it may be a part of one."""
        tiers, result = self._tiers, self._divert(self._bind(*args, **kwargs))
        assert tiers is not None
        return tiers.call(*args, **kwargs) if result is MISS else result

    # As a Python function --------------------------------------------------------------------------------------------

    def as_function(self) -> Any:
        """A Python function that does what this does, with its attributes, for CPython calls those fastest.

        It changes its code with the tiers. This itself where there are no tiers, the code of a function cannot count
        its calls, or `torch.compile` may read it.
        """
        function, tiers = self.python_function, self._tiers
        if tiers is None or not tiers.counts_itself or Hooks.active or "torch" in sys.modules:
            return self
        front = with_code(cast("FunctionType", function), tiers.call.__code__)
        functools.update_wrapper(front, function)
        self._front, self._front_code = weakref.ref(front), function.__code__
        put_in_front(cast("FunctionType", function), front)
        views = {name: getattr(self, name) for name in _VIEWS}
        if _is_of_class(function):
            views |= {name: MethodView(views[name], self._in_front) for name in _OWN}
        vars(front).update(views, traces=TraceList(self), python_function=function, __ag_function__=self)
        self._dispatch()
        return front

    def _in_front(self) -> FunctionType | None:
        """The Python function in front of this, if there is one."""
        return None if self._front is None else self._front()

    def _exchange_code(self) -> None:
        """Let the Python function in front of this run the implementation of now."""
        try:
            found = object.__getattribute__(self, "_front")
        except AttributeError:      # this is being unpickled
            return
        front = None if found is None else found()
        if front is None:
            return
        code = users_code(front.__code__)
        if code is not self._front_code:    # the user has set it
            self._front_code = code
            self.__code__ = code
            return
        call: Any = self.__call__
        plain: Any = self.python_function
        has_code = call is plain or (self._tiers is not None and call is self._tiers.call)
        # in this order: after an interrupt in between, it is set again
        front.__code__ = call.__code__ if has_code else trampoline(plain, parameters_of(plain), call)
        self._front_code = users_code(front.__code__)

    def _looks_at_caller(self) -> bool:
        """Whether it looks at the frame of its caller, and so runs as plain Python, if the user allows that."""
        function, made = self.python_function, self._specializer
        if may_look_at_caller(function):
            return True
        allowed = made.specified is None and "plain" not in made.options.strict
        return allowed and type(function) is FunctionType and looks_at_frames(function)

    def _divert(self, values: tuple[Any, ...]) -> Any:
        """Run a call as plain Python, or as a part of the trace that is being made."""
        for value in values:
            if type(value) is StagedItems:         # the arguments of `f(*xs)`, of unknown number
                value._refuse()
        args, kwargs = arrange(self._parameters, values)
        if _eager:
            return self.python_function(*args, **kwargs)
        result = Hooks.inliner(self, args, kwargs) if Hooks.inliner is not None else NotImplemented
        return MISS if result is NotImplemented else result

    @property
    def __ag_inline__(self) -> Callable[P, R]:
        """The function that a trace which calls this one inlines."""
        return self.python_function

    @property
    def _torchdynamo_inline(self) -> Callable[P, R]:
        """The function that `torch.compile` compiles for a call of this; if it cannot, it calls this one."""
        if "torch._dynamo" not in sys.modules:
            raise AttributeError("_torchdynamo_inline")     # the attributes are being listed
        if not self._is_in_torch:
            self._is_in_torch = True
            self._dispatch()
        return self.python_function

    _torchdynamo_orig_callable = _torchdynamo_inline    # for `torch.compile` of this itself

    def with_options(self, **options: Unpack[FunctionOptions]) -> Function[P, R]:
        """The same function with some of its options changed; it has traces of its own.

        Args:
            options: those of `ag.function`.
        """
        return cast("Function[P, R]", Function(self.python_function, **{**self._options, **options}).as_function())

    # As a method ------------------------------------------------------------------------------------------------------

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Function[..., Any]: ...
    @overload
    def __get__(
        self: Function[Concatenate[Any, Rest], R], instance: object, owner: type | None = None
    ) -> Function[Rest, R]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else BoundFunction(self, instance)

    def __set_name__(self, owner: type, name: str) -> None:
        """Be a class method where `type` makes one of a function."""
        if name in ("__init_subclass__", "__class_getitem__"):
            setattr(owner, name, classmethod(cast("Any", self)))

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """FunctionType for `isinstance`, and so `inspect.isfunction`; its own class for a pickler."""
        return type(self) if sys._getframe(1).f_code.co_name == "reducer_override" else FunctionType

    def __getattr__(self, name: str) -> Any:
        """Other attributes of the plain function: `__defaults__`, `__code__` and so on."""
        if name in Function.__slots__:
            return self._completed(name)
        return getattr(self.python_function, name)

    def __repr__(self) -> str:
        count = len(self._specializer.traces)
        return f"<staged function {self._specializer.name}, {count} trace{'s' * (count != 1)}>"

    # Copies and pickles -----------------------------------------------------------------------------------------------

    def __copy__(self) -> Function[P, R]:
        return self     # as functions do

    def __deepcopy__(self, memo: Any) -> Function[P, R]:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return pickling.reduced(self, protocol, Hooks.tracer)

    def __setstate__(self, state: Any) -> None:
        """Restore a pickled function. The plain function may be empty yet, if it refers to this one."""
        self.python_function, self._options, attributes, self._sources, front = state
        self._front = None if front is None else weakref.ref(front)
        self._front_code = None if front is None else users_code(front.__code__)
        self._tiers = None
        pickling.put_in_files(self.python_function, self._sources)
        self.__dict__.update(attributes, __wrapped__=self.python_function)
        self.__call__ = self._first_call    # type: ignore[method-assign]
        recorder.follow("functions", self)

    def _first_call(self, *args: Any, **kwargs: Any) -> Any:
        self._begin()
        return self(*args, **kwargs)

    def _completed(self, name: str) -> Any:
        """Complete an unpickled function, which has only its state, at the first access."""
        if name == "_reference":
            self._reference = pickling.reference_to(self)
        elif name == "python_function":
            pickling.complete(self)
        else:
            self._begin()
        return object.__getattribute__(self, name)

    # Views of a call --------------------------------------------------------------------------------------------------

    def _trace(self, *args: Any, **kwargs: Any) -> Trace:
        """The trace for these arguments; if there are none, for those of the input signature, or of the only trace."""
        made = self._specializer
        if made.specified is not None and not kwargs and len(args) == bool(made.specified.owner):
            args = (*args, *made.specified.examples)
        try:
            values = self._bind(*args, **kwargs)
        except TypeError:
            if args or kwargs or len(self._specializer.traces) != 1:
                raise
            return self.traces[0]
        return made.trace_for(placeholders(values))

    def graph(self, *args: Any, **kwargs: Any) -> GraphView:
        """The optimized graph of a call with these arguments; a `TensorSpec` may stand for an array.

        Without arguments, here and in the methods below, the call is that of the input signature, or of the only trace.

        Args:
            args, kwargs: the arguments of the call.

        Raises:
            TracingError: such a call runs as plain Python.
        """
        from autograph.runtime.graph_text.view import GraphView  # only now: it takes its time

        trace = self._trace(*args, **kwargs)
        if trace.stopped:   # it may take longer now that the user asks for it
            self._specializer.traces.drop(trace)
            trace = self._trace(*args, **kwargs)
        if trace.graph is None:
            name = self._specializer.name
            raise TracingError(f"{name} has no graph for this call, for it runs as plain Python: {trace.plain}")
        return GraphView(trace.graph)

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """The code that the engine makes of the graph of such a call.

        Args:
            args, kwargs: the arguments of the call.
        """
        self.graph(*args, **kwargs)
        trace = self._trace(*args, **kwargs)
        return Lowered(trace.engine, trace.source, trace.executable.native)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Trace and compile such a call now, so that the first call need not wait; it does not run it.

        With `engine="auto"`, calls like this one run staged from now on, without being timed first.

        Args:
            args, kwargs: the arguments of the call; a `TensorSpec` may stand for an array.

        Raises:
            TracingError: such a call runs as plain Python.
        """
        self.lower(*args, **kwargs).to_llvm()
        if self._tiers is not None:
            self._tiers.compiled(self._trace(*args, **kwargs))

    @overload
    def explain(self, *args: Any, format: Literal["json"], **kwargs: Any) -> str: ...
    @overload
    def explain(self, *args: Any, **kwargs: Any) -> Report: ...
    def explain(self, *args: Any, **kwargs: Any) -> Report | str:
        """A report on such a call: how fast it is, what is staged and how, what is not, and why.

        Args:
            args, kwargs: the arguments of the call. With `format="json"`, unless that is an argument of the function,
                the report is a text for other programs.
        """
        is_json = takes_json(self._parameters, kwargs)
        report = report_on(self._specializer, self._trace(*args, **kwargs))
        return report.to_json() if is_json else report

    @property
    def traces(self) -> tuple[Trace, ...]:
        """The traces that are kept, in the order in which they were made.

        If all calls have run in tier 0 so far, it is one record, number 0, which tells why in `plain`.
        """
        found = tuple(sorted(self._specializer.traces, key=lambda trace: trace.number))
        untraced = self._tiers.untraced() if not found and self._tiers is not None else None
        return found if untraced is None else (untraced,)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """A function for calls of one signature: that of these arguments.

        Args:
            args, kwargs: the arguments of such a call; a `TensorSpec` may stand for an array.
        """
        return ConcreteFunction(self._specializer, self._bind, self._trace(*args, **kwargs))

    def pretty_printed_concrete_signatures(self) -> str:
        """The signatures for which there are traces, one below the other."""
        return "\n\n".join(pretty(self._specializer, trace) for trace in self.traces)

    def cache_clear(self) -> None:
        """Forget all traces, and the policy that they led to."""
        self._begin()


class Plainly:
    """A context in which calls of a staged function run the plain one, without a frame of this library in between.

    Other threads do so, too, meanwhile; if the function is traced meanwhile, calls come to its dispatcher again.
    """

    def __init__(self, function: Function[..., Any]) -> None:
        self._function = weakref.ref(function)
        self._entered: list[None] = []
        self._before: Any = None

    def __enter__(self) -> None:
        self._entered.append(None)
        function = self._function()
        if len(self._entered) > 1 or function is None:
            return
        front, plain = function._in_front(), function.python_function
        if front is not None:
            self._before, front.__code__ = front.__code__, plain.__code__
        else:
            self._before = function.__call__
            object.__setattr__(function, "__call__", plain)

    def __exit__(self, *error: object) -> None:
        self._entered.pop()
        function = self._function()
        if self._entered or function is None:
            return
        front, plain = function._in_front(), function.python_function
        if front is not None and front.__code__ is plain.__code__:
            front.__code__ = self._before
        elif front is None and function.__call__ is plain:
            object.__setattr__(function, "__call__", self._before)


class AlwaysStaged(Function[..., Any]):
    """A staged function that cannot run as plain Python, so it ignores `run_eagerly`."""

    def _divert(self, values: tuple[Any, ...]) -> Any:
        return super()._divert(values) if Hooks.active else MISS


class TraceList(Sequence[Trace]):
    """The traces of a staged function, those of now at each look."""

    def __init__(self, function: Function[..., Any]) -> None:
        self._function = function

    def __len__(self) -> int:
        return len(self._function.traces)

    def __getitem__(self, place: Any) -> Any:
        return self._function.traces[place]

    def __eq__(self, other: object) -> bool:
        return self._function.traces == (tuple(other) if isinstance(other, TraceList) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._function.traces)


def staged_function(function: Any) -> Function[..., Any] | None:
    """The staged function of which a Python function has the code; None for other functions."""
    found = vars(function).get("__ag_function__") if type(function) is FunctionType else None
    return found if found is not None and found._front is not None and found._front() is function else None


def _is_of_class(function: Any) -> bool:
    """Whether a function is defined in the body of a class."""
    around = function.__qualname__.rpartition(".")[0]
    return bool(around) and not around.endswith("<locals>")


# What a Python function has as attributes, in front of a staged one.
_VIEWS = (
    *("graph", "lower", "compile", "explain", "get_concrete_function", "pretty_printed_concrete_signatures"),
    *("cache_clear", "with_options"),
)
_OWN = ("graph", "lower", "compile", "explain", "get_concrete_function")


class BoundFunction(functools.partial):  # type: ignore[type-arg]
    # A staged function as a method of an object, which it passes as the first argument. It is a partial, since that
    # costs least. This is not a docstring, since the class shows the function's.

    __ag_staged__ = True

    @property
    def __func__(self) -> Function[Any, Any]:
        return cast("Function[Any, Any]", self.func)

    @property
    def __self__(self) -> Any:
        return self.args[0]

    @property
    def __wrapped__(self) -> Any:
        return MethodType(self.__func__.python_function, self.__self__)

    __ag_inline__ = __wrapped__

    @property
    def __doc__(self) -> Any:  # type: ignore[override]
        return self.func.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.func, name)
        return functools.partial(found, self.__self__) if name in _OWN else found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoundFunction):
            return NotImplemented
        return self.func is other.func and self.__self__ is other.__self__

    def __hash__(self) -> int:
        return hash((id(self.func), id(self.__self__)))

    def __repr__(self) -> str:
        return f"<bound staged function {self.__func__._specializer.name} of {self.__self__!r}>"

    __class__ = property(lambda self: MethodType)

    def __copy__(self) -> BoundFunction:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return BoundFunction(self.func, copy.deepcopy(self.__self__, memo))     # as methods do

    def __reduce__(self) -> Any:
        name = self.__func__.__name__
        is_method = getattr(self.__self__, name, None) == self
        return (getattr, (self.__self__, name)) if is_method else (BoundFunction, (self.func, *self.args))


_REFUSED = {
    inspect.iscoroutinefunction: ("a coroutine (async def)", "what it awaits"),
    inspect.isasyncgenfunction: ("an asynchronous generator", "what it yields"),
    inspect.isgeneratorfunction: ("a generator", "what it yields"),
}


def _check_stageable(entity: Any) -> None:
    name = name_of(entity)
    if isinstance(entity, type):
        raise TypeError(f"{name} is a class: decorate its methods with ag.function instead")
    if not callable(entity):
        raise TypeError(f"ag.function decorates functions, not {entity!r}")
    while isinstance(entity, functools.partial):
        entity = entity.func
    for test, (kind, part) in _REFUSED.items():
        if test(entity):
            place = place_of(entity)
            where = " ({}:{})".format(*place) if place else ""
            raise TypeError(
                f"{name}{where} is {kind}, which cannot be a graph: decorate a function that computes {part}"
            )


def run_eagerly(run: bool = True) -> None:
    """Let all staged functions run as plain Python from now on, to debug them; or as graphs again.

    Args:
        run: whether they run as plain Python.

    Example:
        >>> ag.run_eagerly(True)
        >>> ag.function(lambda x: x + 1)(1)
        2
        >>> ag.run_eagerly(False)
    """
    _eager[:] = [True] if run else []
