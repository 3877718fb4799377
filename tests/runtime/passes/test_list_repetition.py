"""Lists that a loop fills with one constant."""

import pytest

import autograph as ag
from tests.runtime.passes.texts import becomes, stays


def test_a_list_of_one_constant_is_repeated():
    becomes(
        "list_repetition",
        """
        graph f(n: py.int):
            a: range<py.int> = range(n)
            b: list = build([])
            for(a, target=0):
                body(i: py.int):
                    b.append(0.5)
            b.append(n)
            -> b
        """,
        """
        graph f(n: py.int):
            a: range<py.int> = range(n)
            %0: py.int = len(a)
            b: list = [0.5] * %0
            b.append(n)
            -> b
        """,
    )


@pytest.mark.parametrize(
    ("first", "item"), [("b.append(1)", "0"), ("d: py.int = len(b)", "0"), ("d: py.int = len(a)", "i")]
)
def test_other_loops_stay(first, item):
    stays(
        "list_repetition",
        f"""
        graph f(n: py.int):
            a: range<py.int> = range(n)
            b: list = build([])
            {first}
            for(a, target=0):
                body(i: py.int):
                    b.append({item})
            -> b
        """,
    )


def filled(n, m):
    rows = [[0 for _ in range(n)] for _ in range(m)]
    flags = [None for _ in range(m)]
    texts = ["a" for _ in range(2, n, 2)]
    if m > 2:
        rows[1][0] = 3
        rows[2].append(len(texts))
    last = []
    for _ in range(n):
        last.append(-0.0)
    return rows, flags, texts, last


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_same_as_python(engine):
    function = ag.function(filled, engine=engine)
    for n, m in ((3, 4), (1, 3), (0, 2), (-2, -3), (5, 0), (3, 4)):
        found = function(n, m)
        assert repr(found) == repr(filled(n, m)) and len({id(row) for row in found[0]}) == max(m, 0)
        assert all(each is found[3][0] for each in found[3])
