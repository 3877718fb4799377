"""Programs with what is known of each line written beside it, so that expectation and program are one text.

    assert beside(code(text), facts) == text
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping


def tidy(text: str) -> str:
    """The text of a test, its lines without comments' padding: `code  # fact`."""
    lines = textwrap.dedent(text).strip("\n").split("\n")
    return "\n".join(re.sub(r" *#", "  #", line.rstrip()) for line in lines)


def code(text: str) -> str:
    """The program alone."""
    return re.sub(r"  #.*", "", tidy(text))


def beside(program: str, facts: Mapping[int, str]) -> str:
    """The program with a fact behind each line that has one; line numbers count from 1."""
    lines = program.split("\n")
    return "\n".join(f"{line}  # {facts[i]}".rstrip() if i in facts else line for i, line in enumerate(lines, 1))
