"""Containers whose contents are objects of the graph."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

import autograph as ag

SOURCE = """
def function(x):
    pair = [{empty}, 0]
    for i in range(len(x)):
        if x[i] > 0:
            {grow}
    made = {made}
    {change}
    return made, pair
"""
KINDS = {
    "list": ("[]", "pair[0].append(i)", "pair[0].append(5)"),
    "set": ("set()", "pair[0].add(i)", "pair[0].add(5)"),
    "dict": ("{}", "pair[0][i] = 1", "pair[0][5] = 1"),
}


@pytest.mark.parametrize(
    "kind, made",
    [
        *(("list", made) for made in ("[*{}]", "[1, *{}]", "(*{},)", "{} + [1]", "[[*{}]]", "{{1: [*{}]}}", "{{*{}}}")),
        *(("list", made) for made in ("{}[:]", "list({})", "{} * 2", "{}.copy()", "[each for each in {}]")),
        *(("set", made) for made in ("{{*{}}}", "[*{}]", "{{*{}, 4}}", "{} | {{4}}", "set({})")),
        *(("dict", made) for made in ("{{**{}}}", "{{4: 1, **{}}}", "[*{}]", "dict({})", "[{{**{}}}]")),
    ],
)
def test_what_was_made_of_a_container_stays_when_it_changes(kind, made):
    empty, grow, change = KINDS[kind]
    source = SOURCE.format(empty=empty, grow=grow, made=made.format("pair[0]"), change=change)
    filename, names = f"<{kind} {made}>", {}
    linecache.cache[filename] = len(source), None, source.splitlines(True), filename
    exec(compile(source, filename, "exec"), names)
    function, x = names["function"], np.array([1.0, -1.0, 2.0])
    staged = ag.function(function)
    assert repr(staged(x)) == repr(function(x))
