"""What the library knows of its own files by name: each name is that of a module, or importing fails."""

from __future__ import annotations

import importlib
import importlib.util
import inspect

import pytest

import autograph
from autograph import nn
from autograph.common import disk_cache, trace_rules
from autograph.conversion import cache
from autograph.runtime import ops
from autograph.runtime.tracing import warnings
from autograph.runtime.tracing.calls import python_versions

pytestmark = pytest.mark.once


def test_files_of_a_module_and_of_a_package():
    (module,) = trace_rules.files_of("variables")
    (package,) = trace_rules.files_of("nn")
    assert inspect.getsourcefile(autograph.Variable) == module
    assert inspect.getsourcefile(nn.Dense).startswith(package)


@pytest.mark.parametrize("name", ["no_such_module", "runtime.no_such_module", "variable"])
def test_a_file_that_is_not_there(name):
    with pytest.raises(ModuleNotFoundError, match=f"'{name}'"):
        trace_rules.files_of(name)


def test_a_version_asks_for_its_folders():
    with pytest.raises(ModuleNotFoundError, match="'no_such_folder'"):
        cache.version_of("no_such_folder")


def test_a_version_covers_folders_in_folders(tmp_path, monkeypatch):
    monkeypatch.setattr(trace_rules, "ROOT", f"{tmp_path}/")
    (tmp_path / "room" / "inner").mkdir(parents=True)
    assert cache.version_of("room") == ""     # there is no source
    (tmp_path / "top.py").touch()
    versions = {cache.version_of("room")}
    for name in ("room/first.py", "room/inner/second.py", "other.py"):
        (tmp_path / name).touch()
        versions.add(cache.version_of("room"))
    (tmp_path / "room" / "inner" / "second.py").write_text("pass")
    versions.add(cache.version_of("room"))
    assert len(versions) == 5


def test_what_is_staged_like_the_users_code():
    for function in (autograph.Variable.assign, autograph.jacobian, nn.Dense.__call__, autograph.optim.SGD.update):
        assert not trace_rules.is_own(function.__code__.co_filename)
    assert trace_rules.is_own(python_versions.reduce.__code__.co_filename)
    assert not trace_rules.is_plain(python_versions.__name__)
    for name in trace_rules._STAGED_NAMES:
        module, _, attribute = name.rpartition(".")
        found = getattr(importlib.import_module(module), attribute, None)
        assert found is not None or importlib.util.find_spec(name) is not None, name


def test_errors_that_are_the_users():
    assert not trace_rules.is_at_fault(python_versions.reduce.__code__)
    assert trace_rules.is_at_fault(cache.version_of.__code__)


def test_what_warns_for_reasons_of_its_own():
    sources = [autograph.syntax.source, autograph.converters.calls, autograph.conversion.conversions, ops.core]
    assert all(module.__file__.startswith(warnings._OWN) for module in sources)
    assert not warnings.__file__.startswith(warnings._OWN)


def test_what_a_trace_on_disk_may_name():
    """Whoever adds to this makes sure that no call of it does more than compute."""
    pytest.importorskip("llvmlite")
    importlib.import_module("autograph.runtime.engines.native.engine")
    assert sorted(name.removeprefix("autograph.").rpartition(".")[2] for name in disk_cache.STORABLE) == sorted(
        """Block Value TensorType ObjectType MaybeUnbound Event Executable Executable Native Parted Region
        CompiledRegion ListFunction Structure Point Exit Fetch Handed Number Complex Mixed Range Array Given Fixed
        Graph Instance Node Constant UNBOUND _dtype _method _scalar _shared
        kept added give_way note_stack static_key epoch attributes are_outside _identities _keys_of _restored""".split()
    )


def test_machine_code_on_disk_hinges_on_how_it_was_compiled():
    pytest.importorskip("llvmlite")
    target = importlib.import_module("autograph.runtime.engines.native.llvm.target")
    assert b"def optimized" in target._source()
