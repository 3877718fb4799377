"""Who reads, writes and captures which names: beside each statement stand its uses."""

from __future__ import annotations

import gast
import pytest

from autograph.syntax import scope
from tests.annotated import tidy

USES = """
    x                                   # reads x
    x = y                               # reads y; writes x
    x, (y, *z) = w                      # reads w; writes x y z
    x = y = z                           # reads z; writes x y
    x += y                              # reads x y; writes x
    x.a = y                             # reads y x
    x[i] = y                            # reads y x i
    x[i].a += y                         # reads x i y
    x: T = y                            # reads y; writes x
    x: T                                # writes x; maybe x
    x.a: T                              # reads x T
    del x                               # reads x; writes x; deletes x
    del x.a, y[i]                       # reads x y i
    f(x, *y, k=z, **w)                  # reads f x y z w
    x + (x := y)                        # reads x y; writes x
    (x := y) + x                        # reads y; writes x
    a[x := y] = x                       # reads x a y; writes x
    a[x := y]: b = x                    # reads x a y b; writes x
    a[x := y] += x                      # reads a y; writes x
    {a: x, (x := y): x}                 # reads a x y; writes x
    f(a and (x := y), x)                # reads f a y x; writes x; maybe x
    a and (x := y) and x                # reads a y x; writes x; maybe x
    (x := y) if a else x                # reads a y x; writes x; maybe x
    f'{x} {y!r:>{z}}'                   # reads x y z
    for x in xs: y                      # reads xs y; writes x
    for x.a, y in xs: pass              # reads x xs; writes y
    while (x := f()): y                 # reads f y; writes x
    with f() as x, g() as (y, z): pass  # reads f g; writes x y z
    import a.b.c                        # writes a
    import a.b.c as d                   # writes d
    from a import b, c as d             # writes b d
    try: x
    except E as e: y                    # reads x E y; writes e
    match x:
        case C(k=[y, *z]) | {1: y, **z}: w                      # reads x C w; writes y z
    match x:
        case m.n as y if y: pass        # reads x m y; writes y
    global x; x = 1                     # writes x; globals x
    nonlocal x; x = 1                   # writes x; nonlocals x

    lambda x: x + y                     # captured y
    lambda x=y: x                       # reads y
    lambda: (x := y)                    # captured y
    lambda: lambda x: x + y             # captured y
    def f(x, /, y: T = z, *a, k=w, **kw) -> R: x, y, a, k, kw, v        # reads z w T R; writes f; captured v
    @d
    def f(): pass                       # reads d; writes f
    def f(): x = 1; return x            # writes f
    def f():
        nonlocal x
        x = y                           # writes f; captured y x; rebound x
    def f():
        nonlocal x
        return x                        # writes f; captured x
    def f():
        global x
        x = y                           # writes f; captured y
    def f():
        x = 1
        def g():
            nonlocal x, y
            x = y = 2                   # writes f; captured y; rebound y
    def f():
        def g(): nonlocal x; x = 1      # writes f; captured x; rebound x
    async def f(): await x              # writes f; captured x
    def f():
        nonlocal x
        x = y = 1
        del x, y                        # writes f; deletes x; captured x; rebound x
    @d
    class C(B, metaclass=M):
        x = y
        def f(self): return z           # reads d B M y; writes C; captured z
    class C:
        nonlocal x
        x = 1                           # writes C; captured x; rebound x

    [x + y for x in xs]                 # reads xs y
    {x: y for x in xs if z}             # reads xs z y
    {z for x in xs for y in x if y}     # reads xs z
    [x for x in x]                      # reads x
    [(y := x) for x in xs]              # reads xs; writes y; maybe y
    [lambda: x + y for x in xs]         # reads xs; captured y
    (x + y for x in xs)                 # reads xs; captured y
    (x for x in xs for y in ys)         # reads xs; captured ys
    [[x + y for x in z] for z in xs]    # reads xs y
"""


def _statements() -> list[tuple[str, str]]:
    """Each statement of USES with the comment at its end."""
    found, program = [], []
    for line in tidy(USES).split("\n"):
        code, _, fact = line.partition("  # ")
        program.append(code)
        if fact:
            found.append(("\n".join(program).strip(), fact))
            program = []
    return found


@pytest.mark.parametrize("program, expected", _statements())
def test_uses(program, expected):
    found = scope.uses(*gast.parse(program).body)
    told = {name: " ".join(names) for name, names in vars(found).items() if names and name != "kills"}
    if maybe := found.writes.keys() - found.kills.keys():
        told["maybe"] = " ".join(sorted(maybe))
    assert "; ".join(f"{name} {names}" for name, names in told.items()) == expected


def test_uses_of_several_nodes_add_up():
    found = scope.uses(*gast.parse("x = y\ny = z").body, None)
    assert [*found.reads] == ["y", "z"] and [*found.writes] == ["x", "y"]


def test_free_names_are_looked_up_outside():
    (f,) = gast.parse(
        """
def f(p):
    global g
    nonlocal n
    n = own = p + outer + g
    return lambda: own + far
"""
    ).body
    assert [*scope.inner(f).free(scope.parameters(f))] == ["outer", "far", "n"]


def test_parameters_come_in_order():
    (f,) = gast.parse("def f(a, /, b, *c, d, **e): pass").body
    assert scope.parameters(f) == ["a", "b", "c", "d", "e"]


def test_what_of_a_function_is_evaluated_where_it_stands():
    (f,) = gast.parse("@a\ndef f(x: b = c, *, y=d, z: e) -> g: h").body
    assert [node.id for node in scope.outer_parts(f)] == ["a", "c", "d", "b", "e", "g"]


def test_walking_does_not_enter_what_runs_in_another_function():
    program = """
a
@b
def f(x=c): not_here
@d
class C(e, k=g): not_here
lambda y=h: not_here
[i for _ in j]
"""
    found = [n.id for n in scope.walk_own(*gast.parse(program).body) if isinstance(n, gast.Name)]
    assert [name for name in found if name not in ("_",)] == ["a", "b", "c", "d", "e", "g", "h", "i", "j"]


@pytest.mark.skipif("sys.version_info < (3, 12)")
@pytest.mark.parametrize(
    "program, expected",
    [
        ("def f[T](x: T) -> list[T]: return T, y", "reads list; writes f; captured y"),
        ("def f[T: B, U](x: T): pass", "writes f; captured B"),  # bounds are evaluated when they are asked for
        ("class C[T](B[T]): x = T", "reads B; writes C"),
        ("class C[T: (B, D)]: pass", "writes C; captured B D"),
        ("type A[T: B] = list[T, x]", "writes A; captured list x B"),
    ],
)
def test_type_parameters_are_names_of_their_own(program, expected):
    test_uses(program, expected)
