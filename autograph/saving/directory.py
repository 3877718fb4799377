"""The directory of a saved object: `graph.json`, and a file of arrays.

    graph.json                          everything but the arrays; see `schema.json`
    arrays-0123456789abcdef.safetensors the arrays; named by a hash of its contents, which graph.json has, too

The file of arrays is written first, and `graph.json` takes the place of an earlier one in a single step: a reader finds
the old object or the new one, whole. Both are read only if they are regular files of the directory itself. The checksum
shows a changed or damaged file; it is no signature, as anyone who changes a file on purpose can compute it anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import re
import secrets
import stat
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from autograph.errors import LoadError, SaveError

FORMAT, VERSION = "autograph-saved", 1
GRAPH = "graph.json"
LARGEST = 256 * 2**20   # bytes of graph.json that are read
_ARRAYS = re.compile(r"arrays-[0-9a-f]{16}\.safetensors")
_TEMPORARY = re.compile(r"\.autograph-[0-9a-f]{16}\.part")
_PLAINLY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)

Record = dict[str, Any]
Arrays = Mapping[str, np.ndarray[Any, Any]]


def require(name: str) -> Any:
    """A module of the extra `save`.

    Raises:
        ImportError: it is not installed.
    """
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        raise ImportError(f"saving and loading need {name}: pip install 'autograph-py[save]'", name=name)
    return importlib.import_module(name)


# Writing --------------------------------------------------------------------------------------------------------------


def write(directory: str | os.PathLike[str], document: Record, arrays: Arrays) -> None:
    """Write an object; an earlier one in the directory is replaced in a single step.

    Raises:
        SaveError: the directory has other contents, or cannot be written.
    """
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        foreign = sorted(each for each in os.listdir(folder) if not _is_own(each))
        if foreign and not (folder / GRAPH).exists():
            raise SaveError(f"{folder} has other contents, such as {foreign[0]!r}: name a new or an empty directory")
        name, digest, size = None, None, 0
        if arrays:
            data = require("safetensors.numpy").save(dict(arrays), {"format": FORMAT})
            digest, size = hashlib.sha256(data).hexdigest(), len(data)
            name = f"arrays-{digest[:16]}.safetensors"
            replace(folder / name, data)
        whole = {"format": FORMAT, "version": VERSION, "checksum": "", **document}
        whole["arrays"] = {"file": name, "sha256": digest, "bytes": size} if name else None
        whole["checksum"] = checksum(whole)
        text = json.dumps(whole, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        replace(folder / GRAPH, text.encode())
        for each in os.listdir(folder):
            if (_ARRAYS.fullmatch(each) and each != name) or _TEMPORARY.fullmatch(each):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(folder / each)
    except OSError as error:
        raise SaveError(f"{folder} cannot be written: {error}") from error
    except UnicodeEncodeError as error:
        raise SaveError(f"a text cannot be saved: {error}") from error


def _is_own(name: str) -> bool:
    return name == GRAPH or _ARRAYS.fullmatch(name) is not None or _TEMPORARY.fullmatch(name) is not None


def replace(path: Path, data: bytes) -> None:
    """Write a file under another name, and rename it when it is on disk; its folder is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.parent / f".autograph-{secrets.token_hex(8)}.part"
    try:
        with open(part, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)


def checksum(document: Record) -> str:
    """A hash of all of a document but its checksum."""
    rest = {**document, "checksum": ""}
    text = json.dumps(rest, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# Reading --------------------------------------------------------------------------------------------------------------


def read(directory: str | os.PathLike[str]) -> tuple[Record, Arrays]:
    """The document of a directory, which fits the schema, and its arrays.

    Raises:
        LoadError: there is none, or it is damaged, was changed, or is of another format or a newer version.
    """
    folder = Path(directory)
    if not folder.is_dir():
        raise LoadError(f"{folder} is no directory: name one that ag.save has written")
    data = _contents(folder, GRAPH, LARGEST)
    document = _parsed(data, folder / GRAPH)
    try:
        check(document)
        found = document["checksum"], checksum(document)
    except (RecursionError, MemoryError) as error:
        raise LoadError(f"{folder / GRAPH} is nested too deeply") from error
    except (ValueError, OverflowError) as error:
        raise LoadError(f"{folder / GRAPH} cannot be read: {error}") from error
    if found[0] != found[1]:
        raise LoadError(f"{folder / GRAPH} is not as it was saved: its checksum is another one. Save the object again")
    return document, _arrays(folder, document["arrays"])


def _parsed(data: bytes, file: Path) -> Any:
    def refuse(text: str) -> Any:
        raise ValueError(f"{text} is no number of JSON")

    def unique(pairs: list[tuple[str, Any]]) -> Record:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a key is there twice")
        return found

    try:
        return json.loads(data.decode(), parse_constant=refuse, object_pairs_hook=unique)
    except (RecursionError, MemoryError) as error:
        raise LoadError(f"{file} is nested too deeply") from error
    except (ValueError, OverflowError) as error:
        raise LoadError(f"{file} is no JSON: {error}; it is damaged, or was not written to its end") from error


def check(document: Any) -> None:
    """Check that a document fits the schema, and is of a version that this library reads.

    Raises:
        LoadError: it is not.
    """
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise LoadError(f"the file is not of the format {FORMAT!r}")
    version = document.get("version")
    if type(version) is not int or version != VERSION:
        newer = f"the file has version {str(version)[:20]}, and this library reads version {VERSION}"
        raise LoadError(f"{newer}: upgrade autograph-py, or save the object again")
    validate, problem = _validator()
    try:
        validate(document)
    except problem as error:
        raise LoadError(f"the file does not fit its schema: {str(error)[:200]}") from error


@cache
def _validator() -> tuple[Callable[[Any], Any], type[Exception]]:
    library = require("fastjsonschema")
    return library.compile(schema()), library.JsonSchemaException


@cache
def schema() -> Record:
    """The JSON Schema of `graph.json`."""
    found: Record = json.loads((Path(__file__).parent / "schema.json").read_text())
    return found


def _contents(folder: Path, name: str, most: int) -> bytes:
    """The contents of a regular file of a directory, which is no link.

    Raises:
        LoadError: there is none, or it is too large.
    """
    path = folder / name
    try:
        descriptor = os.open(path, os.O_RDONLY | _PLAINLY)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise LoadError(f"{path} is no regular file")
            if found.st_size > most:
                raise LoadError(f"{path} has {found.st_size:,} bytes, more than the {most:,} that it may have")
            return file.read(most + 1)[:most]
    except FileNotFoundError:
        raise LoadError(f"there is no {path}: the directory was not written by ag.save, or not to its end") from None
    except OSError as error:
        raise LoadError(f"{path} cannot be read: {error}") from error


def _arrays(folder: Path, record: Record | None) -> Arrays:
    if record is None:
        return {}
    if not _ARRAYS.fullmatch(record["file"]):
        raise LoadError(f"{ascii(record['file'])[:80]} is no name of a file of arrays")
    data = _contents(folder, record["file"], record["bytes"])
    if len(data) != record["bytes"] or hashlib.sha256(data).hexdigest() != record["sha256"]:
        raise LoadError(f"{folder / record['file']} is not as it was saved. Save the object again")
    library = require("safetensors")
    try:
        found: Arrays = require("safetensors.numpy").load(data)
    except (library.SafetensorError, ValueError, KeyError, TypeError) as error:
        raise LoadError(f"{folder / record['file']} cannot be read: {error}") from error
    return {name: each if each.flags.writeable else each.copy() for name, each in found.items()}
