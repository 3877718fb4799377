"""Between `ast` and `gast` and back: as gast's own translation has it, whatever the depth."""

import ast
import importlib

import gast
import pytest

from autograph.syntax import bridge

MODULES = ["argparse", "asyncio.tasks", "contextlib", "difflib", "enum", "heapq", "typing", "unittest.mock"]


def parsed(name):
    with open(importlib.import_module(name).__file__, encoding="utf-8") as file:
        return ast.parse(file.read())


@pytest.mark.parametrize("name", MODULES)
def test_as_gast_does(name):
    tree = parsed(name)
    there, expected = bridge.to_gast(tree), gast.ast_to_gast(tree)
    assert gast.dump(there, include_attributes=True) == gast.dump(expected, include_attributes=True)
    assert ast.dump(bridge.to_ast(there), include_attributes=True) == ast.dump(tree, include_attributes=True)


def test_depth_costs_no_stack():
    tree = ast.BinOp(ast.Constant(1), ast.Add(), ast.Constant(1))
    for _ in range(20_000):
        tree = ast.BinOp(tree, ast.Add(), ast.Constant(1))
    back = bridge.to_ast(bridge.to_gast(tree))
    depth = 0
    while isinstance(back, ast.BinOp):
        back, depth = back.left, depth + 1
    assert depth == 20_001


def test_nodes_without_a_place_are_on_their_parent_s_line():
    tree = bridge.to_gast(ast.parse("x = 1\nf(a)"))
    call = gast.Call(gast.Name("g", gast.Load(), None, None), [tree.body[1].value.args[0]], [])
    tree.body[1].value = call
    tree.body.insert(0, gast.Pass())
    back = bridge.to_ast(tree)
    made = back.body[2].value
    assert (made.lineno, made.col_offset, made.end_lineno, made.end_col_offset) == (2, -1, 2, -1)
    assert (made.func.lineno, made.func.col_offset) == (2, -1)
    assert (made.args[0].lineno, made.args[0].col_offset) == (2, 2)
    assert back.body[0].lineno == -1                    # at the top there is no line to be on
    compile(back, "user.py", "exec")


def test_a_node_may_stand_in_several_places():
    name = gast.Name("x", gast.Load(), None, None)
    back = bridge.to_ast(gast.Expression(gast.Tuple([name, name], gast.Load())))
    assert eval(compile(back, "user.py", "eval"), {"x": 1}) == (1, 1)


def test_hooks():
    tree = bridge.to_gast(ast.parse("def f(): return g(lambda: h)"))
    seen = []

    def note(node, made, around):
        seen.append((type(made).__name__, around))
        return type(made).__name__

    bridge.to_ast(tree, {gast.FunctionDef: note, gast.Lambda: note, gast.Name: note}, "top")
    assert seen == [("FunctionDef", "top"), ("Name", "FunctionDef"), ("Lambda", "FunctionDef"), ("Name", "Lambda")]
