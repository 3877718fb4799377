"""What is done to shadows: the table is of operations that there are, and is asked for each."""

from __future__ import annotations

from typing import Any

import pytest

from autograph.runtime.autodiff.shadow_rules import RULES, Move, moved
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.opdef import OPS
from autograph.runtime.graph.types import ANY, ObjectType

LIST, ITEM = ObjectType("list"), ANY


def test_all_operations_are_known() -> None:
    assert [op for op in RULES if op not in OPS and not op.startswith(".")] == []


def done(op: str, *args: Any, **kwargs: Any) -> str:
    """What is done to the shadows of `a`, `b`, …, in words."""
    names = {value: name for value, name in zip(filter(lambda arg: isinstance(arg, Value), args), "abcd")}
    node = Node(op, args, kwargs, (), ())
    names[node.add_output(ANY)] = "result"
    before: list[Node] = []
    op, given, _ = moved(Move(node, before, lambda leaf: f"~{names.get(leaf, leaf)}", lambda value: False))
    names |= {each.outputs[0]: f"{each.op}({each.args[0]})" for each in before if each.op == "parts_of"}
    return f"{op} " + " ".join(str(names.get(arg, arg) if isinstance(arg, Value) else arg) for arg in given)


@pytest.mark.parametrize(
    "op, others, wanted",
    [
        (".append", [ITEM], ".append ~a ~b"),
        (".insert", [0, ITEM], ".insert ~a 0 ~b"),
        (".pop", [1], ".pop ~a 1"),
        ("setitem", [1, ITEM], "setitem ~a 1 ~b"),
        ("setitem", [slice(2), ITEM], "put_parts ~a slice(None, 2, None) ~b a"),
        ("getitem", [1], "part_of ~a 1"),
        ("iadd", [ITEM], "extended_by ~a ~b a"),
        ("mul", [3], "mul ~a 3"),
        ("zip", [ITEM], "zip parts_of(~a) parts_of(~b)"),
        ("enumerate", [5], "zip parts_of(~None) parts_of(~a)"),
        ("list", [], "made_of ~a result"),
        ("sorted", [], "sorted_like parts_of(~a) a"),
        (".anything", [2], "view_of ~a result .anything 2"),
    ],
)
def test_shadows_are_moved_like_what_they_belong_to(op: str, others: list[Any], wanted: str) -> None:
    rest = [Value(other, None, "") if isinstance(other, type(ANY)) else other for other in others]
    assert done(op, Value(LIST, None, ""), *rest) == wanted


@pytest.mark.parametrize(
    "op, keywords, wanted",
    [
        ("sorted", {"reverse": True}, {"reverse": True}),
        ("sorted", {"key": abs, "reverse": True}, {}),
        (".update", {"a": 1}, {}),
    ],
)
def test_keywords_are_kept_unless_the_rule_has_used_them(op: str, keywords: dict[str, Any], wanted: Any) -> None:
    node = Node(op, (Value(LIST, None, ""),), keywords, (), ())
    node.add_output(LIST)
    assert moved(Move(node, [], lambda leaf: leaf, lambda value: False))[2] == wanted
