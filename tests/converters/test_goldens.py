"""Every construct: its conversion, letter for letter (tests/golden), and that it does what the original does."""

from __future__ import annotations

import contextlib
import io
import re
from types import CodeType
from typing import Any

from autograph import operators
from autograph.converters import pipeline
from autograph.converters.context.known import module_context
from autograph.syntax import source
from autograph.syntax.printing import reprint
from tests.goldens import Golden


def test_text(golden: Golden) -> None:
    """What a golden says below its line is what comes out."""
    golden.check(convert(program(golden)))


def test_behavior(golden: Golden) -> None:
    """The examples in a golden's head give the same value, output or exception, converted or not."""
    original = program(golden)
    for example in re.findall(r"^# >>> (.*)$", golden.source, re.MULTILINE):
        assert outcome(convert(original), example) == outcome(original, example), example


def program(golden: Golden) -> str:
    """What a golden converts: its source without the head, the lines that say what it is about."""
    lines = golden.source.split("\n")
    while lines[0].startswith("# "):
        del lines[0]
    return "\n".join(lines)


def convert(text: str) -> str:
    parsed = source.parse(text, "golden.py")
    converted = pipeline.convert(parsed.tree, module_context(parsed.tree, "golden.py"))
    return reprint.to_text(converted.tree, parsed)


def outcome(text: str | CodeType, example: str, ag__: Any = operators) -> str:
    """What a program prints, and what an example in it comes to."""
    space = {"__name__": "golden", "ag__": ag__}
    printed = io.StringIO()
    *statements, expression = example.split("; ")
    with contextlib.redirect_stdout(printed):
        exec(text, space)
        try:
            exec("; ".join(statements), space)
            result = repr(eval(expression, space))
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
    return printed.getvalue() + re.sub(r" at 0x\w+", "", result)


def test_hash_seeds(same_under_every_hash_seed) -> None:
    """The text does not depend on the order in which Python keeps sets (law 8)."""
    printed = same_under_every_hash_seed(
        "from tests import goldens\n"
        "from tests.converters.test_goldens import convert, program\n"
        "for golden in goldens.collect(goldens.FOLDER):\n"
        "    if golden.readable_here:\n"
        "        print(convert(program(golden)))\n"
    )
    assert "ag__" in printed
