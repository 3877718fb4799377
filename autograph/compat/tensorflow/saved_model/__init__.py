"""`tf.saved_model`: variables, and the graphs of functions, in the format of `ag.save`; nothing of a file is run.

    save:  object → `encode` (records) → `autograph.saving.directory`
    load:  `autograph.saving.directory` → `decode` (objects, and the functions of `restored`)
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from autograph import saving
from autograph.compat.tensorflow.saved_model.decode import Loaded, TensorFlowDecoder
from autograph.compat.tensorflow.saved_model.encode import TensorFlowEncoder
from autograph.errors import LoadError
from autograph.saving import directory

__all__ = ["LoadOptions", "Loaded", "SaveOptions", "contains_saved_model", "load", "save"]


class SaveOptions:
    """Options of `save` that have no effect here."""

    def __init__(self, **options: Any) -> None:
        vars(self).update(options)


class LoadOptions(SaveOptions):
    """Options of `load` that have no effect here."""


def save(obj: Any, export_dir: Any, signatures: Any = None, options: Any = None) -> None:
    """Save the variables of an object, the graphs of its functions, and the modules in it.

    Args:
        obj: a `tf.Module`, a Keras model, or another object with variables and functions as attributes.
        export_dir: the directory, which is made if need be.
        signatures: functions to be found as `signatures[name]`, by name; or one, whose name is `"serving_default"`. By
            default the only function of the object that has an input signature.

    Raises:
        ValueError: a signature is no function, or one without an input signature; or the object has no attributes.
        SaveError: a graph calls Python, such as a `tf.py_function`; says where.
    """
    if not hasattr(obj, "__dict__") or isinstance(obj, type) or callable(getattr(obj, "get_concrete_function", None)):
        raise ValueError(f"Expected an object with variables and functions, such as a tf.Module, for export: {obj!r}")
    encoder = TensorFlowEncoder(obj, signatures)
    directory.write(os.fspath(export_dir), *saving.encoded(encoder, obj))


def load(export_dir: Any, tags: Any = None, options: Any = None) -> Any:
    """Load an object with the attributes, variables and functions of the saved one.

    Returns:
        the object. Its attribute `signatures` has the functions that were saved under names of their own.

    Raises:
        OSError: there is no saved object in the directory.
        LoadError: it is damaged, was changed, or is in the format of TensorFlow itself.
    """
    folder = Path(export_dir)
    if not (folder / directory.GRAPH).exists():
        if (folder / "saved_model.pb").exists():
            raise LoadError(f"{folder} is in the format of TensorFlow itself: load it with TensorFlow")
        raise OSError(f"SavedModel file does not exist at: {folder}{os.sep}{directory.GRAPH}")
    document, arrays = directory.read(folder)
    return saving.decoded(TensorFlowDecoder(document, arrays), document["root"])


def contains_saved_model(export_dir: Any) -> bool:
    """Whether a directory has a saved object."""
    return (Path(export_dir) / directory.GRAPH).is_file()
