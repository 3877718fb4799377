"""Checkpoints as files: arrays in safetensors, with the graph of objects as JSON in its header.

    ckpt-1.safetensors    a checkpoint; its path is given without the ending
    checkpoint            JSON: the names of the latest checkpoint and of all that are kept

Each file is written under another name and renamed, so that a reader finds the old one or the new one, whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core.dtypes import DType, as_dtype
from autograph.compat.tensorflow.core.errors import NotFoundError
from autograph.errors import LoadError
from autograph.saving.directory import replace, require

FORMAT = "autograph-checkpoint"
ENDING = ".safetensors"
STATE = "checkpoint"
OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
Arrays = dict[str, np.ndarray[Any, Any]]


def write(prefix: str, arrays: Mapping[str, Any], nodes: list[Any]) -> None:
    """Write a checkpoint. Arrays of texts become bytes; the header has their lengths."""
    stored: Arrays = {}
    texts: dict[str, Any] = {}
    for name, value in arrays.items():
        array = np.asarray(value, object if isinstance(value, bytes) else None)
        if array.dtype == object:
            items = [bytes(each) for each in array.ravel().tolist()]
            texts[name] = {"shape": list(array.shape), "lengths": [len(each) for each in items]}
            array = np.frombuffer(b"".join(items), np.uint8)
        elif array.dtype.kind == "c":
            raise ValueError(f"{name} is complex, which a checkpoint cannot have: save its real and imaginary parts")
        stored[name] = np.array(array, order="C")
    header = {"format": FORMAT, "graph": json.dumps({"nodes": nodes, "texts": texts})}
    replace(Path(f"{prefix}{ENDING}"), require("safetensors.numpy").save(stored, header))


class CheckpointReader:
    """The arrays of a checkpoint.

    Attributes:
        nodes: the graph of objects: for each its children by name, and the names of its arrays.

    Raises:
        NotFoundError: there is no such checkpoint.
        LoadError: it is damaged.
    """

    def __init__(self, prefix: Any) -> None:
        path = Path(f"{os.fspath(prefix)}{ENDING}")
        if not path.is_file():
            raise NotFoundError(None, None, f"Failed to find any matching files for {os.fspath(prefix)}")
        library = require("safetensors")
        try:
            with library.safe_open(path, framework="np") as file:
                header = file.metadata() or {}
                self._arrays: dict[str, Any] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            if header.get("format") != FORMAT:
                raise LoadError(f"{path} is no checkpoint: its header names no format {FORMAT!r}")
            graph = json.loads(header["graph"])
            self.nodes: list[Any] = [_node(each, len(graph["nodes"])) for each in graph["nodes"]]
            for name, text in graph["texts"].items():
                self._arrays[name] = _texts(self._arrays[name], text["shape"], text["lengths"])
        except (RecursionError, MemoryError) as error:
            raise LoadError(f"{path} is nested too deeply") from error
        except (KeyError, TypeError, ValueError, AttributeError, OSError, library.SafetensorError) as error:
            raise LoadError(f"{path} is damaged: {error}") from error

    def has_tensor(self, name: str) -> bool:
        return name in self._arrays

    def get_tensor(self, name: str) -> Any:
        """The array of that name."""
        if name not in self._arrays:
            raise NotFoundError(None, None, f"Key {name} not found in checkpoint")
        return self._arrays[name]

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shapes of the arrays by their names."""
        return {**{name: list(each.shape) for name, each in self._named()}, OBJECT_GRAPH: []}

    def _named(self) -> Iterable[tuple[str, Any]]:
        return self._arrays.items()

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """The types of the arrays by their names."""
        found = {name: as_dtype("string" if each.dtype == object else each.dtype) for name, each in self._named()}
        return {**found, OBJECT_GRAPH: as_dtype("string")}


def _node(record: Any, count: int) -> dict[str, Any]:
    """A node of the graph of objects, checked."""
    children, value, slots = record["children"], record.get("value"), record.get("slots", [])
    fits = all(type(each) is int and 0 <= each < count for each in children.values())
    fits = fits and (value is None or type(value) is str)
    for place, names in slots:
        fits = fits and type(place) is int and 0 <= place < count and all(type(name) is str for name in names)
    if not fits:
        raise ValueError("its graph of objects is not well-formed")
    return {"children": children, "value": value, "slots": slots}


def _texts(data: Any, shape: Sequence[int], lengths: Sequence[int]) -> Any:
    ends = np.cumsum([0, *lengths])
    if data.dtype != np.uint8 or min(lengths, default=0) < 0 or ends[-1] != data.size:
        raise ValueError("texts have other lengths")
    items = [data[begin:end].tobytes() for begin, end in pairwise(ends.tolist())]
    found = np.empty(len(items), object)
    found[:] = items
    return found.reshape(shape)


# The state of a directory ---------------------------------------------------------------------------------------------


def write_state(directory: Path, latest: str, kept: Sequence[str]) -> None:
    """Write the names of the latest checkpoint, and of all that are kept."""
    names = [Path(each).name for each in kept]
    state = {"model_checkpoint_path": Path(latest).name, "all_model_checkpoint_paths": names}
    replace(directory / STATE, json.dumps(state, indent=1).encode())


def read_state(directory: Any) -> list[str]:
    """The paths of the checkpoints that a directory keeps, the latest last; those whose files are gone are left out.

    Raises:
        LoadError: the file is damaged.
    """
    folder = Path(directory)
    try:
        state = json.loads((folder / STATE).read_bytes())
        latest, names = state["model_checkpoint_path"], state["all_model_checkpoint_paths"]
        if not all(type(each) is str and Path(each).name == each for each in [latest, *names]):
            raise ValueError("it has names of other directories")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise LoadError(f"{folder / STATE} is damaged: {error}") from error
    paths = [os.path.join(os.fspath(directory), each) for each in [*(n for n in names if n != latest), latest]]
    return [path for path in paths if Path(f"{path}{ENDING}").is_file()]


def latest_checkpoint(checkpoint_dir: Any, latest_filename: Any = None) -> str | None:
    """The path of the latest checkpoint in a directory; None if there is none."""
    found = read_state(checkpoint_dir)
    return found[-1] if found else None


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """A reader for a checkpoint, or for the latest one of a directory.

    Raises:
        ValueError: the directory has none.
    """
    if not Path(ckpt_dir_or_file).is_dir():
        return CheckpointReader(ckpt_dir_or_file)
    latest = latest_checkpoint(ckpt_dir_or_file)
    if latest is None:
        raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {ckpt_dir_or_file}")
    return CheckpointReader(latest)


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """The names and shapes of the arrays in a checkpoint."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """An array of a checkpoint."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name)
