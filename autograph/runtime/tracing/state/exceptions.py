"""Exceptions during a trace: the graph raises those of the user's code; others are bugs of this library.

Code that is not staged may raise because it was handed a proxy: then the function runs as plain Python.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from autograph.common.budget import BudgetSpent
from autograph.common.bytecode import instruction_at
from autograph.common.code_marks import is_body
from autograph.common.messages import UNBOUND_FREE, UNBOUND_LOCAL
from autograph.common.statics import is_a
from autograph.common.trace_rules import is_own_class
from autograph.errors import AutographError
from autograph.runtime.graph.graph import Place
from autograph.runtime.graph.object_model import set_attribute
from autograph.runtime.tracing.proxies.graph_break import WHOLE, Diverged, Raised, Restart, Signal, handled
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.blame import INSTALLED, check_not_own, entries, has_wrong_arguments, is_library
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import Fallback, attributes, fields


def run_or_raise(trace: Trace, body: Callable[[], Any], outermost: bool = False) -> Any:
    """The result of `body`. If it raises, the graph raises, and the block that is being traced ends there.

    Args:
        outermost: whether `body` is the traced function itself.
    """
    try:
        return body()
    except AutographError:
        raise
    except RecursionError:
        trace.graph_break("its recursion, or a nested structure, is too deep to be traced")
    except Raised as error:
        handled(error)
        raise_in_graph(trace, error)
    except Exception as error:
        check_not_raised_again(trace, error)
        check_not_own(error)
        check_not_about_proxies(trace, error)
        check_not_handling(trace, error)
        ends_iteration = (StopIteration, IndexError) if "__getitem__" in trace.special_calls else StopIteration
        if isinstance(error, ends_iteration) and not outermost:
            trace.graph_break("the end of an iteration is known only when the program runs")
        raise_in_graph(trace, error if outermost else _named_like_python(error))
    except BaseException as error:
        if (signal := _signal_in(error)) is not None:
            raise signal from None
        raise


def _signal_in(error: BaseException) -> BaseException | None:
    """The signal that a handler of `except*` has raised, which Python puts into a group with what is not handled."""
    if sys.version_info >= (3, 11) and isinstance(error, BaseExceptionGroup):  # noqa: F821
        for each in error.exceptions:
            if isinstance(each, (Signal, BudgetSpent)):
                return each
            if (found := _signal_in(each)) is not None:
                return found
    return None


def _named_like_python(error: Exception) -> Exception:
    """The error of Python for an unbound variable: it is local to the user's function, but free in a body."""
    place = _raised_by(error)
    if type(error) is not NameError or not place or not is_body(place[0][0]):
        return error
    if str(error) != UNBOUND_FREE.format(error.name) or _in_comprehension():
        return error
    return UnboundLocalError(UNBOUND_LOCAL.format(error.name)).with_traceback(error.__traceback__)


def _in_comprehension() -> bool:
    """Whether a part of a comprehension is being traced: there, the variables of the function are really free."""
    frame: FrameType | None = sys._getframe(1)
    while sys.version_info < (3, 12) and frame is not None and (is_library(frame.f_code) or is_body(frame.f_code)):
        if frame.f_code.co_name in _COMPREHENSIONS and is_library(frame.f_code):
            return True
        frame = frame.f_back
    return False


_COMPREHENSIONS = frozenset({"list_comp", "set_comp", "dict_comp"})
UNPACKING = frozenset({"UNPACK_SEQUENCE", "UNPACK_EX"})


def check_not_about_proxies(trace: Trace, error: Exception) -> None:
    """Check that an error is not the complaint of code that is not staged about a proxy.

    Raises:
        Plain: it is.
        Restart: the second version of the code would stage the operation.
        Signal: code written in C has replaced this signal by the error.
    """
    if isinstance(error.__cause__, Signal):
        raise error.__cause__
    if trace.last_needed is not None and _raised_by(error) == trace.last_needed.place[-1:]:
        raise trace.last_needed
    texts = [part for part in error.args if type(part) is str]
    if trace.staged_items and type(error) is ValueError and _instruction(error)[0] in UNPACKING:
        trace.graph_break("the number of items to unpack is known only when the program runs")
    about_proxies = isinstance(error, (TypeError, AttributeError)) and any(map(_PROXIES.search, texts))
    is_by_statement = _instruction(error)[0] in ("RAISE_VARARGS", "RERAISE")
    is_by_c = type(error) in (TypeError, AttributeError) and not (is_by_statement or has_wrong_arguments(error))
    if about_proxies and _instruction(error)[0] == "CONTAINS_OP" and not trace.context.whole:    # `letter in "abc"`
        raise Restart({WHOLE})
    if about_proxies or is_by_c or _is_by_library_with_proxy(error):
        complaint = _PROXIES.sub("a staged value", str(error))
        trace.graph_break(f"code that is not staged cannot take a staged value ({complaint})")


def _is_by_library_with_proxy(error: BaseException) -> bool:
    """Whether a function of a library that is not staged has raised an error, and has a proxy in a variable."""
    frame = [entry.tb_frame for entry in entries(error)][-1]
    is_installed = frame.f_code.co_filename.startswith(INSTALLED) and not isinstance(frame.f_globals, Fallback)
    return is_installed and any(map(is_tensor, frame.f_locals.values()))


def _instruction(error: BaseException) -> tuple[str, int]:
    """The name and argument of the program's instruction that raised an error; ("", 0) if none did."""
    for code, at in _raised_by(error):
        return instruction_at(code, at)
    return "", 0


def _raised_by(error: BaseException) -> Place:
    """The place of the program's instruction that raised an error."""
    place = tuple((entry.tb_frame.f_code, entry.tb_lasti) for entry in entries(error))
    return next(((each,) for each in reversed(place) if not is_library(each[0])), ())


def check_not_raised_again(trace: Trace, error: BaseException) -> None:
    """Check that no `raise` without an exception raises the one that the function's caller handles.

    Raises:
        Plain: one does, or would if there were such an exception.
    """
    is_bare = type(error) is RuntimeError and _instruction(error) == ("RAISE_VARARGS", 0)
    if is_bare or error is trace.location.handled_by_caller:
        trace.graph_break("it raises again the exception that its caller handles")


def check_not_handling(trace: Trace, error: BaseException) -> None:
    """Check that no exception is raised while another one is handled, which would be its context.

    Raises:
        Plain: one is.
    """
    context = error.__context__
    while context is not None and (is_own_class(type(context)) or context is trace.location.handled_by_caller):
        context = context.__context__
    if context is not None:
        trace.graph_break(f"{type(error).__name__} is raised while another exception is handled")


_CLASSES = "Tensor StagedItems Method Recorded Mutator ContainerRef ObjectRef Generated ModuleView"
_PROXIES = re.compile(rf"'?\b({'|'.join(_CLASSES.split())})\b'?")


def raise_in_graph(trace: Trace, error: Any) -> Any:
    """Record that `error` is raised, after the write-back of all changes.

    Raises:
        Diverged: always.
    """
    trace.context.leave()
    record_raise(trace, error)
    raise Diverged


def record_raise(trace: Trace, error: Any) -> None:
    """Record that `error`, an exception or a class of exceptions, is raised."""
    place = _raised_at(trace, error)
    count = len(trace.block.nodes)
    made = _raisable(trace, error)
    kwargs = {}
    if getattr(error, "__suppress_context__", False):  # there was a `from`
        kwargs["cause"] = None if error.__cause__ is None else _raisable(trace, error.__cause__)
    trace.record("raise", (made,), kwargs)
    if kwargs and _instruction(error) == ("RAISE_VARARGS", 2):  # other paths do not set the cause
        error.__cause__, error.__suppress_context__ = None, False
    for node in trace.block.nodes[count:] if place else ():
        node.place = place


def _raisable(trace: Trace, error: Any) -> Any:
    """The value of the graph for an exception like `error`."""
    if isinstance(error, Raised):
        return error.exception if is_tensor(error.exception) else _raisable(trace, error.exception)
    if isinstance(error, type):
        return trace.record("call", (error,))
    state = {name: value for name, value in state_of(error).items() if name not in _OF_CAUSE}
    if type(error).__init__ in _PLAIN_INITS and not state:
        return trace.record("call", (type(error), *error.args))
    return trace.record("call", (remake, type(error), error.args, state))


_OF_CAUSE = frozenset({"__cause__", "__suppress_context__"})  # `raise … from` sets them
_PLAIN_INITS = frozenset(
    kind.__init__ for kind in (BaseException, Exception, ValueError, KeyError, OSError, StopIteration)
)


def state_of(error: BaseException) -> dict[str, Any]:
    """The attributes of an exception besides its arguments."""
    found = fields(error)
    found.pop("args", None)
    is_as_made = all(value is None or value is False for value in found.values()) and not is_a(error, OSError)
    return {**({} if is_as_made else found), **attributes(error)}


def remake(kind: Any, args: tuple[Any, ...], state: dict[str, Any]) -> BaseException:
    """Make an exception like the one that was raised while tracing."""
    error: BaseException = kind.__new__(kind, *args)
    error.args = args
    for name, value in state.items():
        set_attribute(error, name, value)
    return error


def _raised_at(trace: Trace, error: Any) -> Place:
    """The place of an exception that has been raised before; () if it is raised here."""
    passed = entries(error) if isinstance(error, BaseException) else ()
    places = [(entry.tb_frame.f_code, entry.tb_lasti) for entry in passed]
    found = [place for place in places if not is_library(place[0])]
    outer = trace.place()
    around = [code for code, _ in outer]
    if found and found[0][0] in around:  # the traceback begins in a frame that is still running
        outer = outer[: around.index(found[0][0])]
    return (*outer, *found) if found else ()
