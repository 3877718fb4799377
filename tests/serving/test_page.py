"""docs/serving.md: the program saves, and the commands print what the page says."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cli.test_serve import server
from tests.test_docs import blocks, python

pytest.importorskip("uvicorn")
pytest.importorskip("safetensors")
pytestmark = [pytest.mark.once, pytest.mark.usefixtures("default_engine")]
PAGE = "docs/serving.md"
# What differs from run to run, or with versions.
VARIES = re.compile(r"(?<=^saved).*|\(\d.*?\)(?=,|$)|(?<=arrays-)\w{16}|(?<=127\.0\.0\.1:)\d+", re.MULTILINE)


def same(text: str) -> str:
    return VARIES.sub("…", text)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_page(tmp_path: Path) -> None:
    program, client = blocks(PAGE, "python")
    (tmp_path / "model.py").write_text(program, encoding="utf-8")
    assert python(tmp_path, "model.py") == ""
    offline, _, asked = blocks(PAGE, "console")
    for command, said in commands(offline):
        assert same(python(tmp_path, "-m", *command)) == same(said)
    with server(tmp_path / "scores") as (_, port):
        for command, said in commands(asked):
            command = [part.replace("8501", str(port)) for part in command]
            found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            assert f"{found}\n" == said
        names = {"np": np}
        exec(client, names)
        found = names["ask"](np.ones((1, 3)), f"http://127.0.0.1:{port}/v1/models/scores:predict")
        assert found.tolist() == [[2.0, 3.0]]


def commands(block: str) -> list[tuple[list[str], str]]:
    """The commands of a block, and what each prints."""
    _, *parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return [(shlex.split(command), said) for command, said in zip(parts[::2], parts[1::2])]


def test_the_server_needs_no_module_of_the_tests() -> None:
    """Serving needs its extra only where it listens."""
    code = "import sys, autograph.serving.model, autograph.cli.run_saved; sys.exit('starlette' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
