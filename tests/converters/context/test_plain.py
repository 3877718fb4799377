"""What stays plain, and why: the reasons stand beside the statements."""

from __future__ import annotations

import pytest

from autograph.converters.context import plain
from tests.annotated import beside, code, tidy
from tests.converters.conversion import decisions, printed

PROGRAMS = {
    "never_staged": """
        def f(x):
            if x is None:               # if: its condition is never staged: x is None
                x = 0
            while x is not f:           # while: its condition is never staged: x is not f
                x = f
            assert x is f               # assert: its condition is never staged: x is f
            if x == f:                  # if: converted
                pass
        """,
    "what_cannot_move_keeps_everything_around_it": """
        def f(n):
            for i in range(n):          # for: `yield` belongs to its generator (line 4)
                if i > 0:               # if: `yield` belongs to its generator (line 4)
                    yield i
                if i > 1:               # if: converted
                    n += 1
            else:
                if n > 0:               # if: `yield from` belongs to its generator (line 9)
                    yield from f(n)
        """,
    "the_else_of_a_loop_does_not_move": """
        async def f(n):
            while n > 0:                # while: converted
                n -= 1
            else:
                await n
        """,
    "coroutines": """
        async def f(xs):
            async for x in xs:          # async for: `async for` belongs to its coroutine
                if x:                   # if: `await` belongs to its coroutine (line 4)
                    await x
            if xs:                      # if: `async with` belongs to its coroutine
                async with xs:
                    pass
            if [x async for x in xs]:           # comprehension: it is asynchronous; if: converted
                pass
            for x in [y async for y in xs]:     # comprehension: it is asynchronous; for: converted
                pass
            while [await x for x in xs]:        # comprehension: `await` belongs to its coroutine (line 12); while: `await` belongs to its coroutine (line 12)
                pass
        """,  # noqa: E501
    "super": """
        class C:
            def f(self, n):
                if n:                   # if: `super()` looks at the function around it (line 4)
                    super().f(n)
                if n:                   # if: converted
                    super(C, self).f(n)
                if super().f(n):        # if: converted
                    pass
                while super().f(n):     # while: `super()` looks at the function around it (line 9)
                    pass
        """,
    "frames": """
        import inspect, sys, traceback
        def f(n):
            if n:                       # if: `_getframe` looks at its caller's frame (line 4)
                sys._getframe(1)
            if n:                       # if: `stack` looks at its caller's frame (line 6)
                inspect.stack()
            if n:                       # if: `f_back` walks the stack (line 8)
                n.f_back
            if n:                       # if: `print_stack` looks at its caller's frame (line 10)
                traceback.print_stack()
            assert sys._getframe(0)     # assert: `_getframe` looks at its caller's frame (line 11)
        """,
    "jumps_out_of_plain_loops": """
        def f(xs):
            for x in xs:                # for: `yield` belongs to its generator (line 9)
                if x > 0:               # if: `break` leads out of a loop that stays plain
                    break
                if x > 1:               # if: `continue` leads out of a loop that stays plain
                    if x > 2:           # if: converted
                        x = 3
                    continue
                yield x
                if x > 4:               # if: `return` leads out of a loop that stays plain
                    return              # return in a loop: the loop stays plain
                for y in x:             # for: converted
                    if y > 5:           # if: converted
                        break
                for y in x:             # for: `return` leads out of a loop that stays plain
                    if y > 6:           # if: `return` leads out of a loop that stays plain
                        return          # return in a loop: the loop stays plain
        """,
    "returns_before_what_cannot_move": """
        def f(n):
            if n > 0:                   # if: `return`, and what follows cannot move: `yield` belongs to its generator (line 6)
                return
            if n > 1:                   # if: converted
                n = 1
            yield n
            if n > 2:                   # if: converted
                return
            n = 3
        """,  # noqa: E501
    "jumps_out_of_finally": """
        def f(n):
            try:
                if n > 0:               # if: converted
                    return 1
            finally:
                if n > 1:               # if: a jump out of `finally` drops exceptions
                    return 2
                if n > 2:               # if: converted
                    n = 3
        """,
    "jumps_that_an_exception_may_undo": """
        def f(xs):
            try:
                for x in xs:            # for: a jump in it runs the end of a `with` or `finally`, whose exception, if caught, undoes the jump
                    with x:
                        if x > 0:       # if: `return` leads out of a loop that stays plain
                            return x    # return in a loop: the loop stays plain
                for x in xs:            # for: converted
                    if x > 1:           # if: converted
                        return x        # return in a loop: converted
            except ValueError:
                pass
            with xs:
                for x in xs:            # for: converted
                    if x > 2:           # if: converted
                        return x        # return in a loop: converted
            return 0
        """,  # noqa: E501
    "loops_that_nothing_staged_can_end": """
        def f(x, xs):
            while True:                 # while: its condition is never staged: True
                x += 1
                print(x)
            while x is None:            # while: its condition is never staged: x is None
                x = f(x)
            while x is None:            # while: converted
                x = f(x)
                if x == 2:              # if: converted
                    break
        """,
    "unbound_locals": """
        def f(n):
            if n > 0:                   # if: the function handles UnboundLocalError itself (line 6)
                x = 1
            try:
                return x
            except UnboundLocalError:
                return 0
        def g(n):
            if n > 0:                   # if: converted
                return f
        """,
    "modules_and_classes": """
        if f:                           # if: only functions are staged, not modules and classes
            def f(n):
                if n > 0:               # if: converted
                    class C:
                        if n:           # if: only functions are staged, not modules and classes
                            x = 1
        """,
    "imports_of_everything": """
        if f:                           # if: only functions are staged, not modules and classes
            from math import *
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_reasons(name):
    text = PROGRAMS[name]
    facts: dict[int, list[str]] = {}
    for d in decisions(code(text)):
        facts.setdefault(d.lineno, []).append(f"{d.construct}: {d.reason or d.status}")
    assert beside(code(text), {line: "; ".join(said) for line, said in facts.items()}) == tidy(text)


def nested(count: int) -> str:
    """`if`s in `if`s."""
    lines = ["def f(n):", *("    " * i + f"if n > {i}:" for i in range(1, count + 1))]
    return "\n".join([*lines, "    " * (count + 1) + "n = 0", "    return n"])


def test_deep_nests_stay_plain_where_python_would_give_up():
    """Python compiles no more than some hundred nested blocks, and nested functions are slow to enter."""
    reasons = [d.reason for d in sorted(decisions(nested(plain.MAX_DEPTH + 2)), key=lambda d: d.lineno)]
    assert reasons[: plain.MAX_DEPTH] == [None] * plain.MAX_DEPTH
    assert reasons[plain.MAX_DEPTH :] == [f"it is nested more than {plain.MAX_DEPTH} deep"] * 2
    compile(printed(nested(plain.MAX_DEPTH + 2)), "deep.py", "exec")


def test_many_early_exits_do_not_nest_without_end():
    exits = "".join(f"    if n == {i}:\n        return {i}\n" for i in range(100))
    text = f"def f(n):\n{exits}    return -1\n"
    space: dict[str, object] = {}
    from autograph import operators

    exec(compile(printed(text), "long.py", "exec"), {"ag__": operators}, space)
    assert [space["f"](n) for n in (0, 50, 99, 100)] == [0, 50, 99, -1]
    reasons = {d.reason for d in decisions(text)}
    assert reasons == {None, f"it is behind more than {plain.MAX_DEPTH} early exits"}


def test_the_decisions_carry_the_place():
    (d,) = decisions("class C:\n    def f(self):\n        def g(n):\n            if n: return 1\n")
    assert (d.filename, d.lineno, d.function, d.construct, d.status) == ("user.py", 4, "C.f.g", "if", "converted")
