"""The import hook: what is converted, what is left alone, and that nothing else changes."""

import importlib
import importlib.resources
import inspect
import json
import linecache
import pkgutil
import re
import sys
import textwrap
import threading
import traceback
import zipfile
from importlib import machinery
from pathlib import Path

import pytest

import autograph.operators
from autograph import importing
from autograph.conversion.explain import Explanation

BRANCHING = """
    def sign(x):
        if x < 0:
            return -1
        return 1
"""


@pytest.fixture(autouse=True)
def as_found():
    """Whatever a test does with the hook, nothing of it remains."""
    modules, meta_path, hooks = dict(sys.modules), list(sys.meta_path), list(sys.path_hooks)
    limit = sys.getrecursionlimit()
    yield
    assert sys.meta_path == meta_path
    assert sys.path_hooks == hooks
    assert sys.getrecursionlimit() == limit
    assert {name for name, module in modules.items() if sys.modules.get(name) is not module} == set()


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write modules, by their paths, into a folder on `sys.path`."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def write(**files):
        for name, text in files.items():
            path = tmp_path / (name.replace("__", "/").replace("/init/", "__init__") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text), encoding="utf-8")
        importlib.invalidate_caches()
        return tmp_path

    yield write
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def is_converted(function):
    return autograph.operators in function.__code__.co_consts


# what a pattern stands for


@pytest.mark.parametrize(
    "pattern, names",
    [
        ("json", {"json", "json.decoder", "json.a.b"}),
        ("json.decoder", {"json.decoder"}),
        ("json.*", {"json.decoder", "json.a.b"}),
        ("json*", {"json", "json.decoder", "json.a.b", "jsonschema"}),
        ("*.decoder", {"json.decoder"}),
        ("jso[n]", {"json"}),
        ("js", set()),
    ],
)
def test_patterns(pattern, names):
    known = {"json", "json.decoder", "json.a.b", "jsonschema", "other"}
    assert {name for name in known if importing.Hook([pattern]).matches(name)} == names


def test_a_package_with_all_below_it_and_nothing_else_is_converted(write):
    write(pack____init__=BRANCHING, pack__part=BRANCHING, other=BRANCHING)
    with importing.install(["pack"]) as hook:
        import other
        import pack.part

        assert is_converted(pack.sign)
        assert is_converted(pack.part.sign)
        assert not is_converted(other.sign)
        assert pack.part.sign(-3) == -1
    assert set(hook.modules) == {"pack", "pack.part"}
    assert "pack" not in sys.modules


def test_one_pattern_may_be_given_by_itself(write):
    write(lone=BRANCHING)
    with importing.install("lone"):
        import lone
    assert is_converted(lone.sign)


def test_the_hook_tells_what_became_of_each_module(write):
    path = write(told=BRANCHING) / "told.py"
    with importing.install(["told"]) as hook:
        import told  # noqa: F401
    assert isinstance(hook.modules["told"], Explanation)
    assert ("if", None, str(path)) in [(d.construct, d.reason, d.filename) for d in hook.modules["told"].decisions]
    assert "1 modules converted" in repr(hook)


# the module is as it would be


def test_a_converted_module_has_its_own_file_lines_and_text(write):
    path = write(placed=BRANCHING) / "placed.py"
    with importing.install(["placed"]):
        import placed
    assert placed.__file__ == placed.__spec__.origin == placed.sign.__code__.co_filename == str(path)
    assert placed.__cached__ == importlib.util.cache_from_source(str(path))
    assert placed.sign.__code__.co_firstlineno == 2
    assert inspect.getsource(placed.sign) == textwrap.dedent(BRANCHING).lstrip()
    assert placed.__loader__.get_source("placed") == textwrap.dedent(BRANCHING)
    linecache.clearcache()
    assert linecache.getline(str(path), 3, vars(placed)) == "    if x < 0:\n"


def test_no_bytecode_is_written(write):
    path = write(uncached=BRANCHING)
    with importing.install(["uncached"]):
        import uncached  # noqa: F401
    assert [file.name for file in path.iterdir()] == ["uncached.py"]


def test_cached_bytecode_is_not_taken_for_converted_code(write):
    write(cached=BRANCHING)
    import cached

    assert not is_converted(cached.sign)
    with importing.install(["cached"]):
        import cached

        assert is_converted(cached.sign)


def test_resources_can_be_read(write):
    path = write(full____init__=BRANCHING)
    (path / "full" / "data.txt").write_text("some data")
    with importing.install(["full"]):
        import full

        assert pkgutil.get_data("full", "data.txt") == b"some data"
        assert importlib.resources.files(full).joinpath("data.txt").read_text() == "some data"


def test_a_module_can_be_reloaded(write):
    path = write(again=BRANCHING) / "again.py"
    with importing.install(["again"]):
        import again

        path.write_text(textwrap.dedent(BRANCHING).replace("-1", "-100"))
        assert importlib.reload(again) is again
        assert again.sign(-3) == -100
        assert is_converted(again.sign)


def test_a_module_may_be_written_in_any_encoding(write):
    path = write(encoded="") / "encoded.py"
    path.write_bytes("# coding: latin-1\nname = 'é'\r\ndef f(x):\r\n    return 'ü' if x else 'ö'\r\n".encode("latin-1"))
    with importing.install(["encoded"]):
        import encoded
    assert (encoded.name, encoded.f(True)) == ("é", "ü")


def test_a_syntax_error_points_at_the_file(write):
    path = write(wrong="x = 1\nif x\n    pass\n") / "wrong.py"
    with importing.install(["wrong"]), pytest.raises(SyntaxError) as caught:
        import wrong  # noqa: F401
    assert (caught.value.filename, caught.value.lineno) == (str(path), 2)
    assert "wrong" not in sys.modules


def test_errors_that_only_the_compiler_finds_are_python_s(write):
    path = write(outside="def f():\n    nonlocal x\n") / "outside.py"
    with importing.install(["outside"]), pytest.raises(SyntaxError, match="no binding for nonlocal") as caught:
        import outside  # noqa: F401
    assert (caught.value.filename, caught.value.lineno) == (str(path), 2)


def test_the_compiler_warns_once(write):
    write(careless="def f(x):\n    return x is 'a' and '\\d'\n")
    with importing.install(["careless"]), pytest.warns() as caught:
        import careless  # noqa: F401
    assert sorted(str(warning.message).split()[0] for warning in caught) == ['"is"', "invalid"]


def test_an_error_while_a_module_is_executed_shows_no_frame_of_the_hook(write):
    write(failing="def f():\n    raise KeyError('here')\nf()\n")
    with importing.install(["failing"]), pytest.raises(KeyError) as caught:
        import failing  # noqa: F401
    files = [frame.filename for frame in traceback.extract_tb(caught.tb)]
    assert importing.__file__ not in files
    assert "failing" not in sys.modules


def test_circular_imports(write):
    write(
        ring____init__="from ring import left\n",
        ring__left="from ring import right\ndef f(x):\n    return right.g(x) if x else 0\n",
        ring__right="import ring.left\ndef g(x):\n    return ring.left.f(x - 1)\n",
    )
    with importing.install(["ring"]):
        import ring

        assert ring.left.f(3) == 0


def test_the_name_of_the_operators_is_not_seen(write):
    write(named=f"{BRANCHING}", star="from named import *\n")
    with importing.install(["named"]):
        import named
        import star
    assert [name for name in dir(named) if name[:2] != "__"] == ["sign"]
    assert [name for name in dir(star) if name[:2] != "__"] == ["sign"]


def test_a_module_that_was_written_converted_keeps_the_name(write):
    write(ejected="import autograph.operators as ag__\ndef f(x):\n    return ag__.not_(x)\n")
    with importing.install(["ejected"]):
        import ejected
    assert (ejected.f(0), ejected.ag__) == (True, autograph.operators)


# what is left alone


@pytest.mark.parametrize(
    "name, why",
    [
        ("sys", "built into"),
        ("_json", "extension module|built into"),
        ("autograph.common.pytree", "the library that converts"),
    ],
)
def test_what_is_no_source_file_is_left_alone(name, why):
    before = importlib.import_module(name)
    with importing.install([name]) as hook:
        assert importlib.import_module(name) is before
    assert re.search(why, hook.left_alone[name])
    assert hook.modules == {}


def test_an_archive_is_left_alone(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "zipped.zip", "w") as archive:
        archive.writestr("in_archive.py", "def f(x):\n    return 1 if x else 2\n")
    monkeypatch.syspath_prepend(tmp_path / "zipped.zip")
    with importing.install(["in_archive"]) as hook:
        import in_archive
    assert in_archive.f(True) == 1
    assert "zip archive" in hook.left_alone["in_archive"]
    monkeypatch.delitem(sys.modules, "in_archive")


def test_bytecode_without_source_is_left_alone(write):
    import py_compile

    path = write(bare=BRANCHING) / "bare.py"
    py_compile.compile(str(path), cfile=str(path) + "c")
    path.unlink()
    with importing.install(["bare"]) as hook:
        import bare
    assert bare.sign(-1) == -1
    assert "no source file" in hook.left_alone["bare"]


def test_modules_of_a_namespace_package_are_converted(write):
    write(space__part=BRANCHING)
    with importing.install(["space"]) as hook:
        import space.part

        assert is_converted(space.part.sign)
        assert list(hook.modules) == ["space.part"]
        assert "namespace package" in hook.left_alone["space"]


def test_modules_that_another_hook_rewrites_are_left_to_it(write):
    class Rewriter(machinery.SourceFileLoader):
        def get_code(self, fullname):
            return compile("rewritten = True", self.path, "exec")

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            spec = machinery.PathFinder.find_spec(name, path, target)
            if name == "theirs":
                spec.loader = Rewriter(name, spec.origin)
            return spec

    write(theirs=BRANCHING)
    sys.meta_path.insert(0, Finder)
    try:
        with importing.install(["theirs"]) as hook:
            import theirs
    finally:
        sys.meta_path.remove(Finder)
    assert theirs.rewritten
    assert "Rewriter" in hook.left_alone["theirs"]


def test_modules_are_found_through_other_finders(write):
    path = write(elsewhere__hidden=BRANCHING) / "elsewhere" / "hidden.py"

    class Finder:
        @staticmethod
        def find_spec(name, path_=None, target=None):
            return importlib.util.spec_from_file_location(name, path) if name == "mapped" else None

    sys.meta_path.append(Finder)
    try:
        with importing.install(["mapped"]):
            import mapped
    finally:
        sys.meta_path.remove(Finder)
    assert is_converted(mapped.sign)


# modules imported before


def test_modules_imported_before_are_imported_afresh_and_put_back(write):
    write(early____init__="from early import part\n", early__part=BRANCHING, user="import early.part\n")
    import early.part
    import user

    plain = early.part
    with importing.install(["early.part"]):
        assert is_converted(sys.modules["early.part"].sign)
        assert sys.modules["early"].part is sys.modules["early.part"]
        assert user.early.part is plain
    import early.part

    assert early.part is plain
    assert sys.modules["early.part"] is plain


def test_what_cannot_be_imported_afresh_is_an_error_and_changes_nothing(write):
    path = write(once=BRANCHING) / "once.py"
    import once

    path.write_text("raise ImportError('only once')")
    with pytest.raises(ImportError, match="only once"):
        importing.install(["once"])
    assert sys.modules["once"] is once


@pytest.mark.parametrize("name", ["stat", "runpy", "importlib.machinery", "genericpath"])
def test_modules_frozen_into_the_interpreter_are_converted_from_their_files(name):
    with importing.install([name]) as hook:
        module = importlib.import_module(name)
        assert name in hook.modules
        assert module.__file__.endswith(".py")


# What conversion itself is made of, what imports are made of, and what imports things late.
FOUNDATIONS = (
    "abc ast bisect codecs collections contextlib copy dataclasses dis enum functools gast importlib inspect io "
    "keyword linecache opcode operator os re reprlib threading token tokenize traceback types typing warnings weakref"
)


@pytest.mark.parametrize("name", FOUNDATIONS.split())
def test_the_modules_that_conversion_is_made_of_can_be_converted(name, write):
    write(simple=BRANCHING)
    with importing.install([name, "simple"]) as hook:
        import simple

        assert is_converted(simple.sign)
        assert name in hook.modules
        assert sys.modules[name].__spec__.loader.__class__ is importing.ConvertingLoader


def test_converted_standard_modules_work():
    with importing.install(["json", "collections", "textwrap", "heapq", "string"]):
        import collections
        import heapq
        import json as converted
        import string

        assert converted.loads('[1, {"a": [2, null]}]') == [1, {"a": [2, None]}]
        assert converted.dumps({"b": (1.5, "x")}, indent=1) == json.dumps({"b": (1.5, "x")}, indent=1)
        assert collections.Counter("abca").most_common(1) == [("a", 2)]
        assert heapq.nsmallest(2, [3, 1, 2]) == [1, 2]
        assert string.Template("$a and ${b}").substitute(a=1, b=2) == "1 and 2"


def test_what_a_conversion_imports_for_itself_is_not_taken_for_the_converted_module(write, monkeypatch):
    write(needed="value = 'plain' if True else 0\n")
    convert_source = importing.convert_source

    def importing_as_it_goes(text, filename):
        import needed

        assert needed.value == "plain"  # it would be missing from the module now being imported
        return convert_source(text, filename)

    monkeypatch.setattr(importing, "convert_source", importing_as_it_goes)
    with importing.install(["needed"]) as hook:
        import needed

        assert type(needed.__loader__) is importing.ConvertingLoader
        assert list(hook.modules) == ["needed"]


# several hooks and threads, the recursion limit


def test_hooks_may_overlap_and_go_in_any_order(write):
    write(both=BRANCHING, second=BRANCHING)
    first, then = importing.install(["both"]), importing.install(["both", "second"])
    import both
    import second

    assert is_converted(both.sign)
    assert is_converted(second.sign)
    first.uninstall()
    assert then in sys.meta_path
    then.uninstall()


def test_the_program_sees_and_sets_its_own_recursion_limit():
    limit, builtin = sys.getrecursionlimit(), sys.setrecursionlimit
    with importing.install([]), importing.install([]):
        assert sys.getrecursionlimit() == limit
        sys.setrecursionlimit(limit + 7)
        kept = sys.setrecursionlimit
        with pytest.raises(ValueError):
            sys.setrecursionlimit(-1)
    assert sys.getrecursionlimit() == limit + 7
    assert sys.setrecursionlimit is builtin
    kept(limit)
    assert sys.getrecursionlimit() == limit


def test_recursion_goes_as_deep_as_before(write):
    write(deep="def depth(n):\n    if n > 0:\n        return 1 + depth(n - 1)\n    return 0\n")
    with importing.install(["deep"]):
        import deep

        assert deep.depth(900) == 900
        with pytest.raises(RecursionError):
            deep.depth(10**6)


def test_installing_twice_is_installing_once():
    hook = importing.install(["nothing"])
    hook.install()
    hook.uninstall()
    hook.uninstall()


def test_many_threads_import_at_once(write):
    names = [f"threaded{number}" for number in range(6)]
    write(**dict.fromkeys(names, BRANCHING))
    with importing.install(["threaded*"]) as hook:
        threads = [
            threading.Thread(target=importlib.import_module, args=(name,)) for name in names for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(is_converted(sys.modules[name].sign) for name in names)
    assert set(hook.modules) == set(names)


def test_tracing_a_program_sees_only_what_it_would_see(write):
    write(traced=BRANCHING, untouched="import sys\nlimit = sys.getrecursionlimit()\n")
    seen = set()

    def trace(frame, event, argument):
        if event == "line":
            seen.add(frame.f_code.co_filename)
        return trace

    with importing.install(["traced"]):
        sys.settrace(trace)
        try:
            import traced
            import untouched

            assert sys.gettrace() is trace
        finally:
            sys.settrace(None)
    assert {traced.__file__, untouched.__file__} <= seen
    library = str(Path(autograph.__file__).parent)
    assert [name for name in seen if name.startswith(library)] == []
