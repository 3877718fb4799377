"""The goldens' own machinery."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.goldens import SEPARATOR, Golden

SOURCE = "# Doubles.\ndef f(x):\n    return x\n"


def write(folder: Path, text: str, update: bool = False) -> Golden:
    path = folder / "case.py"
    path.write_text(text, encoding="utf-8")
    return Golden(path, update)


def test_the_same_text_passes(tmp_path):
    golden = write(tmp_path, f"{SOURCE}\n{SEPARATOR}def g(): ...\n")
    assert golden.source == SOURCE
    golden.check("def g(): ...")


def test_another_text_fails_and_says_how_to_accept_it(tmp_path):
    golden = write(tmp_path, f"{SOURCE}\n{SEPARATOR}def g(): ...\n")
    with pytest.raises(AssertionError, match="new text is right, run pytest --update-goldens"):
        golden.check("def h(): ...\n")


def test_a_golden_without_its_lower_part_fails(tmp_path):
    with pytest.raises(AssertionError, match="no lower part yet"):
        write(tmp_path, SOURCE).check("def g(): ...\n")


def test_updating_writes_the_lower_part_and_keeps_the_upper(tmp_path):
    golden = write(tmp_path, SOURCE, update=True)
    golden.check("def g(): ...\n")
    golden.check("def h(): ...\n")
    assert golden.path.read_text(encoding="utf-8") == f"{SOURCE}\n{SEPARATOR}def h(): ...\n"
    Golden(golden.path).check("def h(): ...\n")


def test_the_first_line_may_name_a_python(tmp_path):
    assert write(tmp_path, SOURCE).since == (3, 10)
    newer = write(tmp_path, "# python 3.99\n" + SOURCE)
    assert newer.since == (3, 99) and not newer.readable_here
