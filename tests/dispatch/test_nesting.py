"""Constructs nested three deep, in every combination: each reaches the backend with all that changes in it.

Level `i` has a condition or iterable `ci` and changes a variable `vi`, which is read at the end: so the state of a
construct is its own variable and those of the levels in it. A line that has to reach the backend says so, with `own`
and `inner` for these; the flags of `break` and `return` come on top.
"""

from __future__ import annotations

import re
import textwrap

import pytest

from tests.dispatch import staging

STAGED = {
    "if": """
        if c:                   # if_stmt own inner
            v += 1
            ...
        """,
    "else": """
        if c:                   # if_stmt own inner
            v += 1
        else:
            ...
        """,
    "elif": """
        if v == 5:
            v = 0
        elif c:                 # if_stmt own inner
            v += 2
        elif c > 1:             # if_stmt inner
            ...
        """,
    "match": """
        match c:
            case 0:             # if_stmt own inner
                v += 1
            case 1 | 2:         # if_stmt inner
                ...
        """,
    "while": """
        while c > v:            # while_stmt own inner
            v += 1
            ...
        """,
    "for": """
        for x in c:             # for_stmt own inner
            v += x
            ...
        """,
    "range": """
        for x in range(c):      # for_stmt own inner
            ...
            v += x
        """,
    "break": """
        for x in c:             # for_stmt own inner
            if x > v:           # if_stmt own inner
                break
            v += 1
            ...
        else:
            v += 2
        """,
    "continue": """
        while c > v:            # while_stmt own inner
            v += 1
            if c == v:          # if_stmt inner
                continue
            ...
        """,
    "return": """
        for x in c:             # for_stmt own inner
            if x > v:           # if_stmt own inner
                return v
            v += 1
            ...
        """,
    "loop_else": """
        while c > v:            # while_stmt own
            v += 1
        else:
            ...
        """,
}
PLAIN = {
    "with": """
        with nothing():
            v += 1
            ...
        """,
    "try": """
        try:
            v += 1
            ...
        finally:
            v += 1
        """,
    "unstaged_for": """
        for x in (1, 2):
            v += x
            ...
            break
        """,
    "local_function": """
        def f():
            nonlocal vs
            v += 1
            ...
        f()
        """,
}
ALL = {**STAGED, **PLAIN}


def program(*constructs: str) -> str:
    """Constructs in one another, within a function of all their variables."""
    numbers = range(len(constructs))
    lines = [f"def f({', '.join([f'c{i}' for i in numbers] + [f'v{i}=0' for i in numbers])}):", "    ..."]
    for i, construct in enumerate(constructs):
        inner = " ".join(f"v{j}" for j in numbers[i + 1 :])
        text = textwrap.dedent(ALL[construct]).strip().replace("inner", inner).replace("own", f"v{i}")
        text = re.sub(r"\b([cvxf])\b", rf"\g<1>{i}", text).replace("vs", ", ".join(f"v{j}" for j in numbers))
        at = next(n for n, line in enumerate(lines) if line.strip() == "...")
        lines[at : at + 1] = textwrap.indent(text, lines[at].split("...")[0]).split("\n")
    text = "\n".join([*lines, f"    return {', '.join(f'v{i}' for i in numbers)},"])
    return re.sub(r"^( *)\.\.\.$", r"\1pass", text, flags=re.MULTILINE)


def expected(text: str) -> dict[int, str]:
    marked = enumerate(text.split("\n"), 1)
    return {number: " ".join(line.split("# ")[1].split()) for number, line in marked if "# " in line}


FLAG = re.compile(r"(break_|do_return|retval_)\d*")


def reached(text: str) -> dict[int, str]:
    """What reached the backend first from each line, its flags left out."""
    function = staging.execute(text, nothing=Nothing)["f"]
    log = staging.trace(function).log
    found: dict[int, str] = {}
    for (_, line), (construct, *state) in zip(log.places, log):
        if construct in ("if_stmt", "while_stmt", "for_stmt"):
            names = [name for name in state[0] if not FLAG.fullmatch(name)]
            found.setdefault(line, " ".join([construct, *names]))
    return found


class Nothing:
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


def check(*constructs: str) -> None:
    text = program(*constructs)
    found, wanted = reached(text), expected(text)
    if "local_function" in constructs:  # which may be called by any operation, so that more may change
        for line, said in wanted.items():
            found[line] = " ".join(word for word in found[line].split() if word in said.split())
    assert {line: found.get(line) for line in wanted} == wanted, text


@pytest.mark.parametrize("construct", ALL)
def test_alone(construct):
    check(construct)


@pytest.mark.parametrize("outer", ALL)
@pytest.mark.parametrize("inner", ALL)
def test_two_deep(outer, inner):
    check(outer, inner)


JUMPS_AND_BRANCHES = ("if", "while", "break", "return")


@pytest.mark.parametrize("outer", STAGED)
@pytest.mark.parametrize("middle", ALL)
def test_three_deep(outer, middle):
    for inner in JUMPS_AND_BRANCHES:
        check(outer, middle, inner)


@pytest.mark.slow
@pytest.mark.parametrize("outer", STAGED)
@pytest.mark.parametrize("middle", ALL)
def test_all_others_three_deep(outer, middle):
    for inner in STAGED.keys() - JUMPS_AND_BRANCHES:
        check(outer, middle, inner)
