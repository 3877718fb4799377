"""The line of the user's code that runs, for errors and notes; and marks in texts.

Errors of JAX's own while it traces are put in the words of the program: the line, the reason, and the way round.
"""

from __future__ import annotations

import dis
import functools
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, TypeVar

import jax

from autograph.common.trace_rules import is_known_library, is_plain
from autograph.errors import StagingError
from autograph.operators.tracebacks import is_library, shelter_at, user_frame

_JAX = os.path.dirname(jax.__file__) + os.sep


class _Sheltered(threading.local):
    """The errors of staging that a `try` of the program may have caught, in this thread."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []


SHELTERED = _Sheltered()


def here(message: str) -> StagingError:
    """Return a StagingError at the line of the user's code that runs."""
    error = StagingError(message, *place())
    note_if_sheltered(error)
    return error


def note_if_sheltered(error: Exception) -> None:
    """Note an error of staging where the program may catch it: so that it is raised once the program has ended."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and shelter_at(frame.f_code, frame.f_lasti) is None:
        frame = frame.f_back
    if frame is not None:
        SHELTERED.errors.append(error)


def place() -> tuple[str, int] | tuple[()]:
    """File and line of the user's code that runs."""
    frame = user_frame()
    while frame is not None and (is_library(frame.f_code) or is_of_jax(frame.f_code)):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ()


def is_of_jax(code: CodeType) -> bool:
    """Whether code is JAX's."""
    return code.co_filename.startswith(_JAX)


def mark(number: int) -> str:
    """The text that stands for a formatted array."""
    return f"\0{number}\1"


# Errors of JAX's own --------------------------------------------------------------------------------------------------

_C = TypeVar("_C", bound=type)
_STATIC = "known only when the program runs. Let `jax.jit` take it as a constant: static_argnums, static_argnames"

_NEEDS_TEXT = ("this line needs a text in which a staged value is formatted. JAX knows it only when the program runs: "
               "print it, or put it into the message of an exception")

# Patterns of the class and text of an error → the message.
_REASONS = {
    "TracerBoolConversionError|Attempted boolean conversion":
        "code that is not converted, such as a method of a list, a special method, a generator or a `match`, asks on "
        "this line whether a staged value is true. JAX knows it only when the program runs: write it as `if` or `for`, "
        "or with jnp.where",
    "NonConcreteBooleanIndexError":
        "how many items a mask takes on this line is known only when the program runs. Use jnp.where",
    "TracerIntegerConversionError|Only integer scalar arrays can be converted|must be None or an integer":
        f"this line needs a Python integer, but has a staged value, which is {_STATIC}",
    "TracerArrayConversionError":
        "this line gives a staged value to code that needs an array of NumPy. Use the function of jax.numpy for it",
    "Slice entries must be static|Array slice indices must have static":
        "how many items this slice takes is known only when the program runs. Take a known number of items, by "
        "jax.lax.dynamic_slice, or all, and jnp.where",
    "Shapes must be 1D sequences|expected a sequence of integers or a single integer":
        f"the shape of an array on this line depends on a staged value, which is {_STATIC}",
    "unhashable type: '(ArrayTracer|Text|.*Tracer)'|Non-hashable static arguments":
        "this line has a staged value where Python needs its hash: as a key of a dict, in a set, or as an argument of "
        "a function with a cache. Use an array, indexed by integers",
    "object is not an iterator":
        "JAX knows how many items there are to iterate over, or takes them, only in a `for`; this line calls `next`",
    "'Text'|Text found":
        _NEEDS_TEXT,
    "RecursionError":
        "this function calls itself without end: the condition on which it stops is known only when the program runs. "
        "Write it as a loop, with a stack in an array",
    "ConcretizationTypeError":
        f"this line needs the value of a staged number or array, which is {_STATIC}; or use jax.numpy",
    "UnexpectedTracerError":
        "this line reads a staged value that another call left behind, in a global variable, a cache or an object",
    "AttributeError: ArrayTracer has no|of 'ArrayTracer' object has no|ArrayTracer.* object does not support":
        "this line uses what NumPy's arrays can do, or Python's numbers, and JAX's arrays cannot: {error}",
}  # fmt: skip
# The texts of errors of JAX's functions which do not do all that NumPy's do.
_LACKS = re.compile(r"NotImplementedError|unexpected keyword argument|is not supported|inplace=|arguments? but \d+ w")
_OF_OTHERS = re.compile("cannot be written back|expects int or sequence of ints|can't convert non-string|should be "
                        "Rational instances|supported seed types|can't convert type|for .. or pow|only supports number|"
                        "not accept dtype bool|is not a valid value for jnp.array|not inexact")


def explained(error: BaseException) -> StagingError | None:
    """Return the error of this library for an error of JAX's; None if it is the program's own."""
    if _is_of_raise(error):
        return None
    text = " ".join(arg for arg in error.args if type(arg) is str).partition("\n")[0]    # others may be staged
    found = f"{type(error).__name__}: {text}"
    message = next((text for pattern, text in _REASONS.items() if re.search(pattern, found)), None)
    if message is None and (_OF_OTHERS.search(found) or (_LACKS.search(found) and not _is_users(error))):
        message = "this line calls a function in a way that JAX's does not have: {error}"
    if message is None:
        return None
    lines = users_lines(error)
    most_frequent = max(lines, key=lines.count, default=())     # of a recursion: it may end anywhere
    message = message.replace("{error}", text)
    return StagingError(message, *(most_frequent if isinstance(error, RecursionError) else raised_at(error) or ()))


def raised_at(error: BaseException) -> tuple[str, int] | None:
    """File and line of the user's code that raised an exception."""
    return next(reversed(users_lines(error)), None)


def _is_of_raise(error: BaseException) -> bool:
    """Whether a `raise` in the program's code made an exception, whatever it says."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None:
        return False
    code, module = last.tb_frame.f_code, str(last.tb_frame.f_globals.get("__name__"))
    if is_known_library(module):
        return False
    opcode, count = code.co_code[last.tb_lasti : last.tb_lasti + 2]
    return opcode == dis.opmap["RAISE_VARARGS"] and count > 0 and not is_of_jax(code) and not is_library(code)


def _is_users(error: BaseException) -> bool:
    """Whether the program's own code raised an exception."""
    last = list(traceback.walk_tb(error.__traceback__))[-1][0].f_code
    return not (is_library(last) or is_of_jax(last))


def users_lines(error: BaseException) -> list[tuple[str, int]]:
    """File and line of each entry of a traceback that is the user's."""
    entries = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    return [(code.co_filename, line) for code, line in entries if not is_library(code) and not is_of_jax(code)]


def refuse_text(value: Any, form: Any) -> str | None:
    """Refuse to format a staged value for the program, where this does not wait until the program runs.

    Raises:
        StagingError: the code that formats it is the user's. Others, as debuggers and JAX, get the tracer's own text.
    """
    frame = sys._getframe(3)
    if form is not repr and not is_plain(frame.f_globals.get("__name__")) and value.to_concrete_value() is None:
        raise here(_NEEDS_TEXT)
    return None


def noting(kind: _C) -> _C:
    """Let a class of tracers note where its conversions fail: a `try` of the program may catch these errors of JAX."""
    for name in "__bool__ __index__ __int__ __float__ __complex__ __array__".split():
        setattr(kind, name, _noting(getattr(kind, name)))
    return kind


def _noting(convert: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(convert)
    def converted(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return convert(self, *args, **kwargs)
        except jax.errors.JAXTypeError as error:
            if not is_of_jax(sys._getframe(1).f_code):      # which may try, and go on
                note_if_sheltered(error)
            raise

    return converted
