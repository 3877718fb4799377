"""What is recorded of a parsed tree: places, shapes, comments."""

from __future__ import annotations

import copy
from textwrap import dedent
from typing import Any

import gast
import pytest

from autograph.syntax.origin import Comments, untouched
from autograph.syntax.source import parse


def tree(text: str) -> Any:
    return parse(dedent(text).lstrip("\n"), "user.py").tree


def comments(text: str) -> dict[str, Comments]:
    """The comments of the statements of a program, by the one-letter names that they consist of or define."""
    found = {}
    for node in gast.walk(tree(text)):
        if isinstance(node, gast.stmt):
            inner = node.value if isinstance(node, gast.Expr) else getattr(node, "test", node)
            found[getattr(inner, "id", getattr(inner, "name", type(inner).__name__))] = node.comments
    return found


# -- comments -----------------------------------------------------------------------------------------------


def test_comments_belong_to_the_statement_below():
    found = comments("""
        # one

        a
        # two
        b  # not this one
        """)
    assert found["a"] == Comments(before=("# one", ""))
    assert found["b"] == Comments(before=("# two",))


def test_comments_that_end_a_block_belong_to_its_last_statement():
    found = comments("""
        if a:
            b
            # inner

            # inner, too

        # outer
        c
        # end
        """)
    assert found["b"].after == ("# inner", "", "# inner, too")
    assert found["c"] == Comments(before=("", "# outer"), after=("# end",))


def test_the_indentation_of_a_comment_tells_where_it_belongs():
    found = comments("""
        def f():
            if a:
                if b:
                    c
                    # with c
              # with b, though it is not quite aligned
            d
        """)
    assert found["c"].after == ("# with c",)
    assert found["d"].before == ("  # with b, though it is not quite aligned",)


def test_a_comment_behind_a_header_is_apart():
    found = comments("""
        if a:  # why
            # first
            b
        class C(  # no
            object):  # yes
            c
        """)
    assert found["a"].trailing == "# why"
    assert found["b"].before == ("# first",)
    assert found["C"].trailing == "# yes"
    assert found["C"].inside == ("# no",)


def test_what_stands_at_a_header_in_between_belongs_to_the_statement_below():
    found = comments("""
        try:  # t
            a
        # lead
        except E:  # e
            # own
            b
        else:  # l
            c
        finally:  # f
            d
        """)
    assert found["Try"].trailing == "# t"
    assert found["b"].before == ("# lead", "# e", "# own")
    assert found["c"].before == ("# l",)
    assert found["d"].before == ("# f",)


def test_elif_is_a_statement_like_others():
    found = comments("""
        if a:
            b
        # lead
        elif c:  # c
            d
        # end
        """)
    assert found["c"] == Comments(before=("# lead",), trailing="# c")
    assert found["a"] == Comments(after=("# end",))


def test_match_and_its_cases():
    found = comments("""
        match x:  # m
            # first
            case "#":  # c
                a
            case _: b  # at the end of b
        """)
    assert found["Match"].trailing == "# m"
    assert found["a"].before == ("# first", "# c")
    assert found["b"] == Comments()


def test_strings_that_look_like_comments_are_none():
    found = comments('''
        a = """
        # no
        """
        b
        def f(x="#"): pass
        ''')
    assert found["b"] == Comments()
    assert found["f"] == Comments()


def test_several_statements_on_a_line():
    module = tree("a = 1; b = 2;  # both\nif c: d; e\n")
    first, second, branch = module.body
    assert (first.origin.inline, second.origin.inline) == (False, True)
    assert (first.origin.comment, second.origin.comment) == ("", "  # both")
    assert [node.origin.inline for node in branch.body] == [True, True]


def test_decorators_are_part_of_a_definition():
    module = tree("""
        # before
        @(
            deco)
        # between
        def f(): pass
        """)
    assert module.body[0].origin.first == 2
    assert module.body[0].comments.before == ("# before",)


def test_a_file_of_comments():
    assert tree("# one\n\n# two\n").comments.before == ("# one", "", "# two")


def test_tabs_form_feeds_and_text_that_is_not_ascii():
    found = comments("if a:\n\tb\n\t# größer\n\f\n# außen\nc\n")
    assert found["b"].after == ("# größer",)
    assert found["c"].before == ("", "# außen")


# -- origins ------------------------------------------------------------------------------------------------


def test_spans_are_those_of_the_file():
    call = tree("ä = f(1,\n      2)\n").body[0].value
    assert call.origin.span == (1, 5, 2, 8)  # columns are bytes


def test_the_places_inside_fstrings_are_not_trusted():
    value = tree("f'{a}'").body[0].value
    assert not value.origin.in_fstring
    assert value.values[0].value.origin.in_fstring


def test_lines_that_begin_inside_strings():
    module = tree('''
        a = """one
        two""" (
        'three\\
        four' f"""
        {five}""")
        ''')
    assert module.origin.strings == {2, 4, 5}


def test_until_touched_everything_is_untouched():
    module = tree("def f(x):\n    return [x, *x, x.y[1:2]] if not x else {x: 1}\n")
    assert untouched(module)


@pytest.mark.parametrize(
    "change",
    [
        lambda call: call.args.append(gast.Name("new", gast.Load(), None, None)),
        lambda call: call.args.clear(),
        lambda call: setattr(call.args[0], "id", "new"),
        lambda call: setattr(call.args[1], "op", gast.Sub()),
        lambda call: setattr(call.args[2], "value", True),
        lambda call: setattr(call, "func", gast.Name("f", gast.Load(), None, None)),
    ],
)
def test_any_change_shows_all_the_way_up(change):
    module = tree("if a:\n    f(x, y + z, 1)\nb\n")
    change(module.body[0].body[0].value)
    assert not untouched(module)
    assert not untouched(module.body[0])
    assert untouched(module.body[1])


def test_comments_that_moved_away_are_a_change():
    module = tree("if a:\n    # why\n    b\n")
    module.body[0].body[0].comments = Comments()
    assert not untouched(module.body[0])


def test_a_new_node_is_never_untouched():
    assert not untouched(gast.Pass())


def test_copies_are_as_untouched_as_what_they_copy():
    module = tree("if a:\n    # why\n    b\n")
    assert untouched(copy.deepcopy(module.body[0]))


def test_one_walk_looks_at_every_node_once():
    module = tree("x = " + " + ".join(["a"] * 980))  # deeper than our own functions could recurse
    memo: dict[int, bool] = {}
    assert untouched(module, memo)
    assert len(memo) == sum(bool(node._fields or node._attributes) for node in gast.walk(module))


def test_long_chains_of_elif():
    text = "if x == 0:\n    pass\n" + "".join(f"elif x == {n}:  # {n}\n    pass\n" for n in range(1, 500))
    last = tree(text).body[0]
    while last.orelse:
        last = last.orelse[0]
    assert last.comments.trailing == "# 499"
    assert last.origin.last == 1000
