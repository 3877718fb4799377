"""Lines, columns, comments and brackets of a text."""

from __future__ import annotations

from autograph.syntax.lines import Brackets, Lines, column, comments, inner_lines


def test_columns_are_bytes_in_python_and_characters_here():
    assert column("abc", 2) == 2
    assert column("äöü = 1", len("äöü".encode())) == 3


def test_a_text_may_span_lines_and_other_line_ends():
    lines = ["ä = (1,\r\n", "  2)  # c\r\n"]
    assert Lines(lines).between((1, 5), (2, 4)) == "(1,\n  2)"


def test_comments_are_not_what_strings_hold():
    assert comments("a # it's one\n'# no' # two \n\"\"\"\n# no\n\"\"\"\n'\\'# no'\n# three") == (
        "# it's one",
        "# two",
        "# three",
    )


def test_what_stands_above_and_below():
    lines = Lines(["a\n", "\n", "  # one\n", "    # aligned\n", "\n", "  b\n", "  # two\n", "\n", "# three\n"])
    assert lines.above(6, 1, 2) == ("", "# one", "  # aligned", "")
    assert lines.above(6, 3, 2) == ("  # aligned", "")
    assert lines.below(6, 2) == ("# two",)
    assert lines.below(6, 0) == ("  # two", "", "# three")


def test_comments_at_the_end_of_a_line():
    lines = Lines(["a; b ;  # one\n", "def f(x='#'):\t# two\n"])
    assert lines.comment_behind(1, 4, only=True) == "  # one"
    assert lines.comment_behind(1, 1, only=True) == ""  # b comes in between
    assert lines.comment_behind(2, 11) == "\t# two"


def test_lines_that_begin_inside_strings():
    assert list(inner_lines("'''a\nb''' \\\n 'c' # '''\n'd\\\ne'", 10, fstring=False)) == [11, 14]
    assert list(inner_lines("f'a'\n'b'", 1, fstring=True)) == []
    assert list(inner_lines("f'''{\na}'''\n'b'", 1, fstring=True)) == [2, 3]  # better too many than too few


def test_lines_follow_the_bracket_they_are_aligned_with():
    brackets = Brackets("", "  ")
    moved = brackets.move(["f(a, '(',  # (", "  b, [c,", "      d],", "  (", "e"], 0, 4, [False] * 5)
    assert moved == "\n".join(["f(a, '(',  # (", "      b, [c,", "          d],", "      (", "  e"])
    # the next piece begins behind an expression that has grown from one letter to three
    assert brackets.move([",", "f),", "   ('", "'))"], 1, 5, [False, False, False, True]) == "\n".join(
        [",", "  f),", "     ('", "'))"]
    )
