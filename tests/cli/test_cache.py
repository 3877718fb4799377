"""`autograph cache`."""

import pytest

from autograph.common import disk_cache as cache

KEY = cache.key_of("one")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def told(result):
    assert result.exit_code == 0 and result.stderr == ""
    return {line[:24].rstrip(): line[24:] for line in result.stdout.splitlines()}


def test_an_empty_cache(cli, place):
    assert told(cli("cache")) == {
        "folder": str(place), "size": "0 bytes of 256.0 MB",
        **dict.fromkeys(["conversions", "traces", "machine code"], "0 files; found 0 times, made 0 times"),
    }
    assert not place.exists()


def test_what_there_is(cli, place, monkeypatch):
    cache.save(KEY, bytes(1468))
    cache.save(cache.key_of("two"), bytes(2468))
    cache.load(KEY)
    (place / f"{KEY}.code").write_bytes(b"")
    cache.load(KEY)
    cache.save(KEY, bytes(68), cache.CONVERSION)
    cache.save(KEY, bytes(168), cache.TRACE)
    cache.load(KEY, cache.TRACE)
    (place / "mine.txt").write_text("not of the cache")
    monkeypatch.setenv("AUTOGRAPH_CACHE_SIZE", "8")
    found = told(cli("cache"))
    assert found["size"] == "2.8 kB of 8.0 MB"
    assert found["machine code"] == "2 files; found 1 time, made 2 times, 1 as a file was damaged"
    assert found["conversions"] == "1 file; found 0 times, made 1 time"
    assert found["traces"] == "1 file; found 1 time, made 1 time"
    assert found["used longest ago"] <= found["used last"]


def test_in_color(cli, place, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = cli("cache")
    assert "\x1b[" in result.stdout and "256.0 MB" in result.stdout


def test_clear(cli, place):
    cache.save(KEY, bytes(68))
    (place / f"{KEY}.code.{'0' * 16}.part").write_bytes(bytes(100))         # of a process that died
    (place / "mine.txt").write_text("not of the cache")
    result = cli("cache", "--clear")
    assert (result.exit_code, result.stdout) == (0, f"removed 2 files (200 bytes) from {place}\n")
    assert [path.name for path in place.iterdir()] == ["mine.txt"]
    assert told(cli("cache"))["machine code"] == "0 files; found 0 times, made 0 times"
    assert "removed 0 files" in cli("cache", "--clear").stdout


def test_switched_off(cli, place, monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_CACHE", "0")
    assert cli("cache").stdout == "nothing is kept: AUTOGRAPH_CACHE is 0\n"


def test_no_folder(cli, monkeypatch):
    monkeypatch.setattr(cache, "folder", lambda: None)
    assert "AUTOGRAPH_CACHE_DIR may name one" in cli("cache").stdout


@pytest.mark.parametrize("args", [[], ["--clear"]])
def test_what_is_no_folder(cli, place, args):
    place.write_text("")
    result = cli("cache", *args)
    assert result.exit_code == 2
    assert result.stderr == f"autograph: cannot {'clear' if args else 'read'} {str(place)!r}: Not a directory\n"
