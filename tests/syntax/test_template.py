"""Quoting: Python text with holes."""

from __future__ import annotations

import ast

import gast

from autograph.syntax import template


def text(nodes) -> str:
    tree = gast.Module(nodes, []) if isinstance(nodes, list) else gast.Expression(nodes)
    return ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(tree))).strip()


def test_a_string_fills_a_hole_with_another_name():
    assert text(template.statements("flag = not flag", flag="break_")) == "break_ = not break_"


def test_an_expression_fills_a_hole():
    assert text(template.expression("until is value", value=template.constant(None))) == "until is None"


def test_statements_fill_the_place_of_one():
    body = gast.parse("a\nb").body
    new = template.statements(
        """
        if test:
            body
            after
        """,
        body=body,
    )
    assert text(new) == "if test:\n    a\n    b\n    after"
    assert new[0].body[:2] == body  # the nodes themselves, with their origins


def test_names_of_functions_are_holes_too():
    assert text(template.statements("def name(x): pass", name="if_body")) == "def if_body(x):\n    pass"


def test_every_use_gives_a_fresh_tree():
    first, second = template.expression("a + b"), template.expression("a + b")
    assert first is not second and first.left is not second.left
    first.left.id = "changed"
    assert text(template.expression("a + b")) == "a + b"


def test_new_nodes_stand_nowhere():
    """Converters give them the place of what they replace."""
    assert not [n for n in gast.walk(template.expression("f(a)[b] + 1")) if hasattr(n, "lineno")]


def test_the_pieces_converters_are_made_of():
    x = template.name("x")
    assert text(template.call("and_", x, template.constant(1))) == "ag__.and_(x, 1)"
    assert text(template.call("range_", stop=x)) == "ag__.range_(stop=x)"
    assert text(template.thunk(template.constant(1), "a", "b")) == "lambda a, b: 1"
    assert text([template.function("loop_body", [], "item")]) == "def loop_body(item):\n    pass"
