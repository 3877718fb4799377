"""Law 3: converted code looks hand-written, and stands on its own.

What it looks like, construct by construct, stand in tests/golden. Here: that what no converter touched is as the
user typed it, that nothing is lost, and that what is ejected can be imported.
"""

from __future__ import annotations

import ast
import importlib
import io
import re
import subprocess
import sys
import tokenize
from functools import cache
from pathlib import Path

import pytest

from autograph import api
from tests import corpus, outcomes
from tests.test_corpus import ENTRIES

THEMES = pytest.mark.parametrize("theme", corpus.themes())


@cache
def original(theme: str) -> str:
    return Path(str(corpus.module(theme).__file__)).read_text(encoding="utf-8")


@cache
def converted(theme: str) -> str:
    return api.convert_source(original(theme), str(corpus.module(theme).__file__)).text


# What was not touched

UNTOUCHED = '''\
#!/usr/bin/env python
# A license.

"""A docstring,
    with an indented line and a tab:\t."""
from __future__ import annotations

import   os, sys
from os import (path as p,   # why
    sep)


x = ( 1 +
      2 )        # parenthesized
y=0x_FF; z = 1_000.50e-1_0; w = 0B11 + 0o17
t = 'it''s', "it's", \'\'\'three\'\'\', r'\\d', b"\\x00", u'u', f'{x!r:>{10}}' "joined"
d = {'a':1,
     # a comment inside
     'b' : [ 1,2 ,
             3], }


@property
@ p.curdir . join    # odd, but allowed
def f( self,a , b = 1,* ,c : int=2,** kw ) -> "int" :
    """Doc."""
    # first comment

    return   ( self . x
        if True else\\
        b )


class  C ( object ) :

    x :int=1
    y = lambda self,q = 1 :q

    # a comment at the end

    def m (self): return self.x ; pass
    async def n(self): return [ self for self in [] ]


# the last comment
'''


def test_module_with_nothing_to_convert() -> None:
    text = UNTOUCHED.replace("[ self for self in [] ]", "None").replace("( self . x\n        if True else\\\n", "(\\\n")
    assert api.convert_source(text, "untouched.py").text == text


STATEMENTS = '''\
def f(x,   y = 'default'):
    # before
    a = ( x  +  1 )   # spaces stay
    b = {'k' :x, "l":[ 1,2 ], **{}}
    total  +=  0x10
    n = 1_000; m = [ n ]
    text = """
  not indented
    """ 'joined' "text"
    w = - x ** - 1, (yield_ := 3), lambda: (  0 )
    del  a , b
    if x > 0:      # positive
        c = ( a,
              b )  # two lines

        # between
        d = c [ 0 ]

    return  y
'''


def test_untouched_lines_stay() -> None:
    """All lines but the header of the `if` come out as they went in, those in it one deeper or not."""
    text = api.convert_source(STATEMENTS, "statements.py").text
    have = [line.strip() for line in text.splitlines()]
    for line in STATEMENTS.splitlines():
        if not line.strip().startswith("if "):
            assert line.strip() in have
    assert '"""\n  not indented\n    """' in text
    assert "# positive" in text


@THEMES
def test_comments_strings_and_numbers_stay(theme: str) -> None:
    """Comments come out in their order, literals as they were spelled."""

    def tokens(text: str, *kinds: int) -> list[str]:
        stream = tokenize.generate_tokens(io.StringIO(text).readline)
        return [token.string for token in stream if token.type in kinds]

    before, after = original(theme), converted(theme)
    comments = tokens(after, tokenize.COMMENT)
    assert comments == tokens(before, tokenize.COMMENT)
    spelled = {s for s in tokens(before, tokenize.STRING, tokenize.NUMBER) if not re.match("[rR]?[fF]", s)}
    assert spelled <= set(tokens(after, tokenize.STRING, tokenize.NUMBER))


@THEMES
def test_docstrings_stay(theme: str) -> None:
    def docstrings(text: str) -> list[str | None]:
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        return [ast.get_docstring(n, clean=False) for n in ast.walk(ast.parse(text)) if isinstance(n, kinds)]

    kept = [d for d in docstrings(original(theme)) if d]  # and a text at the start of a branch looks like one, too
    assert kept == [d for d in docstrings(converted(theme)) if d in kept]


@THEMES
def test_layout(theme: str) -> None:
    """No trailing spaces, no tabs, no more blank lines than the user had."""
    before, after = original(theme), converted(theme)
    lines = after.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert "\n\n\n\n" not in after
    assert after.count("\n\n\n") <= before.count("\n\n\n") + 1
    assert after.endswith("\n") and not after.endswith("\n\n")


def test_length() -> None:
    """At most twice the lines, over all; jumps out of nested loops take the most."""
    lengths = [(len(converted(t).splitlines()), len(original(t).splitlines())) for t in corpus.themes()]
    assert sum(after for after, _ in lengths) <= 1.5 * sum(before for _, before in lengths)
    assert all(after <= 2.5 * before for after, before in lengths)


# What can be done with it


@pytest.mark.parametrize("theme", sorted({*corpus.themes()} - {"frames"}))  # who looks at frames, modules know best
def test_functions_are_printed_as_in_their_module(theme: str) -> None:
    """`to_code` of a function gives what stands in its module, decorators apart."""
    whole = converted(theme)
    mine = [entry for entry in ENTRIES if entry.theme == theme and not hasattr(entry.function, "__wrapped__")]
    assert [entry.name for entry in mine if api.to_code(entry.function).rstrip() not in whole] == []


@pytest.fixture
def ejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for theme in corpus.themes():
        (tmp_path / f"ejected_{theme}.py").write_text(converted(theme), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_ejected_modules_are_imported(ejected: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for theme in corpus.themes():
        module = importlib.import_module(f"ejected_{theme}")
        monkeypatch.delitem(sys.modules, f"ejected_{theme}")
        assert ("\nimport autograph.operators as ag__\n" in converted(theme)) == (theme != "own_ag")
        # Python notes there which warnings a module has issued, when its functions are called.
        assert set(vars(corpus.module(theme))) - {"__warningregistry__"} <= set(vars(module)) | {"temporary"}


def test_ejected_functions_are_converted_no_more(ejected: Path) -> None:
    """Converted text can be converted again; it still does the same."""
    text = converted("jumps")
    again = outcomes.execute(api.convert_source(text, "again.py").text, "<again>")
    for entry in ENTRIES:
        if entry.theme == "jumps":
            for arguments in entry.calls:
                wanted = outcomes.run(entry.function, arguments)
                assert outcomes.run(again[entry.name], arguments) == wanted


def test_ejected_module_runs_as_a_script(ejected: Path) -> None:
    program = ejected / "ejected_numeric.py"
    with program.open("a", encoding="utf-8") as file:
        file.write("\nif __name__ == '__main__':\n    print(collatz(27), roman(1994))\n")
    env = {"PYTHONPATH": str(Path(__file__).parents[2]), "AUTOGRAPH_CACHE": "0"}
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, env=env)
    assert (done.stdout, done.stderr) == ("111 MCMXCIV\n", "")
