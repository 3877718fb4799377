"""What is kept on disk: whoever writes, reads, damages or removes it, and however much there is."""

import os
import sys
import threading

import pytest

from autograph.common import disk_cache

KEY, OTHER = disk_cache.key_of("a", "b"), disk_cache.key_of("ab")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A folder of the test's own."""
    monkeypatch.setenv("AUTOGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(disk_cache, "_warned", set())
    return tmp_path / "cache"


def code(place):
    return sorted(place.glob("*.code"))


def test_many_writers_of_the_same_files():
    """What is read is what one of them wrote, while others write and remove."""
    wanted = {disk_cache.key_of(str(number)): bytes([number]) * 5000 for number in range(8)}
    wrong = []

    def work():
        for _ in range(30):
            for key, data in wanted.items():
                disk_cache.save(key, data)
                if disk_cache.load(key) not in (data, None):
                    wrong.append(key)
            disk_cache._evict(disk_cache.folder(), 5_000)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert not wrong and not disk_cache._warned


def test_a_file_under_the_name_of_another(place):
    disk_cache.save(KEY, b"one")
    os.rename(place / f"{KEY}.code", place / f"{OTHER}.code")
    assert disk_cache.load(OTHER) is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has other rights")
def test_files_are_private(place, monkeypatch):
    before = os.umask(0)
    try:
        disk_cache.save(KEY, b"code")
    finally:
        os.umask(before)
    assert place.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in place.iterdir()] == [0o600, 0o600]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has other rights")
def test_what_others_may_have_written_is_not_loaded(place, monkeypatch, tmp_path):
    disk_cache.save(KEY, b"code")
    path = place / f"{KEY}.code"
    path.chmod(0o620)
    assert disk_cache.load(KEY) is None
    path.chmod(0o600)
    assert disk_cache.load(KEY) == b"code"
    with monkeypatch.context() as patch:
        me = os.getuid()
        patch.setattr(os, "getuid", lambda: me + 1)
        assert disk_cache.load(KEY) is None
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert disk_cache.load(KEY) is None
    path.unlink()
    os.mkfifo(path)
    assert disk_cache.load(KEY) is None
    path.unlink()
    path.mkdir()
    assert disk_cache.load(KEY) is None


def test_parts_of_a_key_do_not_run_together():
    assert len({disk_cache.key_of(*parts) for parts in (("ab", ""), ("a", "b"), ("", "ab"), ("ab",))}) == 4


def test_what_was_used_longest_ago_goes_first(place, monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_CACHE_SIZE", "0.01")          # 10,000 bytes
    keys = [disk_cache.key_of(str(number)) for number in range(9)]
    for age, key in enumerate(keys):
        disk_cache.save(key, bytes(1000))
        os.utime(place / f"{key}.code", (1e9 + age, 1e9 + age))
    assert len(code(place)) == 9
    assert disk_cache.load(keys[1]) == bytes(1000)                     # which makes it the one used last
    disk_cache.save(KEY, bytes(2000))
    left = [key for key in (*keys, KEY) if disk_cache.load(key)]
    assert left == [keys[1], *keys[5:], KEY]                      # 7,500 bytes at most
    assert disk_cache.contents(str(place)).size <= 7500


def test_it_stays_small(place, monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_CACHE_SIZE", "0.1")
    looked = []
    real = disk_cache.contents
    monkeypatch.setattr(disk_cache, "contents", lambda place: looked.append(place) or real(place))
    for number in range(1000):
        disk_cache.save(disk_cache.key_of(str(number)), bytes(500))
    assert disk_cache.contents(str(place)).size < 1.2 * 100_000
    assert len(looked) < 300        # not at each


def test_too_large_or_no_size(place, monkeypatch, caplog):
    monkeypatch.setenv("AUTOGRAPH_CACHE_SIZE", "0.001")
    disk_cache.save(KEY, bytes(1001))
    assert disk_cache.load(KEY) is None
    monkeypatch.setenv("AUTOGRAPH_CACHE_SIZE", "big")
    disk_cache.save(KEY, bytes(1001))
    assert disk_cache.load(KEY) == bytes(1001)
    disk_cache.save(OTHER, b"")
    assert caplog.messages == ["AUTOGRAPH_CACHE_SIZE must be a number of megabytes, not 'big': it is taken for 256"]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="elsewhere in other folders")
def test_the_folder(monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_CACHE_DIR", "~/somewhere")
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert disk_cache.folder() == "/home/me/somewhere"
    monkeypatch.delenv("AUTOGRAPH_CACHE_DIR")
    assert disk_cache.folder() == "/home/me/.cache/autograph"
    monkeypatch.setenv("XDG_CACHE_HOME", "/tmp/caches")
    assert disk_cache.folder() == "/tmp/caches/autograph"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert disk_cache.folder() == "/home/me/.cache/autograph"
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)       # there is no home
    assert disk_cache.folder() is None
    disk_cache.save(KEY, b"code")
    assert disk_cache.load(KEY) is None


def test_kinds_do_not_mix(place):
    disk_cache.save(KEY, b"code")
    disk_cache.save(KEY, b"conversion", disk_cache.CONVERSION)
    assert (disk_cache.load(KEY), disk_cache.load(KEY, disk_cache.CONVERSION)) == (b"code", b"conversion")
    assert disk_cache.load(OTHER, disk_cache.CONVERSION) is None
    found = disk_cache.contents(str(place))
    assert [len(found.of(kind)) for kind in (disk_cache.CODE, disk_cache.CONVERSION)] == [1, 1]
    assert found.history == {"w": 1, "W": 1, "h": 1, "H": 1}
    assert len(disk_cache.clear(str(place)).files) == 2 and not list(place.iterdir())
