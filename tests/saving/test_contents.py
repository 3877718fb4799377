"""`contents_of`: whatever is in a directory, it is described or refused, and nothing is imported or run."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

import autograph as ag
from autograph.cli.inspect import _cell
from autograph.errors import LoadError
from autograph.saving import directory
from autograph.saving.contents import contents_of, graphs_of

pytest.importorskip("safetensors")
pytestmark = pytest.mark.once


def rewritten(folder: Path, change: Any) -> Path:
    """The directory with a changed document, and the checksum that it then has."""
    path = folder / directory.GRAPH
    document = json.loads(path.read_text())
    change(document)
    document["checksum"] = directory.checksum(document)
    path.write_text(json.dumps(document))
    return folder


@pytest.mark.parametrize("seed", range(3))
def test_directories_that_were_changed_at_random(tmp_path: Path, seed: int) -> None:
    from tests.saving import hostile

    draw = random.Random(seed)
    made = hostile.originals(tmp_path / "originals")
    outcomes = set()
    for number in range(100):
        folder = tmp_path / str(number)
        shutil.copytree(draw.choice(made)[0], folder)
        hostile.change(folder, [path for path, _ in made], draw)
        try:
            found = contents_of(folder)
            for function in found.functions:
                graphs_of(folder, function.number)
            outcomes.add("described")
        except LoadError:
            outcomes.add("refused")
    assert outcomes == {"described", "refused"}


def test_a_small_file_with_a_result_of_very_many_parts(tmp_path: Path) -> None:
    ag.save(ag.function(lambda x: (x, x)), tmp_path / "f", signatures=[(1,)])

    def grow(document: Any) -> None:
        graph = document["objects"][0]["signatures"][0]["graph"]
        for number in range(200):
            pair = {"tuple": [{"value": number}] * 2}
            graph["nodes"].append({"op": "build", "args": [pair], "outputs": [["", "tuple"]]})
        graph["results"] = [{"value": 200}]

    found = contents_of(rewritten(tmp_path / "f", grow))
    assert len(str(found.functions[0].calls[0].result)) < 100_000 and "…" in str(found.functions[0].calls[0].result)


def test_deep_records(tmp_path: Path) -> None:
    ag.save(ag.function(lambda x: x), tmp_path / "f", signatures=[(1,)])

    def deepen(document: Any) -> None:
        arg: Any = None
        for _ in range(300):
            arg = {"tuple": [arg]}
        document["objects"][0]["signatures"][0]["graph"]["results"] = [arg]

    try:
        contents_of(rewritten(tmp_path / "f", deepen))
    except LoadError as error:
        assert "nested too deeply" in str(error)


def test_names_cannot_command_the_terminal() -> None:
    assert _cell("a\x1b[2Jb\n\u202ec") == "a\\x1b[2Jb\\n\\u202ec"
