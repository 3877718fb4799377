"""Words that are retired, in names and in prose: American spelling, and the terms of the literature.

They may return only in the changelog, which tells what things were called.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).parent.parent
# What is as it was found: goldens, programs that are converted, what others wrote; and this file.
ELSEWHERE = ("tests/golden", "tests/corpus", "tests/site-packages", "tests/reference", "benchmarks/c/", "CHANGELOG.md")
ELSEWHERE += ("docs/map.svg", "tests/test_words.py")
STEMS = "speciali optimi vectori materiali normali recogni summari maximi minimi standardi initiali concreti generali"
BRITISH = [
    rf"(?:{'|'.join(STEMS.split())})s(?:e|ed|er|ers|es|ing|ation|ations)(?![a-z])",
    r"parenthesis(?:ed|ing)", r"analys(?:e|ed|er|ing)(?![a-z])", r"colour", r"favour", r"neighbour", r"behaviour",
    r"relabell", r"\bcentre",
]  # fmt: skip
# `turn` as a verb, and in phrases, is English.
TURN = r"(?<![a-z])(?<!\bin )(?<!\bits )turn(?![a-z])|(?<![a-z])(?<!\bby )(?<!\btake )(?<!\btaking )turns(?![a-z])"
VERB = r"(?![ _](?:out|every|containers|the second|staged|(?:\S+ ){0,3}(?:into|off)\b))"
RETIRED = {
    "journal": "undo log",
    "had away": "avoided",
    f"(?:{TURN}){VERB}": "iteration",
    r"\b(?:a|one|no|the|as|of|or|neither) handles?\b|(?<![a-z])(?:is|on|of|has|holds|about)_handles?(?![a-z])": "proxy",
    r"\bheld containers?|(?<![a-z])(?:may_hold(?!_loops)|let_hold|has_held|holds_held)(?![a-z])": "staged container",
    r'(?<!["\'a-z])detours?(?![a-z])': "Python callback",     # in quotes, it is the kind that has been renamed
    r"(?<![a-z])(?:haste(?:ns|ned)?|hasty)(?![a-z])": "baseline tier",
    "learnt": "learned",
    "surroundings_of": "fingerprint_of",
    **dict.fromkeys(BRITISH, "American spelling"),
}


def texts() -> dict[str, str]:
    """The tracked files in this checkout that people read, by name; all files where there is no git."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    names = listed.stdout.split("\n") if listed.returncode == 0 else [
        path.relative_to(ROOT).as_posix()
        for folder in ("autograph", "tests", "docs", "benchmarks", "examples")
        for path in (ROOT / folder).rglob("*")
    ]  # fmt: skip
    kept = [name for name in names if name.endswith((".py", ".md", ".toml")) and not name.startswith(ELSEWHERE)]
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in kept if (ROOT / name).is_file()}


TEXTS = texts()


@pytest.mark.parametrize("word", RETIRED)
def test_a_retired_word_does_not_return(word: str) -> None:
    found = [
        f"{name}:{number}: {line.strip()}"
        for name, text in TEXTS.items()
        if re.search(word, text, re.IGNORECASE)
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(word, line, re.IGNORECASE)
    ]
    assert not found, f"write {RETIRED[word]!r}: {found[:10]}"


# The voice of the pages: the thing that acts is the subject.
PAGES = {name: text for name, text in TEXTS.items() if name.endswith(".md")}
PHRASES = r"\b(?:is|are) told\b|\bstands? in\b|\bbut for\b|\bthere is to\b|\bmay as well\b"
PHRASES += r"|\bhad better\b|\bit is looked\b|\bsees? to it\b|\bwhoever\b|\bhinges?\b|\bnobody\b|\bsomebody\b"


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_in_active_voice(name: str) -> None:
    prose = re.sub(r"```.*?```", "", PAGES[name], flags=re.DOTALL)
    assert re.findall(rf".*(?:{PHRASES}).*", prose, re.IGNORECASE) == []


# The same in the docstrings and comments of the package, and names that standard terms have replaced.
CODE_PHRASES = PHRASES.replace(r"|\bhinges?\b", "") + r"|\bby turns\b|\bbe it\b|\b(?:is|are) to be\b|\bdear\b"
RETIRED_NAMES = "told blind ahead halves aside ways knowing watching staying light chains bands windows"
RETIRED_NAMES += " gathering numpys combining storing contest verdict verdicts wording making journal haste detour"
MODULES = [name for name in TEXTS if name.startswith("autograph/") and name.endswith(".py")]


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_in_active_voice_and_standard_terms(name: str) -> None:
    tokens = [*tokenize.generate_tokens(io.StringIO(TEXTS[name]).readline)]
    docstrings = [
        text
        for node in ast.walk(ast.parse(TEXTS[name]))
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (text := ast.get_docstring(node))
    ]
    prose = [*docstrings, *(token.string for token in tokens if token.type == tokenize.COMMENT)]
    assert [text for text in prose if re.search(CODE_PHRASES, text, re.IGNORECASE)] == []
    assert [text for text in docstrings if re.match(r"(?:What|Who)\b", text)] == []
    words = "|".join(RETIRED_NAMES.split())
    names = {token.string for token in tokens if token.type == tokenize.NAME}
    assert [each for each in names if re.fullmatch(rf"_?(?:\w+_)?(?:{words})(?:_\w+)?", each)] == []


def test_names_of_files_are_american() -> None:
    assert not [name for name in TEXTS for word in BRITISH if re.search(word, name)]
