"""What is kept on disk: whoever writes, reads, damages or removes it, and however much there is."""

import os
import sys
import threading

import pytest

from autograph import disk

KEY, OTHER = disk.key_of("a", "b"), disk.key_of("ab")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A folder of the test's own."""
    monkeypatch.setenv("AUTOGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(disk, "_told", set())
    return tmp_path / "cache"


def code(place):
    return sorted(place.glob("*.code"))


def test_many_writers_of_the_same_files():
    """What is read is what one of them wrote, while others write and remove."""
    wanted = {disk.key_of(str(number)): bytes([number]) * 5000 for number in range(8)}
    wrong = []

    def work():
        for _ in range(30):
            for key, data in wanted.items():
                disk.save(key, data)
                if disk.load(key) not in (data, None):
                    wrong.append(key)
            disk._evict(disk.folder(), 5_000)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert not wrong and not disk._told


def test_a_file_under_the_name_of_another(place):
    disk.save(KEY, b"one")
    os.rename(place / f"{KEY}.code", place / f"{OTHER}.code")
    assert disk.load(OTHER) is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has other rights")
def test_files_are_private(place, monkeypatch):
    before = os.umask(0)
    try:
        disk.save(KEY, b"code")
    finally:
        os.umask(before)
    assert place.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in place.iterdir()] == [0o600, 0o600]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has other rights")
def test_what_others_may_have_written_is_not_loaded(place, monkeypatch, tmp_path):
    disk.save(KEY, b"code")
    path = place / f"{KEY}.code"
    path.chmod(0o620)
    assert disk.load(KEY) is None
    path.chmod(0o600)
    assert disk.load(KEY) == b"code"
    with monkeypatch.context() as patch:
        me = os.getuid()
        patch.setattr(os, "getuid", lambda: me + 1)
        assert disk.load(KEY) is None
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert disk.load(KEY) is None
    path.unlink()
    os.mkfifo(path)
    assert disk.load(KEY) is None
    path.unlink()
    path.mkdir()
    assert disk.load(KEY) is None


def test_parts_of_a_key_do_not_run_together():
    assert len({disk.key_of("ab", ""), disk.key_of("a", "b"), disk.key_of("", "ab"), disk.key_of("ab")}) == 4


def test_what_was_used_longest_ago_goes_first(place, monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_CACHE_SIZE", "0.01")          # 10,000 bytes
    keys = [disk.key_of(str(number)) for number in range(9)]
    for age, key in enumerate(keys):
        disk.save(key, bytes(1000))
        os.utime(place / f"{key}.code", (1e9 + age, 1e9 + age))
    assert len(code(place)) == 9
    assert disk.load(keys[1]) == bytes(1000)                     # which makes it the one used last
    disk.save(KEY, bytes(2000))
    left = [key for key in (*keys, KEY) if disk.load(key)]
    assert left == [keys[1], *keys[5:], KEY]                      # 7,500 bytes at most
    assert disk.contents(str(place)).size <= 7500


def test_it_stays_small(place, monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_CACHE_SIZE", "0.1")
    looked = []
    monkeypatch.setattr(disk, "contents", lambda place, real=disk.contents: looked.append(place) or real(place))
    for number in range(1000):
        disk.save(disk.key_of(str(number)), bytes(500))
    assert disk.contents(str(place)).size < 1.2 * 100_000
    assert len(looked) < 300        # not at each


def test_too_large_or_no_size(place, monkeypatch, caplog):
    monkeypatch.setenv("AUTOGRAPH_CACHE_SIZE", "0.001")
    disk.save(KEY, bytes(1001))
    assert disk.load(KEY) is None
    monkeypatch.setenv("AUTOGRAPH_CACHE_SIZE", "big")
    disk.save(KEY, bytes(1001))
    assert disk.load(KEY) == bytes(1001)
    disk.save(OTHER, b"")
    assert caplog.messages == ["AUTOGRAPH_CACHE_SIZE is to be a number of megabytes, not 'big': it is taken for 256"]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="elsewhere in other folders")
def test_the_folder(monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_CACHE_DIR", "~/somewhere")
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert disk.folder() == "/home/me/somewhere"
    monkeypatch.delenv("AUTOGRAPH_CACHE_DIR")
    assert disk.folder() == "/home/me/.cache/autograph"
    monkeypatch.setenv("XDG_CACHE_HOME", "/tmp/caches")
    assert disk.folder() == "/tmp/caches/autograph"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert disk.folder() == "/home/me/.cache/autograph"
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)       # there is no home
    assert disk.folder() is None
    disk.save(KEY, b"code")
    assert disk.load(KEY) is None


def test_kinds_do_not_mix(place):
    disk.save(KEY, b"code")
    disk.save(KEY, b"conversion", disk.CONVERSION)
    assert (disk.load(KEY), disk.load(KEY, disk.CONVERSION)) == (b"code", b"conversion")
    assert disk.load(OTHER, disk.CONVERSION) is None
    found = disk.contents(str(place))
    assert [len(found.of(kind)) for kind in (disk.CODE, disk.CONVERSION)] == [1, 1]
    assert found.history == {"w": 1, "W": 1, "h": 1, "H": 1}
    assert len(disk.clear(str(place)).files) == 2 and not list(place.iterdir())
