"""The control-flow graph: beside each line stand the lines that may run next.

A line is called by the names it reads, or by its own text. `end` is the function's end; what follows `!` are the
places that an exception raised in the line may lead to.
"""

from __future__ import annotations

import pytest

from autograph.syntax import cfg
from tests.annotated import beside, code, tidy
from tests.syntax.lined import function, lined_graph

PROGRAMS = {
    "straight": """
        def f():
            a               # b
            b               # end
        """,
    "return": """
        def f():
            a               # b
            return b        # end
            c               # end
        """,
    "raise": """
        def f():
            raise a         # nowhere
            b               # end
        """,
    "if": """
        def f():
            if a:           # b c
                b           # c
            c               # end
        """,
    "if_else": """
        def f():
            if a:           # b c
                b           # d
            elif c:         # return d
                return      # end
            d               # end
        """,
    "while": """
        def f():
            while a:        # b c
                b           # a
            c               # end
        """,
    "for": """
        def f():
            for x in a:     # b c
                b           # a c
            c               # end
        """,
    "jumps_of_a_loop": """
        def f():
            while a:        # b g
                if b:       # continue c
                    continue        # a
                if c:       # break d
                    break   # h
                if d:       # return e
                    return  # end
                e           # a
            else:
                g           # h
            h               # end
        """,
    "jumps_of_the_inner_loop": """
        def f():
            while a:        # b end
                while b:    # break d
                    break   # e
                else:
                    d       # e
                e           # a
        """,
    "jumps_in_a_loops_else": """
        def f():
            while a:        # b end
                while b:    # c break
                    c       # b
                else:
                    break   # end
                d           # a
        """,
    "with": """
        def f():
            with a:         # b ! c
                b           # c ! c
            c               # end
        """,
    "try_except": """
        def f():
            try:
                a           # b ! E
                b           # d ! E
            except E:       # c
                c           # e
            else:
                d           # e
            e               # end
        """,
    "try_finally": """
        def f():
            try:
                a           # b ! b
            finally:
                b           # c end
            c               # end
        """,
    "return_in_try_finally": """
        def f():
            while a:        # b c
                try:
                    if b:   # return break ! d
                        return      # d ! d
                    break   # d ! d
                finally:
                    d       # a c end
            c               # end
        """,
    "handlers_inside_each_other": """
        def f():
            try:
                try:
                    a       # d ! E F
                except E:   # b ! F
                    b       # d ! F
            except F:       # c
                c           # d
            d               # end
        """,
    "match": """
        def f():
            match a:        # b
                case b.c:   # d e
                    d       # g
                case e.c if x:          # h g
                    h       # g
            g               # end
        """,
    "inner_functions_are_not_entered": """
        def f():
            def g(x=a):     # lambda: c
                return b
            lambda: c       # end
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_may_run_next(name):
    text = PROGRAMS[name]
    assert beside(code(text), _what_may_run_next(code(text))) == tidy(text)


def _what_may_run_next(program: str) -> dict[int, str]:
    graph, line_of = lined_graph(function(program, plain="as Python runs it"))
    texts = program.split("\n")
    first = {line: graph.steps[step] for step, line in sorted(line_of.items())}
    called = {line: _name(graph, step) or texts[line - 1].strip() for line, step in first.items()} | {END: "end"}
    facts = {}
    for line in line_of.values():
        here = [step for step in line_of if line_of[step] == line]
        following = _lines(graph, line_of, [s for step in here for s in graph.steps[step].successors], line)
        handlers = _lines(graph, line_of, [s for step in here for s in graph.steps[step].handlers])
        facts[line] = " ".join([called[n] for n in following] or ["nowhere"])
        facts[line] += "".join([" !", *(f" {called[n]}" for n in handlers)]) if handlers else ""
    return facts


END = 1000


def _name(graph: cfg.Graph, step: cfg.Step) -> str | None:
    """The first name that a step reads."""
    return next((name for bit, name in enumerate(graph.names) if step.reads >> bit & 1), None)


def _lines(graph: cfg.Graph, line_of: dict[int, int], steps: list[int], inside: int | None = None) -> list[int]:
    """The lines at which one arrives at these steps, through such as stand on no line or on the line `inside`."""
    found, seen = set(), set()
    while steps:
        step = steps.pop()
        if step in seen:
            continue
        seen.add(step)
        line = END if step == 0 else line_of.get(step, inside)
        if line == inside:
            steps += graph.steps[step].successors
        else:
            found.add(line)
    return sorted(found)


def test_a_converted_if_that_returns_goes_on_behind_itself():
    """A `return` in a body leaves the body; only `node.returns` says that it leaves the function, too."""
    program = "def f():\n    if a:\n        return b\n    c"
    node = function(program, plain=None)
    (construct,) = cfg.build(node, [], {}).constructs
    assert construct.node is node.body[0]
    graph = cfg.build(node, [], {})
    entry, written = graph.constructs[0].bodies["body"]
    assert graph.steps[entry].successors == [graph.constructs[0].after] != [0]
    node.body[0].returns = True
    graph = cfg.build(node, [], {})
    entry, _ = graph.constructs[0].bodies["body"]
    assert graph.steps[entry].successors == [graph.constructs[0].after] == [0]


def test_a_return_in_a_converted_loop_goes_to_the_next_iteration():
    """`return` in a body stands for `continue`; `break` has become a flag that the loop tests."""
    node = function("def f():\n    while a:\n        return b\n    c", plain=None)
    for flags in [], ["break_"]:
        node.body[0].until = flags
        graph = cfg.build(node, [], {})
        (construct,) = graph.constructs
        (latch,) = graph.steps[construct.bodies["body"][0]].successors
        assert graph.steps[latch].successors == ([construct.head, construct.after] if flags else [construct.head])
        assert _named(graph, graph.steps[latch].reads) == {*flags}


def test_bodies_tell_what_is_written_in_them():
    node = function("def f():\n    for x in xs:\n        y = (z := x)\n    while w := g():\n        v = w", plain=None)
    graph = cfg.build(node, [], {})
    written = {type(p.node).__name__: _named(graph, p.bodies["body"][1]) for p in graph.constructs}
    assert written == {"For": {"x", "y", "z"}, "While": {"v", "w"}}
    assert {_named(graph, p.target | p.test).pop() for p in graph.constructs} == {"x", "w"}


def test_what_inner_functions_assign_may_be_written_by_any_call():
    node = function("def f():\n    if a:\n        g()\n    else:\n        b", plain=None)
    graph = cfg.build(node, [], {"count": None})
    (construct,) = graph.constructs
    assert _named(graph, construct.bodies["body"][1]) == {"count"}
    assert _named(graph, construct.bodies["orelse"][1]) == set()


def _named(graph: cfg.Graph, bits: int) -> set[str]:
    return {name for bit, name in enumerate(graph.names) if bits >> bit & 1}
