"""Code that looks at its own frame, or at its caller's: locals(), eval, exec, sys._getframe, warnings, inspect."""

import inspect
import sys
import traceback
import warnings

from tests.corpus import calls


@calls("1", "0")
def locals_in_branch(x):
    y = 2
    if x:
        z = 3
        names = sorted(locals())
    else:
        names = sorted(locals().items())
    return names


@calls("2")
def locals_in_loop(n):
    seen = []
    for i in range(n):
        j = i
        seen.append(sorted(k for k in locals().keys()))
    return seen


@calls("3")
def locals_after_loop(n):
    total = 0
    for i in range(n):
        if i:
            total += i
    return dict(locals())


@calls("3", "0")
def vars_and_dir(n):
    while n:
        m = n
        n = 0
    return sorted(vars()), dir()


@calls("3", "0")
def eval_reads_locals(n):
    for i in range(n):
        if eval("i == n - 1"):
            return eval("i * 10")
    return eval("n")


@calls("3")
def exec_in_loop(n):
    space = {"total": 0}
    for i in range(n):
        exec(f"total += {i}", space)
        exec("seen = i")
    return space["total"]


@calls("2")
def format_map_with_locals(n):
    out = []
    for i in range(n):
        out.append("{i} of {n}".format_map(locals()))
        out.append("%(i)d" % locals())
    return out


@calls("1", "0")
def own_frame(n):
    if n:
        frame = sys._getframe()
        return frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno
    return sys._getframe(0).f_code.co_name


def _caller_name():
    return sys._getframe(1).f_code.co_name


def _callers_local(name):
    return sys._getframe(1).f_locals.get(name, "missing")


def _callers_caller():
    return sys._getframe(2).f_code.co_name


def _line_of_caller():
    return inspect.currentframe().f_back.f_lineno - callers_frame.__code__.co_firstlineno


@calls("3")
def callers_frame(n):
    out = []
    for i in range(n):
        if i == 1:
            out.append(_caller_name())
        while len(out) < i:
            out.append((_caller_name(), _line_of_caller()))
    return out


@calls("2")
def callers_locals(n):
    secret, seen = "found", []
    for i in range(n):
        seen.append(_callers_local("secret"))
        if i:
            seen.append(_callers_local("i"))
    return seen, _callers_local("n")


@calls("3")
def callers_caller(n):
    def middle():
        if n:
            return _callers_caller()

    for _ in range(1):
        return middle()


def _warn(level):
    warnings.warn(f"level {level}", stacklevel=level)


@calls("2")
def warnings_with_stacklevel(n):
    for i in range(n):
        if i:
            _warn(2)
        warnings.warn("here", UserWarning)
        while True:
            _warn(1)
            break


def _deprecated():
    if True:
        warnings.warn("deprecated", DeprecationWarning, 3)


def _uses_deprecated():
    for _ in range(1):
        _deprecated()


@calls("1")
def warning_for_the_callers_caller(n):
    if n:
        _uses_deprecated()


@calls("0", "1")
def traceback_text(n):
    try:
        for i in range(2):
            if i == n:
                1 / 0
    except ZeroDivisionError:
        return [line.strip() for line in traceback.format_exc().splitlines()[-2:] if "^" not in line]


@calls("3")
def stack_depth_is_seen(n):
    def depth():
        return len(inspect.stack(0))

    at_top = depth()
    for _ in range(n):
        if n:
            at_bottom = depth()
    return at_bottom >= at_top


@calls("3")
def signature_and_source(n):
    def inner(a, b=2, *, c: int = 3) -> str:
        if a:
            return "x"

    for _ in range(1):
        s = str(inspect.signature(inner))
    return s, inspect.isfunction(inner), inner.__annotations__, inner.__code__.co_varnames[:3], inner.__doc__


@calls("3")
def code_attributes(n):
    def inner(a, *args, k=1, **kwargs):
        "Documented."
        for i in args:
            a += i
        return a

    inner.tag = n
    code = inner.__code__
    return code.co_name, code.co_argcount, code.co_kwonlyargcount, inner.__doc__, inner.tag, inner(1, 2)


@calls("1")
def docstring_is_kept(n):
    """A docstring.

    With 'quotes' and a \\ backslash.
    """
    if n:
        return docstring_is_kept.__doc__


@calls("2")
def builtins_that_take_functions(n):
    out = []
    for i in range(n):
        out.append(callable(callers_frame))
        out.append(getattr(out, "append").__name__)
        if i:
            setattr(_warn, "seen", i)
            delattr(_warn, "seen")
    return out, isinstance(out, (list, tuple)), issubclass(bool, int), type(out)(), type("T", (), {"x": n}).x


@calls("10")
def recursion_limit(n):
    def down(k):
        if k:
            return 1 + down(k - 1)
        return 0

    try:
        return down(n), down(1_000_000)
    except RecursionError:
        return "too deep"
