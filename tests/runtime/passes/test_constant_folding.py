"""Constant folding."""

import pytest

from tests.runtime.passes.texts import becomes, stays


def test_numbers():
    becomes(
        "constant_folding",
        """
        graph f(n: py.int):
            a: py.int = 2 * 3
            b: py.float = a / 4
            c: py.int = n + a
            -> (b, c)
        """,
        """
        graph f(n: py.int):
            c: py.int = n + 6
            -> (1.5, c)
        """,
    )


def test_inside_of_blocks():
    becomes(
        "constant_folding",
        """
        graph f(n: py.int):
            a: py.int = 2 + 3
            r: py.int = if(n):
                then:
                    b: py.int = a * 2
                    -> b
                else:
                    -> a
            -> r
        """,
        """
        graph f(n: py.int):
            r: py.int = if(n):
                then:
                    -> 10
                else:
                    -> 5
            -> r
        """,
    )


@pytest.mark.parametrize(
    "expression, result",
    [
        ("not 1.5", "False"),
        ("(1, 2, 3)[1]", "2"),
        ("2 ** 10", "1024"),
        ("f64(1.5) + 1", "f64(2.5)"),
        ("i8(100) + 27", "i8(127)"),
        ("0.0 * -1", "-0.0"),
        ("1 << 4", "16"),
    ],
)
def test_what_is_folded(expression, result):
    becomes("constant_folding", f"graph f():\n  a: object = {expression}\n  -> a", f"graph f():\n  -> {result}")


@pytest.mark.parametrize(
    "expression",
    [
        "1 / 0",                    # raises
        "i8(100) + 28",             # warns
        "f64(1.0) / 0",             # warns
        "10 ** 1000000",            # large
        "2 ** -1000000",
        "1 << 100000",
        "'a' * 1000000000",
        "1 + 'a'",
        "print(1)",
        "[1, 2][0]",                # a list can change
        "np.arange(3)",
    ],
)
def test_what_is_not(expression):
    stays("constant_folding", f"graph f():\n  a: object = {expression}\n  -> a")
