"""Explanation: the table, the JSON, and the part that concerns one function."""

import json

from autograph.conversion.explain import Explanation
from autograph.converters.context.base import Decision

WHY = "`yield` belongs to its generator (line 12)"
DECISIONS = [
    Decision("b.py", 3, "g", "while", None),
    Decision("a.py", 12, "f", "for", WHY),
    Decision("a.py", 7, "A.m", "call of h", None),
    Decision("a.py", 7, "A.m", "call of h", None),
    Decision("a.py", 8, "A.m.inner", "if", None),
]


def test_table_is_aligned_and_ordered_by_file_and_line():
    assert str(Explanation(DECISIONS)) == (
        "a.py\n"
        " 7  A.m        call of h ×2  converted\n"
        " 8  A.m.inner  if            converted\n"
        f"12  f          for           plain: {WHY}\n"
        "\n"
        "b.py\n"
        "3  g  while  converted\n"
        "\n"
        "5 constructs: 4 converted, 1 plain"
    )


def test_what_happens_on_one_line_keeps_its_order():
    on_a_line = [Decision("a.py", 1, "f", name, None) for name in ("call of z", "call of a", "if")]
    assert Explanation(on_a_line).decisions == on_a_line


def test_part_of_a_function_holds_its_inner_functions_but_not_its_namesakes():
    part = Explanation([*DECISIONS, Decision("a.py", 20, "A.many", "if", None)]).within("A.m")
    assert [(d.lineno, d.function) for d in part.decisions] == [(7, "A.m"), (7, "A.m"), (8, "A.m.inner")]


def test_json_tells_each_decision():
    told = json.loads(Explanation(DECISIONS).to_json())
    assert len(told) == 5
    assert told[3] == {
        "file": "a.py", "line": 12, "function": "f", "construct": "for", "status": "plain", "reason": WHY
    }
    assert told[0]["reason"] is None


def test_nothing_to_tell():
    assert str(Explanation([])) == "0 constructs: 0 converted, 0 plain"
    assert Explanation([]).to_json() == "[]"
    assert repr(Explanation(DECISIONS[:1])) == "<Explanation: 1 construct: 1 converted, 0 plain>"
