"""The directory of a saved object: one step replaces another, and damaged, foreign or newer ones are clear errors."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.errors import LoadError, SaveError
from autograph.saving import directory

SCALE = np.array([2.0, 3.0])


@ag.function
def scaled(x: Any) -> Any:
    return x * SCALE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ag.save(scaled, tmp_path / "saved", signatures=[(np.ones(2),)])
    return tmp_path / "saved"


def changed(folder: Path, change: Callable[[Any], Any], valid: bool = True) -> None:
    """Change graph.json, and the checksum with it if `valid`."""
    document = json.loads((folder / "graph.json").read_text())
    change(document)
    if valid:
        document["checksum"] = directory.checksum(document)
    (folder / "graph.json").write_text(json.dumps(document))


def test_there_are_two_files_and_no_code(folder: Path) -> None:
    names = sorted(each.name for each in folder.iterdir())
    assert len(names) == 2 and names[0].startswith("arrays-") and names[1] == "graph.json"
    document = json.loads((folder / "graph.json").read_text())
    directory.check(document)
    assert document["saved_by"]["autograph"] == ag.__version__


def test_arrays_are_read_by_others(folder: Path) -> None:
    from safetensors.numpy import load_file

    (array,) = load_file(next(folder.glob("*.safetensors"))).values()
    np.testing.assert_array_equal(array, SCALE)


def test_a_saved_object_is_replaced_and_leaves_nothing_behind(folder: Path) -> None:
    function = ag.function(lambda x: x + np.ones(3))
    ag.save(function, folder, signatures=[(np.ones(3),)])
    assert [each.name for each in folder.iterdir()] == ["graph.json"]
    np.testing.assert_array_equal(ag.load(folder)(np.ones(3)), [2.0, 2.0, 2.0])


def test_if_writing_fails_the_earlier_object_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.replace

    def fails(source: Any, target: Any) -> None:
        if str(target).endswith("graph.json"):
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(SaveError, match="cannot be written: .*No space left"):
        ag.save(ag.function(lambda x: x + np.zeros(5)), folder, signatures=[(1.0,)])
    np.testing.assert_array_equal(ag.load(folder)(np.ones(2)), SCALE)
    assert not list(folder.glob(".*"))


def test_a_refused_object_changes_nothing(folder: Path) -> None:
    with pytest.raises(SaveError):
        ag.save(ag.function(lambda x: x), folder)
    np.testing.assert_array_equal(ag.load(folder)(np.ones(2)), SCALE)


def test_other_contents_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(SaveError, match=r"has other contents, such as 'notes.txt'"):
        ag.save(scaled, tmp_path, signatures=[(np.ones(2),)])
    assert [each.name for each in tmp_path.iterdir()] == ["notes.txt"]


# Clear errors ---------------------------------------------------------------------------------------------------------


def test_missing_half_written_and_foreign_directories(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="is no directory"):
        ag.load(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(LoadError, match="not written by ag.save, or not to its end"):
        ag.load(tmp_path / "empty")
    text = (folder / "graph.json").read_bytes()
    (folder / "graph.json").write_bytes(text[: len(text) // 2])
    with pytest.raises(LoadError, match="is no JSON: .*not written to its end"):
        ag.load(folder)
    (folder / "graph.json").write_text('{"format": "other"}')
    with pytest.raises(LoadError, match="not of the format"):
        ag.load(folder)


def test_a_newer_version_says_so(folder: Path) -> None:
    changed(folder, lambda document: document.update(version=2))
    with pytest.raises(LoadError, match="has version 2, and this library reads version 1: upgrade"):
        ag.load(folder)


def test_a_change_is_noticed(folder: Path) -> None:
    changed(folder, lambda document: document["saved_by"].update(python="2.7"), valid=False)
    with pytest.raises(LoadError, match="not as it was saved: its checksum"):
        ag.load(folder)


@pytest.mark.parametrize("lost", [True, False])
def test_changed_or_missing_arrays_are_noticed(folder: Path, lost: bool) -> None:
    file = next(folder.glob("*.safetensors"))
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.unlink() if lost else file.write_bytes(data)
    with pytest.raises(LoadError, match=r"there is no .*safetensors" if lost else "is not as it was saved"):
        ag.load(folder)


def test_an_object_that_does_not_fit_the_schema(folder: Path) -> None:
    changed(folder, lambda document: document["objects"][0].update(code="print(1)"))
    with pytest.raises(LoadError, match="does not fit its schema"):
        ag.load(folder)


# Hostile directories --------------------------------------------------------------------------------------------------


def first_graph(document: Any) -> Any:
    return next(each for each in document["objects"] if each["kind"] == "function")["signatures"][0]["graph"]


HOSTILE: dict[str, tuple[Callable[[Any], Any], str]] = {
    "an operation that is none": (lambda d: first_graph(d)["nodes"][-1].update(op="os.system"), "is no operation"),
    "a function that is not known": (
        lambda d: first_graph(d)["nodes"][-1].update(op="call", args=[{"name": "builtins.eval"}, "1"]),
        "is no function or class that a saved graph may name",
    ),
    "a callback": (
        lambda d: d.update(objects=[*d["objects"], {"kind": "callback", "name": "os:system"}], root=len(d["objects"])),
        r"allow_callbacks=\['os:system'\]",
    ),
    "an attribute of Python's own": (
        lambda d: first_graph(d)["nodes"][0].update(op="getattr", args=[{"itself": 1}, "__globals__"]),
        r"must not read or set the attribute \('__globals__',\)",
    ),
    "arrays of any memory": (
        lambda d: first_graph(d)["nodes"][0].update(op="call", args=[{"name": "np.ndarray"}, 1, {"name": "object"}]),
        "must not use the class of arrays in `call`",
    ),
    "a guard that is code": (
        lambda d: d["objects"][0]["signatures"][0]["guards"].append(
            {"test": "__import__('os').system('true') == 0", "names": {}, "reason": ""}
        ),
        "does more than compare",
    ),
    "a huge array": (
        lambda d: next(each for each in d["objects"] if each["kind"] == "array").update(shape=[2**40, 2**10]),
        r"is float64\[2\], and not float64\[1099511627776, 1024\]",
    ),
    "an array of objects": (
        lambda d: next(each for each in d["objects"] if each["kind"] == "array").update(dtype="|O"),
        "arrays of dtype '|O' are not saved",
    ),
    "a path instead of a name": (
        lambda d: d["arrays"].update(file="../arrays-0123456789abcdef.safetensors"), "does not fit its schema",
    ),
    "a value before it is computed": (
        lambda d: first_graph(d)["nodes"].reverse(), "there is no value",
    ),
    "a cycle of tuples": (
        lambda d: d["objects"].append({"kind": "tuple", "value": {"tuple": [{"object": len(d["objects"])}]}})
        or d.update(root=len(d["objects"]) - 1),
        "is a part of itself",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_contents_are_refused(folder: Path, name: str) -> None:
    change, reason = HOSTILE[name]
    changed(folder, change)
    with pytest.raises(LoadError, match=reason):
        ag.load(folder)


def test_graphs_do_not_reach_into_loaded_functions(folder: Path, tmp_path: Path) -> None:
    changed(folder, lambda d: first_graph(d)["nodes"][0].update(op="getattr", args=[{"itself": 0}, "python_function"]))
    with pytest.raises(AttributeError, match="'function' object has no attribute 'python_function'"):
        ag.load(folder)(np.ones(2))

    class Model(ag.Module):
        @ag.function
        def step(self, x: Any) -> Any:
            return x * SCALE

    ag.save(Model(), tmp_path / "model", signatures={"step": [(np.ones(2),)]})
    number = json.loads((tmp_path / "model/graph.json").read_text())["root"]
    read = {"op": "getattr", "args": [{"itself": number}, "step"]}
    changed(tmp_path / "model", lambda d: first_graph(d)["nodes"][0].update(read))
    with pytest.raises(LoadError, match="must not read or set the attribute"):
        ag.load(tmp_path / "model")


def test_deep_nesting_is_refused(folder: Path) -> None:
    for text in ("[" * 10**6, '{"a":' * 10**5 + "1" + "}" * 10**5):
        (folder / "graph.json").write_text(text)
        with pytest.raises(LoadError):
            ag.load(folder)
    ag.save(scaled, folder, signatures=[(np.ones(2),)])
    text = (folder / "graph.json").read_text()
    deep = '{"tuple":[' * 3000 + "1" + "]}" * 3000
    (folder / "graph.json").write_text(text.replace('"args":[', f'"args":[{deep},', 1))
    with pytest.raises(LoadError):
        ag.load(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="has neither links nor pipes of this kind")
def test_links_pipes_and_folders_are_no_files(folder: Path) -> None:
    graph = folder / "graph.json"
    text = graph.read_text()
    (folder.parent / "elsewhere.json").write_text(text)
    for make in (lambda: graph.symlink_to(folder.parent / "elsewhere.json"), lambda: os.mkfifo(graph), graph.mkdir):
        graph.unlink()
        make()
        with pytest.raises(LoadError, match=r"cannot be read|is no regular file"):
            ag.load(folder)
        if graph.is_dir():
            graph.rmdir()
            graph.touch()


def test_what_is_missing_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    directory._validator.cache_clear()
    with pytest.raises(ImportError, match=r"pip install 'autograph-py\[save\]'"):
        ag.load(folder)
