"""Inspection of objects and classes that runs no code of the user's."""

from __future__ import annotations

import builtins
import collections
from typing import Any

import pytest

from autograph.common.statics import module_of


class _Lying(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise AssertionError("code of the user's")

    __flags__ = __module__ = __name__


def test_builtin_classes() -> None:
    kinds = {kind for kind in vars(builtins).values() if type(kind) is type}
    assert {kind.__name__ for kind in kinds if module_of(kind) == "builtins"} >= {"int", "list", "range", "ValueError"}
    assert {kind for kind in kinds if module_of(kind) != kind.__module__} == set()


def test_classes_of_modules() -> None:
    assert module_of(collections.Counter) == "collections"
    assert module_of(type(iter([]))) == "builtins"
    assert module_of(_Lying("Made", (), {"__module__": "some.where"})) == "some.where"


@pytest.mark.parametrize("name", ["Made", "list"])
def test_classes_that_claim_to_be_builtin(name: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"class {name}: pass", namespace)
    assert namespace[name].__module__ == "builtins"
    assert module_of(namespace[name]) == ""
    assert module_of(_Lying("Made", (), {"__module__": "builtins"})) == ""
