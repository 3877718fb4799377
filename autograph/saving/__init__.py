"""Saved graphs: `ag.save` and `ag.load`.

    save:  object → `encode`, `functions`, `guards` (records) → `directory` (graph.json and a file of arrays)
    load:  `directory` → `decode`, `guards` (objects and graphs) → `loaded` (functions that stage the graphs)

`vocabulary` has the names that a saved graph may refer to. docs/saving.md describes the format.
"""

from __future__ import annotations

import datetime
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from autograph.errors import AutographError, LoadError, SaveError
from autograph.saving import directory as files
from autograph.saving.decode import Decoder
from autograph.saving.encode import Encoder, is_function
from autograph.saving.functions import FunctionSaver
from autograph.saving.loaded import LoadedFunction, LoadedFunctions
from autograph.saving.vocabulary import callbacks

__all__ = ["LoadedFunction", "load", "save"]


def save(
    obj: Any,
    directory: str | os.PathLike[str],
    *,
    signatures: Sequence[Any] | Mapping[str, Sequence[Any]] = (),
    allow_callbacks: Sequence[str] = (),
) -> None:
    """Save a staged function, or a module or object with its variables and staged methods, to a directory.

    The directory gets the file `graph.json`, and one in the format safetensors if there are arrays. They contain graphs
    and data, and no Python code. What a graph reads from around the function is saved as it is now.

    Args:
        obj: a function staged by `ag.function`, a module, or an object with staged methods or such attributes.
        directory: is made if need be. A saved object in it is replaced in one step.
        signatures: calls to be saved besides those that have been staged so far, each a tuple of arguments, of which
            arrays may be `TensorSpec`s, or a dict of named ones. For an object, a dict of such lists by the names of
            its methods.
        allow_callbacks: names `"module:function"` of Python functions and classes that saved graphs call by name.

    Raises:
        SaveError: it refers to something that is neither data nor a graph, with the user's file and line; or the
            directory has other contents. Then nothing is changed.

    Example:
        >>> import tempfile
        >>> f = ag.function(lambda x: x * 2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ag.save(f, folder, signatures=[(ag.TensorSpec((None,), "f8"),)])
        ...     loaded = ag.load(folder)
        >>> loaded(np.array([1.0, 2.0]))
        array([2., 4.])
    """
    document, arrays = to_document(obj, signatures, allow_callbacks)
    files.write(directory, document, arrays)


def to_document(
    obj: Any, signatures: Sequence[Any] | Mapping[str, Sequence[Any]] = (), allow_callbacks: Sequence[str] = ()
) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """The contents of `graph.json`, and the arrays; arguments and errors as for `save`."""
    callbacks((), allow_callbacks)
    if not isinstance(signatures, Mapping):
        if signatures and not is_function(obj):
            raise SaveError("signatures= of an object is a dict: a list of calls for each of its methods, by name")
        name = getattr(obj, "__name__", "")
        signatures = {name: signatures} if signatures else {}
    if isinstance(obj, (FunctionType, type)) and not is_function(obj):
        is_class = isinstance(obj, type)
        what = "class: save an object of it" if is_class else "plain function: decorate it with ag.function"
        raise SaveError(f"{obj.__qualname__} is a {what}")
    functions = FunctionSaver(signatures)
    encoder = Encoder(allow_callbacks, functions.record)
    encoder.root = obj
    document, arrays = encoded(encoder, obj)
    functions.check()
    try:
        from_document(document, arrays, allow_callbacks)
    except LoadError as error:
        raise SaveError(f"the saved object could not be loaded: {error}") from error
    return document, arrays


def encoded(encoder: Encoder, obj: Any) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """The contents of `graph.json`, and the arrays, that an encoder makes for an object."""
    root = encoder.number(obj)
    encoder.run()
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    own = sys.modules["autograph"].__version__
    versions = {"autograph": own, "python": platform.python_version(), "numpy": np.__version__}
    document = {
        "saved_by": {**versions, "time": now},
        "arrays": None,
        "callbacks": list(encoder.callbacks),
        "root": root,
        "objects": encoder.records,
        "codes": encoder.codes,
        "places": encoder.places,
    }
    return document, encoder.arrays


def load(
    directory: str | os.PathLike[str], *, allow_callbacks: Sequence[str] = (), engine: str | None = None
) -> Any:
    """Load an object that `ag.save` has written. Nothing of a file is run, so it may come from anywhere.

    Args:
        directory: that was given to `ag.save`.
        allow_callbacks: names `"module:function"` of Python functions and classes that its graphs may import and call.
        engine: that runs its graphs, as for `ag.function`.

    Returns:
        a staged function, or an object with the attributes, variables and staged methods of the one that was saved.
        A function takes the calls that it was saved for, and raises `SignatureError` for others.

    Raises:
        LoadError: the directory is damaged, was changed, or asks for something that is not allowed.

    Example:
        >>> import tempfile
        >>> class Scale(ag.Module):
        ...     def __init__(self):
        ...         self.factor = ag.Variable(2.0, name="factor")
        ...     @ag.function
        ...     def __call__(self, x):
        ...         return x * self.factor
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ag.save(Scale(), folder, signatures={"__call__": [(ag.TensorSpec((None,), "f8"),)]})
        ...     scale = ag.load(folder)
        >>> scale(np.array([1.0, 2.0])), scale.variables
        (array([2., 4.]), [Variable(array(2.), name='factor')])
    """
    document, arrays = files.read(directory)
    return from_document(document, arrays, allow_callbacks, engine)


def from_document(
    document: dict[str, Any],
    arrays: Mapping[str, np.ndarray[Any, Any]],
    allow_callbacks: Sequence[str] = (),
    engine: str | None = None,
) -> Any:
    """The object of a document that fits the schema; arguments and errors as for `load`."""
    decoder = Decoder(document, arrays, callbacks(document["callbacks"], allow_callbacks), LoadedFunctions(engine))
    return decoded(decoder, document["root"])


def decoded(decoder: Decoder, root: int) -> Any:
    """The object of a number.

    Raises:
        LoadError: it is not well-formed.
    """
    try:
        return decoder.object(root)
    except LoadError:
        raise
    except (RecursionError, MemoryError) as error:
        raise LoadError("the saved object is nested too deeply") from error
    except (ArithmeticError, AttributeError, AutographError, LookupError, TypeError, ValueError) as error:
        raise LoadError(f"the saved object is not well-formed: {error}") from error
