"""What is read from bytecode, and what happens where CPython has another one."""

from __future__ import annotations

import collections
import dis
import functools
import sys
from types import FrameType

import pytest

from autograph.common import bytecode
from autograph.common.bytecode import (
    instruction,
    instruction_at,
    instructions,
    is_comparison,
    is_inplace,
    raw_instructions,
)

# so many names and constants that instructions need an `EXTENDED_ARG`
LONG = "def f():\n" + "".join(f"    v{number} = {1000 + number}.5\n" for number in range(400))


def long() -> None:
    pass


exec(LONG, names := {"__name__": __name__})
long = names["f"]  # type: ignore[assignment]


def test_instructions_are_those_that_dis_finds() -> None:
    expected = [(each.offset, each.opcode, each.arg or 0) for each in dis.get_instructions(long)
                if each.opname not in ("EXTENDED_ARG", "CACHE")]  # fmt: skip
    found = [each for each in raw_instructions(long.__code__)]
    assert [each[:2] for each in found] == [each[:2] for each in expected]
    taking = [place for place, (_, op, _) in enumerate(expected) if op >= dis.HAVE_ARGUMENT]
    assert [found[place][2] for place in taking] == [expected[place][2] for place in taking]
    for offset, op, argument in found:
        assert instruction_at(long.__code__, offset) == (dis.opname[op], argument)


def test_variables_by_name() -> None:
    stored = [name for _, does, name in instructions(long.__code__) if does == "STORE_FAST"]
    assert stored == [f"v{number}" for number in range(400)]


class Asked:
    """Notes at which instruction it is asked."""

    frame: FrameType

    def _note(self, other: object) -> Asked:
        self.inplace, self.less = is_inplace(sys._getframe(1)), is_comparison(sys._getframe(1), "<")
        return self

    __add__ = __lt__ = __sub__ = _note


def test_operators() -> None:
    x = asked = Asked()
    _ = x + 1
    assert not asked.inplace and not asked.less
    x += 1
    assert asked.inplace
    x -= 1
    assert asked.inplace
    _ = x < 1
    assert asked.less and not asked.inplace


def test_bytecode_is_known() -> None:
    assert bytecode.IS_KNOWN and bytecode._is_known()


@pytest.mark.parametrize("name, value", [("_FIRST_INPLACE", 40), ("_COMPARE_SHIFT", 8)])
def test_other_bytecode_is_found_out(name: str, value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.version_info < (3, 11) and name == "_FIRST_INPLACE":
        pytest.skip("there are instructions of their own")
    monkeypatch.setattr(bytecode, name, value)
    assert not bytecode._is_known()


def test_where_it_is_not_known_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bytecode, "IS_KNOWN", False)
    assert instructions(long.__code__) == []
    assert instruction(sys._getframe()) == ("", 0)
    assert not is_inplace(sys._getframe()) and not is_comparison(sys._getframe(), "<")


class Meta(type):
    pass


class Methods(metaclass=Meta):
    def plain(self):
        pass

    @staticmethod
    def static():
        pass

    @classmethod
    def of_class(cls):
        pass

    @property
    def whole(self):
        pass


@functools.lru_cache
def cached():
    pass


def test_functions_of_a_module_are_also_those_that_others_wrap() -> None:
    libraries = {"module": functools, "namedtuple": collections.namedtuple, "Counter": collections.Counter}
    names = {"Methods": Methods, "cached": cached, "number": 1, "nothing": None, **libraries}
    found = {function.__name__ for function in bytecode.functions_in(names)}
    assert found == {"plain", "static", "of_class", "whole", "cached"}
