"""The cache on disk: machine code, conversions and traces, which are then made once, and not once per process.

The name of a file is a hash of all that its contents depend on (see `target.py`, `cache.py`, `fingerprint.py`), so no
file is ever out of date. Contents must not depend on addresses: object code refers to functions outside by name, and an
address in LLVM's text would be part of the name.

A file begins with a hash of its data and its name: a file that was cut off, changed or renamed is ignored, and written
anew. Files are written under other names and then renamed, so a reader finds a whole file or none; if two processes
write the same one, either is right. If the files are too large, those that were used longest ago are removed first.

    AUTOGRAPH_CACHE=0       neither reads nor writes
    AUTOGRAPH_CACHE_DIR     the folder; by default one among the user's caches
    AUTOGRAPH_CACHE_SIZE    megabytes that the files may take, by default 256
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any, TypeVar

from autograph.common.defects import log

_open = open    # tests of programs replace the builtin


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of things that are kept.

    Attributes:
        ending: of its files.
        found, damaged, written: the letters of these events in the history.
        missed: the warning if a file cannot be saved; none for kinds that are cheap to make again.
    """

    ending: str
    found: str
    damaged: str
    written: str
    missed: str = ""


CODE = Kind(".code", "h", "d", "w", "machine code cannot be kept")
CONVERSION = Kind(".converted", "H", "D", "W")
TRACE = Kind(".traced", "R", "S", "K")
SIZE = 256          # megabytes
_HASH = 32          # bytes
_PART, _HISTORY = ".part", "autograph-history"
_NAME = re.compile(r"[0-9a-f]{64}(\.code|\.converted|\.traced)(\.[0-9a-f]{16}\.part)?")
_LOOKS = 32         # at the whole folder, while as much is written as may be in it
_NEITHER_LINKS_NOR_PIPES = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_warned: set[str] = set()
_Storable = TypeVar("_Storable", bound=Callable[..., Any])
STORABLE: set[str] = set()      # the classes and functions of this library that a trace on disk may name


def storable(thing: _Storable) -> _Storable:
    """Let traces on disk name a class or function; the unpickler refuses all others of this library."""
    STORABLE.add(f"{thing.__module__}.{thing.__qualname__}")
    return thing


def key_of(*parts: str | bytes) -> str:
    """The name of a file whose contents depend on these texts."""
    hashed = hashlib.blake2b(digest_size=_HASH)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        hashed.update(b"%d:" % len(data) + data)
    return hashed.hexdigest()


def load(key: str, kind: Kind = CODE) -> bytes | None:
    """The data of that name, if they are there and undamaged."""
    place = folder()
    if place is None:
        return None
    path = os.path.join(place, key + kind.ending)
    try:
        data = _read(path)
    except OSError:
        return None
    found = data[_HASH:]
    if data[:_HASH] != _hash(key, found):
        _note(place, kind.damaged)
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    _note(place, kind.found)
    return found


def save(key: str, data: bytes, kind: Kind = CODE) -> str:
    """Keep data under that name.

    Returns:
        The reason if that cannot be done, which is also logged once if it matters; "" if the user has switched it off.
    """
    place, limit = folder(), size_limit()
    if place is None:
        return "" if is_off() else "there is no folder for caches here; AUTOGRAPH_CACHE_DIR may name one"
    if len(data) > limit:
        return f"it has {len(data):,} bytes, more than AUTOGRAPH_CACHE_SIZE allows"
    path = os.path.join(place, key + kind.ending)
    try:
        _write(path, _hash(key, data) + data)
    except FileNotFoundError:               # another process clears the folder
        return "its folder was cleared meanwhile"
    except OSError as error:
        if os.path.exists(path):            # another process was faster, and reads it, as on Windows
            return ""
        reason = f"in {place!r}: {error.strerror}. AUTOGRAPH_CACHE_DIR names another folder"
        if kind.missed:
            _warn(f"{kind.missed} {reason}, and AUTOGRAPH_CACHE=0 does without")
        return f"nothing can be written {reason}"
    _note(place, kind.written)
    if int(key[:8], 16) * limit < _LOOKS * len(data) << 32:     # keys are as good as random
        _evict(place, limit)
    return ""


def _hash(key: str, data: bytes) -> bytes:
    """The header of a file."""
    return hashlib.blake2b(data, digest_size=_HASH, key=bytes.fromhex(key)).digest()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | _NEITHER_LINKS_NOR_PIPES, 0o600)


def _read(path: str) -> bytes:
    """The contents of a file.

    Raises:
        OSError: it is missing, or another user may have written it.
    """
    with _open(path, "rb", opener=_private) as file:
        found = os.fstat(file.fileno())
        if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o022):
            raise PermissionError
        return file.read()


def _write(path: str, data: bytes) -> None:
    part = f"{path}.{os.urandom(8).hex()}{_PART}"
    try:
        with _new(part) as file:
            file.write(data)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def _new(path: str) -> IO[bytes]:
    """A new file, in a folder that is made if it is not there."""
    try:
        return _open(path, "xb", opener=_private)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        return _open(path, "xb", opener=_private)


def _note(place: str, letter: str) -> None:
    """Add a letter to the history. So short a text is written at once or not at all."""
    with contextlib.suppress(OSError), _open(os.path.join(place, _HISTORY), "ab", opener=_private) as file:
        file.write(letter.encode())


def _warn(message: str) -> None:
    if message not in _warned:
        _warned.add(message)
        log(message)


# Where, and how much ------------------------------------------------------------------------------------------------


def is_off() -> bool:
    """Whether the user wants no files."""
    return os.environ.get("AUTOGRAPH_CACHE") == "0"


def folder() -> str | None:
    """The folder of the files; None if the user wants none, or there is no folder for caches."""
    if is_off():
        return None
    chosen = os.environ.get("AUTOGRAPH_CACHE_DIR")
    return os.path.expanduser(chosen) if chosen else _user_folder()


def _user_folder() -> str | None:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
        base = base if os.path.isabs(base) else os.path.expanduser("~/.cache")
    return os.path.join(base, "autograph") if os.path.isabs(base) else None


def size_limit() -> int:
    """How many bytes the files may take."""
    text = os.environ.get("AUTOGRAPH_CACHE_SIZE", "")
    try:
        return int(float(text or SIZE) * 1e6)
    except (ValueError, OverflowError):
        _warn(f"AUTOGRAPH_CACHE_SIZE must be a number of megabytes, not {text!r}: it is taken for {SIZE}")
        return SIZE * 1_000_000


# The whole folder ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class File:
    """A file of the cache.

    Attributes:
        used: when it was last written or read, in seconds since 1970.
    """

    path: str
    size: int
    used: float


@dataclass(slots=True)
class Contents:
    """The contents of a folder.

    Attributes:
        files: beginning with the one used longest ago.
        history: how often each letter of each kind has been noted.
    """

    files: list[File]
    history: Counter[str]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def of(self, kind: Kind) -> list[File]:
        """The files of a kind."""
        return [file for file in self.files if kind.ending in os.path.basename(file.path)]


def contents(place: str) -> Contents:
    """The files.

    Raises:
        OSError: the folder cannot be read.
    """
    files = sorted(_files(place), key=lambda file: file.used)
    history: Counter[str] = Counter()
    with contextlib.suppress(FileNotFoundError), _open(os.path.join(place, _HISTORY), "rb") as file:
        history.update(file.read().decode("latin-1"))
    return Contents(files, history)


def clear(place: str) -> Contents:
    """Remove all files of the cache, and nothing else; gives the former contents.

    Raises:
        OSError: something cannot be removed.
    """
    found = contents(place)
    for path in (*(file.path for file in found.files), os.path.join(place, _HISTORY)):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    return found


def _files(place: str) -> Iterator[File]:
    """The files, also unfinished ones of processes that have died."""
    with contextlib.suppress(FileNotFoundError), os.scandir(place) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name):
                with contextlib.suppress(FileNotFoundError):
                    found = entry.stat(follow_symlinks=False)
                    yield File(entry.path, found.st_size, found.st_mtime)


def _evict(place: str, limit: int) -> None:
    """If the files are too large, remove those used longest ago, up to three quarters of the limit."""
    with contextlib.suppress(OSError):
        found = contents(place)
        size = found.size
        if size <= limit:
            return
        for file in found.files:
            if size <= 3 * limit // 4:
                return
            with contextlib.suppress(OSError):
                os.unlink(file.path)
            size -= file.size
