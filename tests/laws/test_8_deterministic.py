"""Law 8: the same source gives the same text and the same decisions under every hash seed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from autograph import api
from tests import corpus
from tests.test_corpus import ENTRIES

pytestmark = pytest.mark.once

PROGRAM = """\
import hashlib, inspect, sys
sys.path.insert(0, {root!r})
from autograph import api
from tests import corpus
for theme in corpus.themes():
    module = corpus.module(theme)
    converted = api.convert_source(inspect.getsource(module), module.__file__)
    print(theme, hashlib.sha256(converted.text.encode()).hexdigest(), sorted(converted.generated))
    print(hashlib.sha256(repr(converted.decisions).encode()).hexdigest())
for entry in list(corpus.entries())[::7]:
    code = api.to_graph(entry.function).__code__
    print(entry, code.co_cellvars, code.co_freevars, code.co_names, code.co_varnames)
"""


def test_hash_seeds(same_under_every_hash_seed: Callable[[str], str]) -> None:
    root = str(corpus.__file__).rpartition("/tests/")[0]
    assert len(same_under_every_hash_seed(PROGRAM.format(root=root)).splitlines()) > 50


def test_same_text_every_time() -> None:
    """Neither what was converted before nor the cache of conversions shows."""
    first = [api.to_code(entry.function) for entry in ENTRIES]
    modules = [api.to_code(corpus.module(theme)) for theme in corpus.themes()]
    assert [api.to_code(entry.function) for entry in ENTRIES] == first
    assert [api.to_code(corpus.module(theme)) for theme in reversed(corpus.themes())] == modules[::-1]


STAGED = """\
import re
import sys
sys.path.insert(0, {root!r})
import autograph as ag
from tests import corpus_staged
for entry in list(corpus_staged.entries())[::6]:
    function = ag.function(entry.function)
    for arguments in entry.calls[:2]:
        args, kwargs = eval("(lambda *a, **k: (a, k))(" + arguments + ")", dict(vars(entry.module)))
        try:
            print(entry, function.graph(*args, **kwargs))
            print(function.lower(*args, **kwargs).source)
            told = [(e.kind, e.message) for e in function.explain(*args, **kwargs) if e.kind != "time"]
            print(re.sub(" at 0x[0-9a-f]+", "", str(told)))  # where objects lie differs from run to run
        except Exception as error:
            print(entry, type(error), error)
"""


def test_staging_under_hash_seeds(same_under_every_hash_seed: Callable[[str], str]) -> None:
    root = str(corpus.__file__).rpartition("/tests/")[0]
    assert len(same_under_every_hash_seed(STAGED.format(root=root)).splitlines()) > 500


GUARDED = """\
import linecache
text = '''
class Settings:
    def __init__(self):
        self.rate, self.steps, self.name, self.limit, self.verbose = 0.5, 3, "a", 9.0, False

settings = Settings()

def scaled(x):
    return x * getattr(settings, "rate") + settings.limit
'''
linecache.cache["scaled.py"] = len(text), None, text.splitlines(True), "scaled.py"
exec(compile(text, "scaled.py", "exec"))
import autograph as ag
print([event.message for event in ag.function(scaled).explain(3.0) if event.kind == "guard"])
"""


def test_guards_under_hash_seeds(same_under_every_hash_seed: Callable[[str], str]) -> None:
    assert "the attribute settings.limit changed" in same_under_every_hash_seed(GUARDED)
