"""The version tags of classes, read where CPython keeps them."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from autograph.common import cpython_internals
from autograph.common.cpython_internals import assign_version_tag, version_tag

HAS_TAGS = sys.implementation.name == "cpython" and (3, 10) <= sys.version_info[:2] <= (3, 13)


def base_and_class() -> tuple[type, type]:
    base = type("Base", (), {"first": 1})
    return base, type("Kind", (base,), {})


@pytest.mark.skipif(not HAS_TAGS, reason="where other versions keep tags is not known")
@pytest.mark.parametrize(
    "change",
    [
        lambda base, kind: setattr(base, "first", 2),
        lambda base, kind: setattr(kind, "first", 2),
        lambda base, kind: delattr(base, "first"),
        lambda base, kind: setattr(base, "__len__", lambda self: 1),
        lambda base, kind: setattr(kind, "__bases__", (type("Other", (), {}),)),
    ],
)
def test_a_class_has_one_tag_until_it_or_a_base_changes(change: Callable[[type, type], None]) -> None:
    base, kind = base_and_class()
    tag = version_tag(kind)
    assign_version_tag(kind)
    before = tag[0]
    kind().first  # type: ignore[attr-defined]  # noqa: B018
    assert tag[0] == before != 0
    change(base, kind)
    assert tag[0] == 0
    assign_version_tag(kind)
    assert tag[0] not in (0, before)


def test_where_nothing_is_known_a_class_has_no_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpython_internals, "_HAS_TAGS", False)
    assert version_tag(int)[0] == 0


def test_another_layout_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cpython_internals._has_tags() is HAS_TAGS
    monkeypatch.setattr(cpython_internals, "_TAG_OFFSET", 24)
    assert not cpython_internals._has_tags()
