"""Exceptions during a trace: the graph raises those of the user's code; others are bugs of this library.

Code that is not staged may raise because it was handed a proxy: then the function is run as plain Python.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from autograph.common.bytecode import instruction_at
from autograph.common.code_marks import is_body
from autograph.common.messages import UNBOUND_FREE, UNBOUND_LOCAL
from autograph.common.statics import is_a
from autograph.common.trace_rules import is_own_class
from autograph.errors import AutographError
from autograph.runtime.graph.graph import Place
from autograph.runtime.graph.object_model import set_attribute
from autograph.runtime.tracing.proxies.graph_break import Diverged, Plain, Raised, Signal, handled
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.blame import INSTALLED, check_not_own, entries, is_library, is_misfit
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import Fallback, attributes, fields


def run_or_raise(trace: Trace, body: Callable[[], Any], outermost: bool = False) -> Any:
    """What `body` returns. What it raises, the graph will raise: the tracing of the block ends there.

    Args:
        outermost: whether that is the function itself, rather than a piece of it.
    """
    try:
        return body()
    except AutographError:
        raise
    except RecursionError:
        raise too_deep(trace) from None
    except Raised as error:
        handled(error)
        raise_in_graph(trace, error)
    except Exception as error:
        check_not_raised_again(trace, error)
        check_not_own(error)
        check_not_about_proxies(trace, error)
        check_not_handling(trace, error)
        ends_iteration = (StopIteration, IndexError) if "__getitem__" in trace.asked else StopIteration
        if isinstance(error, ends_iteration) and not outermost:
            raise Plain("the end of an iteration is known only when the program runs", trace.place()) from None
        raise_in_graph(trace, error if outermost else _named_like_python(error))


def too_deep(trace: Trace) -> Plain:
    """Tracing takes more frames than running does; what else the function does about it shows when it runs."""
    return Plain("its recursion, or a nested structure, is too deep to be traced", trace.place())


def _named_like_python(error: Exception) -> Exception:
    """An unbound local variable is a free one to a body made of a piece of a function; the user knows of no bodies."""
    place = _raised_by(error)
    if type(error) is not NameError or not place or not is_body(place[0][0]):
        return error
    if str(error) != UNBOUND_FREE.format(error.name) or _in_comprehension():
        return error
    return UnboundLocalError(UNBOUND_LOCAL.format(error.name)).with_traceback(error.__traceback__)


def _in_comprehension() -> bool:
    """Whether what is traced is a part of a comprehension, to which the function's variables are free indeed."""
    frame: FrameType | None = sys._getframe(1)
    while sys.version_info < (3, 12) and frame is not None and (is_library(frame.f_code) or is_body(frame.f_code)):
        if frame.f_code.co_name in _COMPREHENSIONS and is_library(frame.f_code):
            return True
        frame = frame.f_back
    return False


_COMPREHENSIONS = frozenset({"list_comp", "set_comp", "dict_comp"})
UNPACKING = frozenset({"UNPACK_SEQUENCE", "UNPACK_EX"})


def check_not_about_proxies(trace: Trace, error: Exception) -> None:
    """Whether code that is not staged complains of what traced code hands it.

    Raises:
        Plain: it does.
        Signal: tracing was interrupted, and code written in C has made another error of that.
    """
    if isinstance(error.__cause__, Signal):
        raise error.__cause__
    if trace.needed is not None and _raised_by(error) == trace.needed.place[-1:]:
        raise trace.needed
    texts = [part for part in error.args if type(part) is str]
    if trace.staged_items and type(error) is ValueError and _instruction(error)[0] in UNPACKING:
        raise Plain("the number of items to unpack is known only when the program runs", trace.place())
    about_proxies = isinstance(error, (TypeError, AttributeError)) and any(map(_PROXIES.search, texts))
    is_by_c = type(error) in (TypeError, AttributeError) and not (_is_by_statement(error) or is_misfit(error))
    if about_proxies or is_by_c or _is_by_library_with_proxy(error):
        raise Plain(f"code that is not staged cannot take a staged value ({error})", trace.place())


def _is_by_library_with_proxy(error: BaseException) -> bool:
    """Whether a library's code, which is not staged, has raised an error and had a proxy at hand."""
    frame = [entry.tb_frame for entry in entries(error)][-1]
    is_installed = frame.f_code.co_filename.startswith(INSTALLED) and not isinstance(frame.f_globals, Fallback)
    return is_installed and any(map(is_tensor, frame.f_locals.values()))


def _is_by_statement(error: BaseException) -> bool:
    """Whether a `raise` of the user's has raised an error, rather than C code, which a proxy may have confused."""
    return _instruction(error)[0] in ("RAISE_VARARGS", "RERAISE")


def _instruction(error: BaseException) -> tuple[str, int]:
    """The instruction of the program that raised an error, by name, and its argument; ("", 0) if none did."""
    for code, at in _raised_by(error):
        return instruction_at(code, at)
    return "", 0


def _raised_by(error: BaseException) -> Place:
    """The instruction of the program that raised an error."""
    place = tuple((entry.tb_frame.f_code, entry.tb_lasti) for entry in entries(error))
    return next(((each,) for each in reversed(place) if not is_library(each[0])), ())


def check_not_raised_again(trace: Trace, error: BaseException) -> None:
    """Whether a `raise` without an exception raises the one that is handled where the function was called.

    Raises:
        Plain: it does, or would if there were one.
    """
    if error is trace.location.around or (type(error) is RuntimeError and _instruction(error) == ("RAISE_VARARGS", 0)):
        raise Plain("it raises again the exception that its caller handles", trace.place()) from None


def check_not_handling(trace: Trace, error: BaseException) -> None:
    """Whether an exception is raised while another one is handled, which it would have to tell of.

    Raises:
        Plain: it is.
    """
    context = error.__context__
    while context is not None and (is_own_class(type(context)) or context is trace.location.around):
        context = context.__context__
    if context is not None:
        raise Plain(f"{type(error).__name__} is raised while another exception is handled", trace.place())


_CLASSES = "Tensor StagedItems Method Recorded Mutator ContainerRef ObjectRef Generated ModuleView"
_PROXIES = re.compile(rf"'?\b({'|'.join(_CLASSES.split())})\b")


def raise_in_graph(trace: Trace, error: Any) -> Any:
    """Record that `error` is raised, after what was changed until then is written back.

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
    if kwargs and _instruction(error) == ("RAISE_VARARGS", 2):  # on other paths nothing was raised from a cause
        error.__cause__, error.__suppress_context__ = None, False
    for node in trace.block.nodes[count:] if place else ():
        node.place = place


def _raisable(trace: Trace, error: Any) -> Any:
    """What makes an exception like `error` when the graph runs, or gives the one that it stands for."""
    if isinstance(error, Raised):
        return error.exception if is_tensor(error.exception) else _raisable(trace, error.exception)
    if isinstance(error, type):
        return trace.record("call", (error,))
    state = {name: value for name, value in state_of(error).items() if name not in _OF_CAUSE}
    if type(error).__init__ in _PLAIN_INITS and not state:
        return trace.record("call", (type(error), *error.args))
    return trace.record("call", (remake, type(error), error.args, state))


_OF_CAUSE = frozenset({"__cause__", "__suppress_context__"})  # which `raise … from` sets


_PLAIN_INITS = frozenset(
    kind.__init__ for kind in (BaseException, Exception, ValueError, KeyError, OSError, StopIteration)
)


def state_of(error: BaseException) -> dict[str, Any]:
    """What an exception holds besides its arguments."""
    found = fields(error)
    found.pop("args", None)
    is_as_made = all(value is None or value is False for value in found.values()) and not is_a(error, OSError)
    return {**({} if is_as_made else found), **attributes(error)}


def remake(kind: Any, args: tuple[Any, ...], state: dict[str, Any]) -> BaseException:
    """An exception like the one that was raised while tracing."""
    error: BaseException = kind.__new__(kind, *args)
    error.args = args
    for name, value in state.items():
        set_attribute(error, name, value)
    return error


def _raised_at(trace: Trace, error: Any) -> Place:
    """Where an exception comes from that has been raised already; () if that is here."""
    passed = entries(error) if isinstance(error, BaseException) else ()
    places = [(entry.tb_frame.f_code, entry.tb_lasti) for entry in passed]
    found = [place for place in places if not is_library(place[0])]
    outer = trace.place()
    around = [code for code, _ in outer]
    if found and found[0][0] in around:  # the traceback begins in a frame that still runs
        outer = outer[: around.index(found[0][0])]
    return (*outer, *found) if found else ()
