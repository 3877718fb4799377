"""Which files, modules, functions and classes belong to installed packages."""

from __future__ import annotations

import abc
import collections
import enum
import os
import sys
import typing
from pathlib import Path

import numpy as np
import pytest

import autograph as ag
from autograph.common import packages

sys.path.append(str(Path(__file__).parents[1] / "site-packages"))
import blackbox  # noqa: E402


@pytest.mark.parametrize(
    ("filename", "package"),
    [
        ("/usr/lib/python3.11/site-packages/toolz/functoolz.py", "toolz"),
        ("/usr/lib/python3/dist-packages/six.py", "six"),
        ("/home/me/.local/lib/python3.11/site-packages/a/b/c.py", "a"),
        ("/proj/.venv/lib/python3.11/site-packages/_ext.cpython-311-x86_64-linux-gnu.so", "_ext"),
        ("C:\\Python311\\Lib\\site-packages\\toolz\\__init__.py", "toolz"),
        ("/usr/lib/python3.11/site-packages/Old-1.0-py3.11.egg/old/mod.py", "old"),
        ("/opt/libs.zip/packed/mod.py", "packed"),
        ("/usr/lib/python3.11/site-packages/numpy/_core/numeric.py", ""),
        (ag.__file__, ""),
        (os.__file__, ""),
        (__file__, ""),
        ("/home/me/project/src/tool/mod.py", ""),
        ("/home/me/my-site-packages/mod.py", ""),
        ("<string>", ""),
        ("<attrs generated init mod.Class>", ""),
    ],
)
def test_files(filename, package):
    assert packages.package_of_file(filename) == package


def test_modules():
    assert packages.package_of_module("blackbox") == "blackbox"
    assert packages.package_of_module("pytest") == "pytest"
    for name in ("os.path", "__main__", "numpy.linalg", "autograph.nn", __name__, "no.such.module"):
        assert packages.package_of_module(name) == ""


def test_functions():
    made = eval("lambda: None", vars(blackbox))     # of text, as some packages do
    assert packages.package_of_function(blackbox.wave) == "blackbox"
    assert packages.package_of_function(made) == "blackbox"
    assert packages.package_of_function(test_modules) == ""
    assert packages.package_of_function(collections.namedtuple) == ""


class Derived(blackbox.Box):
    pass


class BoxedMeta(type(pytest.Item)):  # type: ignore[misc]
    pass


class WithItsMeta(metaclass=BoxedMeta):
    pass


class Plain(abc.ABC, typing.Generic[typing.TypeVar("T")]):  # type: ignore[misc]
    pass


class Kind(enum.Enum):
    ONE = 1


class Layer(ag.Module):
    pass


def test_classes():
    assert packages.packages_behind(blackbox.Box) == packages.packages_behind(Derived) == {"blackbox"}
    assert "_pytest" in packages.packages_behind(WithItsMeta)
    for kind in (Plain, Kind, Layer, np.ndarray, np.ma.MaskedArray, ag.Variable, dict, type("Made", (), {})):
        assert packages.packages_behind(kind) == frozenset()


def test_exceptions_hold_while_they_are_named(monkeypatch):
    assert packages.is_called(blackbox.wave) == packages.is_opaque_class(Derived) == "blackbox"
    with packages.tracing({"blackbox"}):
        assert packages.is_called(blackbox.wave) == packages.is_opaque_class(Derived) == ""
        with packages.tracing(()):
            assert packages.is_called(blackbox.wave) == "blackbox"
        assert packages.is_called(blackbox.wave) == ""
    monkeypatch.setattr(packages, "_has_extension", lambda package: True)
    with packages.tracing({"blackbox"}):
        assert packages.is_called(blackbox.wave) == ""
        assert packages.is_opaque_class(Derived) == "blackbox"
    assert packages.is_called(blackbox.wave) == "blackbox"


def test_names_and_globs():
    assert packages.matching(["blackb*", "no_such"]) == {"blackbox"}
    assert packages.matching([]) == frozenset()
    assert packages.check_names(["blackbox", "num?y"], "trace_packages") == ("blackbox", "num?y")
