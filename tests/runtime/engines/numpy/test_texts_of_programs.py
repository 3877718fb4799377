"""Texts that a function gives back are the program's own, since one may ask by `is` whether they are."""

import numpy as np

import autograph as ag

SUPPRESSED, EMPTY, LINES = "== suppressed ==", "", "two\nlines"


def alone(x):
    return SUPPRESSED


def beside_numbers(x, given=None):
    y = x * 2
    if given is None:
        given = SUPPRESSED
    return y, given, {"a": LINES, "b": [EMPTY, SUPPRESSED]}


def in_branches(x):
    return SUPPRESSED if x.sum() > 2 else LINES


def test_they_are_the_very_same():
    x = np.ones(3)
    assert ag.function(alone)(x) is SUPPRESSED
    for _ in range(2):
        _, given, others = ag.function(beside_numbers)(x)
        assert given is SUPPRESSED and others["a"] is LINES and others["b"][1] is SUPPRESSED
    chosen = ag.function(in_branches)
    assert chosen(x) is SUPPRESSED and chosen(-x) is LINES
