"""Names that never clash, and names as Python stores them."""

from __future__ import annotations

import gast
import pytest

from autograph.syntax import names

EVERY_ROLE = """
import a.b as c, d.e
from f import g as h
def i(j, /, k, *l, m=n, **o):
    global p
    nonlocal q
    r.s = t(u=v)
    try: pass
    except w as x: pass
    match y:
        case z(aa=bb) | {1: cc, **dd} | [*ee]: pass
class ff(gg): pass
lambda hh: (ii := jj)
"""


def test_all_names_of_a_text_in_every_role():
    found = names.all_names(gast.parse(EVERY_ROLE))
    single = {*"acdghijklmnopqrstuvwxyz"} - {"b", "e"}
    assert found >= single | {"bb", "cc", "dd", "ee", "ff", "gg", "hh", "ii", "jj"}


def test_a_name_that_is_not_taken_is_given_as_it_is():
    assert names.Namer().fresh("loop_body") == "loop_body"


def test_taken_names_are_numbered():
    namer = names.Namer(["if_body", "if_body_1", "break_"])
    assert namer.reusable("if_body") == "if_body_2"
    assert namer.fresh("break_") == "break_1"


def test_fresh_names_are_given_once_and_reusable_ones_again():
    namer = names.Namer()
    assert [namer.fresh("break_"), namer.fresh("break_"), namer.fresh("break_")] == ["break_", "break_1", "break_2"]
    assert [namer.reusable("if_body"), namer.reusable("if_body")] == ["if_body", "if_body"]


def test_the_same_requests_give_the_same_names():
    assert _some_names({"x", "item", "item_1"}) == _some_names({"item_1", "x", "item"}) == ["item_2", "item_3", "y"]


def _some_names(used: set[str]) -> list[str]:
    namer = names.Namer(used)
    return [namer.fresh(root) for root in ("item", "item", "y")]


@pytest.mark.parametrize("class_name", ["C", "_C", "__C", "_", "___"])
@pytest.mark.parametrize("name", ["x", "_x", "__x", "__x_", "__x__", "___x", "__"])
def test_mangling_is_pythons(name, class_name):
    space: dict[str, object] = {}
    exec(f"class {class_name}:\n    def f(self): return self.{name}", space)
    (stored,) = space[class_name].f.__code__.co_names
    assert names.mangle(name, class_name) == stored


def test_outside_classes_nothing_is_mangled():
    assert names.mangle("__x", None) == "__x"
