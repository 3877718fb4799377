"""Which calls are wrapped: behind each stands why it is not, or `wrapped`, or the operator of a builtin."""

from __future__ import annotations

import pytest

from tests.annotated import beside, code, tidy
from tests.converters.conversion import decisions, printed

PROGRAMS = {
    "the_users_own": """
        class C: ...
        def g(): ...
        def f(x):
            g()                     # wrapped
            C()                     # wrapped
            x()                     # wrapped
            x.y.z()                 # wrapped
            x[0]()                  # wrapped
            (lambda: 1)()           # wrapped
            g()()                   # wrapped, wrapped
            undefined()             # wrapped
        """,
    "builtins_with_operators": """
        def f(x, *y):
            len(x)                  # ag__.len_
            range(1, x)             # ag__.range_
            print()                 # ag__.print_
            print(*y, sep='')       # ag__.print_
            sum(x, start=1)         # ag__.sum_
            min(x, key=y)           # ag__.min_
            max(*y)                 # ag__.max_
            zip()                   # ag__.zip_
            enumerate(x, 1)         # ag__.enumerate_
        """,
    "forms_that_builtins_do_not_have_are_left_to_python": """
        def f(x, *y, **z):
            len()                   # a builtin that needs no conversion
            len(*y)                 # a builtin that needs no conversion
            len(obj=x)              # a builtin that needs no conversion
            range(1, 2, 3, 4)       # a builtin that needs no conversion
            print(x, **z)           # a builtin that needs no conversion
            int()                   # a builtin that needs no conversion
            int(x, 2)               # a builtin that needs no conversion
            sum(x, y, 0)            # a builtin that needs no conversion
            sorted(x, cmp=y)        # a builtin that needs no conversion
            map(x)                  # a builtin that needs no conversion
        """,
    "other_builtins": """
        def f(x):
            abs(x)                  # a builtin that needs no conversion
            abs(x)                  # a builtin that needs no conversion
            getattr(x, 'y')         # a builtin that needs no conversion
            super(f, x).g()         # a builtin that needs no conversion, wrapped
            getattr(x, 'y')()       # a builtin that needs no conversion, wrapped
        """,
    "shadowed_builtins": """
        from m import abs as len, sum
        def list(): ...
        def f(x, max):
            len(x)                  # wrapped
            sum(x)                  # wrapped
            list(x)                 # wrapped
            max(x)                  # wrapped
            min(x)                  # wrapped
            def g():
                zip(x)              # ag__.zip_
                max(x)              # wrapped
            for min in x: ...
        """,
    "a_global_declared_elsewhere": """
        def f(x):
            sum(x)                  # wrapped
        def g():
            global sum
            sum = len
        """,
    "the_standard_library": """
        import os.path, re as regex
        from os import path
        from collections import OrderedDict, abc
        import xml.etree.ElementTree as ET
        def f(x):
            os.path.join(x)         # `os` takes no part in staging
            path.join(x)            # `os` takes no part in staging
            regex.sub(x)            # `re` takes no part in staging
            OrderedDict()           # `collections` takes no part in staging
            ET.parse(x)             # `xml` takes no part in staging
            x.path.join()           # wrapped
        """,
    "modules_that_take_part": """
        import functools, itertools, math, operator, random
        def f(x):
            functools.reduce(x, x)  # wrapped
            itertools.count()       # wrapped
            math.sin(x)             # wrapped
            operator.add(x, x)      # wrapped
            random.random()         # wrapped
        """,
    "numpy_and_jax": """
        import numpy as np
        import numpy.linalg as la
        import jax.numpy as jnp
        from numpy import random, zeros, cos
        def f(x):
            np.sin(x)               # `numpy` takes no part in staging
            la.norm(x)              # `numpy` takes no part in staging
            jnp.zeros(x)            # `jax` takes no part in staging
            cos(x)                  # `numpy` takes no part in staging
            np.zeros(x)             # wrapped
            np.linalg.eye(x)        # wrapped
            zeros(x)                # wrapped
            random.normal(x)        # wrapped
            np.random.rand(x)       # wrapped
            np.float32(x)           # wrapped
            np.dtype(x)             # wrapped
            np.sin(x).sum()         # `numpy` takes no part in staging, wrapped
        """,
    "methods_named_through_their_class": """
        import collections, os, threading
        def f(x):
            threading.Thread.__init__(x)            # wrapped
            collections.UserDict.get(x, 1)          # wrapped
            os.path.join(x)         # `os` takes no part in staging
        """,
    "this_library": """
        import autograph as ag
        from autograph import do_not_convert
        def f(x):
            ag.to_code(x)           # `autograph` takes no part in staging
            do_not_convert(x)       # `autograph` takes no part in staging
        """,
    "imports_from_the_users_own_package_tell_nothing": """
        from . import math
        from .os import path
        def f(x):
            math.sin(x)             # wrapped
            path.join(x)            # wrapped
        """,
    "imports_inside_functions_are_local": """
        def f(x):
            import os
            os.getcwd()             # wrapped
        """,
    "methods_of_literals": """
        def f(x):
            'a b'.split(x)          # a method of a literal
            ', '.join(x)            # wrapped
            '{}'.format(x)          # wrapped
            f'{x}'.upper()          # wrapped
            (1).bit_length()        # a method of a literal
            [].append(x)            # wrapped
        """,
    "exceptions": """
        import m
        def f(x):
            ValueError(x)           # a builtin that needs no conversion
            m.ParseError(x)         # an exception
            MyException()           # an exception
            UserWarning(x)          # a builtin that needs no conversion
            Errors()                # wrapped
        """,
    "calls_that_look_at_their_caller": """
        import sys, inspect, warnings
        def f(x):
            sys._getframe(1)        # it looks at its caller's frame
            inspect.currentframe()  # it looks at its caller's frame
            warnings.warn(x, stacklevel=2)          # it looks at its caller's frame
            warnings.warn(x)        # `warnings` takes no part in staging
        """,
    "operators_are_not_wrapped_again": """
        def f(x):
            print(len(x) if x else 0)               # ag__.len_, ag__.print_
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_calls(name):
    text = PROGRAMS[name]
    facts: dict[int, list[str]] = {}
    for d in decisions(code(text), calls=True):
        called = d.construct.removeprefix("call of ")
        plain = f"ag__.{called}_" if f"ag__.{called}_(" in printed(code(text)) else "wrapped"
        facts.setdefault(d.lineno, []).append(d.reason or plain)
    assert beside(code(text), {line: ", ".join(said) for line, said in facts.items()}) == tidy(text)


@pytest.mark.parametrize("call", ["g(1, *a, k=2, **b)", "g()", "g(x for x in a)", "g([h, {1: k}], *(1, 2))"])
def test_arguments_stay_as_they_are(call):
    assert f"ag__.call({call[0]}){call[1:]}".replace("x for x in a", "ag__.gen_exp(a, lambda x: x)") in printed(
        f"def f(g, a, b): return {call}"
    )


def test_what_is_called_is_described():
    told = [d.construct for d in decisions("def f(x): x.y(), x[0].z(), x()(), len(x)", calls=True)]
    assert sorted(told) == sorted(f"call of {what}" for what in ("x.y", "….z", "x", "…", "len"))


def test_nothing_outside_functions_is_wrapped():
    text = "x = f(1)\n\n@g()\nclass C(h()):\n    y = len(x)\n\n    def m(self, z=max(1)):\n        pass"
    assert printed(text) == text
    assert decisions(text, calls=True) == []
