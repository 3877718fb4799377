"""Models in files: `model.save`, `load_model`, `save_weights`, `export`.

A `.keras` file is a zip archive of three files, which are not compressed:

    metadata.json               the format, its version, and who has written it
    config.json                 the configuration of the model, its input shape, and what `compile` got
    model.weights.safetensors   the variables of the model and the state of its optimizer

Another name is that of a directory, which `tf.saved_model` writes. Nothing of a file is run.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow import saved_model
from autograph.compat.tensorflow.core.shapes import TensorSpec
from autograph.compat.tensorflow.keras.saving import configs
from autograph.compat.tensorflow.ops.array_ops import zeros
from autograph.compat.tensorflow.ops.variables import Variable
from autograph.compat.tensorflow.staging.function import function
from autograph.errors import LoadError
from autograph.saving.directory import replace, require

_FORMAT, _VERSION = "autograph-keras", 1
_METADATA, _CONFIG, _WEIGHTS = "metadata.json", "config.json", "model.weights.safetensors"
_FOREIGN = (".h5", ".hdf5", ".pb", ".pbtxt", ".tf", ".tflite", ".onnx", ".pt", ".pkl")
_MOST = 256 * 2**20     # bytes of JSON

Arrays = dict[str, np.ndarray[Any, Any]]


# Arrays ---------------------------------------------------------------------------------------------------------------


def weight_arrays(model: Any) -> Arrays:
    """The values of the variables of a model, by number and name, in order."""
    return {f"{at}/{each.name.partition(':')[0]}": _array(each.numpy()) for at, each in enumerate(model.weights)}


def optimizer_arrays(model: Any) -> Arrays:
    """The state of the optimizer of a model."""
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        return {}
    found = {"optimizer/iterations": _array(optimizer.iterations.numpy())}
    if isinstance(optimizer.learning_rate, Variable):
        found["optimizer/learning_rate"] = _array(optimizer.learning_rate.numpy())
    for at, variable in enumerate(model.weights):
        for number, slot in enumerate(optimizer._slots.get(variable._storage, ())):
            found[f"optimizer/slots/{at}/{number}"] = _array(slot)
    return found


def _array(value: Any) -> np.ndarray[Any, Any]:
    array = np.array(value)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"a variable of dtype {array.dtype} cannot be saved with a model: only numbers can")
    return array


def set_weights(model: Any, arrays: Mapping[str, Any], path: Any) -> None:
    """Set the variables of a model to arrays.

    Raises:
        ValueError: the model has other variables.
    """
    named = {name: each for name, each in arrays.items() if not name.startswith("optimizer/")}
    weights = model.weights
    if len(weights) != len(named):
        raise ValueError(
            f"{path} has {len(named)} arrays, and the model {model.name} has {len(weights)} variables: build a model "
            "like the saved one before its weights are loaded"
        )
    numbered = {name.partition("/")[0]: each for name, each in named.items()}
    values = [numbered.get(str(at)) for at in range(len(weights))]
    for variable, value in zip(weights, values):
        if value is None or not variable.shape.is_compatible_with(value.shape):
            raise ValueError(f"{path} has no array of shape {variable.shape} for the variable {variable.name}")
    for variable, value in zip(weights, values):
        variable.assign(np.asarray(value).astype(variable.dtype.as_numpy_dtype))


def set_optimizer(model: Any, arrays: Mapping[str, Any]) -> None:
    """Set the state of the optimizer of a model."""
    optimizer = model.optimizer
    optimizer.iterations.assign(arrays["optimizer/iterations"])
    if isinstance(optimizer.learning_rate, Variable) and "optimizer/learning_rate" in arrays:
        optimizer.learning_rate.assign(arrays["optimizer/learning_rate"])
    for at, variable in enumerate(model.weights):
        names = [f"optimizer/slots/{at}/{number}" for number in range(len(optimizer._rule.remembered))]
        if names and all(name in arrays and arrays[name].shape == variable.shape for name in names):
            optimizer._slots[variable._storage] = [np.array(arrays[name]) for name in names]
            optimizer._built = True     # it makes no variables of its own any more


# Files ----------------------------------------------------------------------------------------------------------------


def _checked(filepath: Any, wanted: str) -> Path:
    path = Path(os.fspath(filepath))
    if path.suffix.lower() in _FOREIGN:
        raise ValueError(f"{path} is the name of another format: name {wanted}")
    return path


def save_model(model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True, **_: Any) -> None:
    """Write a model to a file whose name ends in `.keras`, or else to a directory, see `export`.

    Args:
        include_optimizer: whether to write what `compile` got, and the state of the optimizer, too.

    Raises:
        ValueError: the name is that of another format, such as `.h5`; or the model has no configuration.
        FileExistsError: it exists and `overwrite` is false.
    """
    path = _checked(filepath, "a file that ends in .keras")
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists: give overwrite=True, or another name")
    if path.suffix != ".keras":
        export(model, path)
        return
    arrays = weight_arrays(model) | (optimizer_arrays(model) if include_optimizer else {})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_METADATA, json.dumps({"format": _FORMAT, "version": _VERSION}))
        archive.writestr(_CONFIG, json.dumps(_described(model, include_optimizer), allow_nan=True))
        archive.writestr(_WEIGHTS, require("safetensors.numpy").save(arrays))
    replace(path, buffer.getvalue())


def _described(model: Any, with_optimizer: bool) -> dict[str, Any]:
    compiled = configs.compiled_with(model) if with_optimizer else None
    shape = _input_shape(model)
    return {
        "model": configs.serialize(model),
        "input_shape": configs.serialize(shape) if model.built else None,
        "compile": None if compiled is None else configs.serialize(compiled),
    }


def _input_shape(model: Any) -> Any:
    """The shape of a batch, or a structure of such; None if it is not known."""
    return getattr(model, "_first", None) or getattr(model, "batch_input_shape", None)


def load_model(
    filepath: Any, custom_objects: Mapping[str, Any] | None = None, compile: bool = True, safe_mode: bool = True
) -> Any:
    """Read a model that `save_model` has written.

    Args:
        custom_objects: classes and functions of the user's that the model has, by name.
        compile: whether it is compiled as it was.

    Raises:
        OSError: there is no such file.
        ValueError: the name is that of another format.
        LoadError: it is no such file, or is damaged.
        TypeError: it has a class that is neither this library's, nor registered, nor in `custom_objects`.
    """
    path = _checked(filepath, "a file that ends in .keras, which save_model has written")
    if not path.exists():
        raise OSError(f"File not found: filepath={path}. Please ensure the file is an accessible `.keras` file.")
    if path.is_dir():
        return _from_directory(path, custom_objects, compile)
    members = _members(path)
    try:
        arrays = require("safetensors.numpy").load(members[_WEIGHTS])
        described = json.loads(members[_CONFIG])
        return _restored(described, arrays, custom_objects, compile, path)
    except (RecursionError, MemoryError) as error:
        raise LoadError(f"{path} is nested too deeply") from error
    except (KeyError, AttributeError, ArithmeticError, IndexError, require("safetensors").SafetensorError) as error:
        raise LoadError(f"{path} is damaged: {error!r}") from error
    except UnicodeDecodeError as error:
        raise LoadError(f"{path} is damaged: {error}") from error
    except json.JSONDecodeError as error:
        raise LoadError(f"{path} is damaged: {error}") from error


def _members(path: Path) -> dict[str, bytes]:
    """The three files of an archive.

    Raises:
        LoadError: it has others, or compressed ones, or is no archive.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            found = archive.infolist()
            if sorted(each.filename for each in found) != sorted([_METADATA, _CONFIG, _WEIGHTS]):
                raise LoadError(f"{path} is no model that this library has written: it has other contents")
            size = path.stat().st_size
            for each in found:
                most = size if each.filename == _WEIGHTS else min(size, _MOST)
                if each.compress_type != zipfile.ZIP_STORED or each.file_size != each.compress_size:
                    raise LoadError(f"{path} has compressed contents, which this library does not write")
                if each.file_size > most or each.flag_bits & 1:
                    raise LoadError(f"{path} has contents of {each.file_size:,} bytes, or such that are encrypted")
            members = {each.filename: archive.read(each) for each in found}
        metadata = json.loads(members[_METADATA])
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, RecursionError, ValueError) as error:
        raise LoadError(f"{path} is no .keras file that can be read: {error}") from error
    if not isinstance(metadata, dict) or metadata.get("format") != _FORMAT:
        raise LoadError(f"{path} was not written by this library: its metadata names no format {_FORMAT!r}")
    if metadata.get("version") != _VERSION:
        raise LoadError(f"{path} has another version than {_VERSION}: upgrade autograph-py, or save the model again")
    return members


def _restored(described: Any, arrays: Mapping[str, Any], custom_objects: Any, compile: bool, path: Any) -> Any:
    model = configs.deserialize(described["model"], custom_objects)
    shape = configs.deserialize(described["input_shape"])
    if not hasattr(model, "weights"):
        raise LoadError(f"{path} has no model")
    if shape is not None and not model.weights and any(not name.startswith("optimizer/") for name in arrays):
        model.ensure_built(shape) if hasattr(model, "_stack") else model(_example(shape))
    set_weights(model, arrays, path)
    if compile and described["compile"] is not None:
        model.compile(**configs.deserialize(described["compile"], custom_objects))
        if "optimizer/iterations" in arrays:
            set_optimizer(model, arrays)
    return model


def _example(shape: Any) -> Any:
    """Zeros of a shape, or of a structure of shapes."""
    if isinstance(shape, (tuple, list)) and all(size is None or isinstance(size, int) for size in shape):
        return zeros([1 if size is None else size for size in shape])
    return pytree.map(_example, shape)


# Directories ----------------------------------------------------------------------------------------------------------


def export(model: Any, filepath: Any, format: str = "tf_saved_model", **_: Any) -> None:
    """Write the graph of a model, for any number of examples, to a directory that `tf.saved_model.load` reads.

    The loaded object can be called, and has the signatures `serving_default` and `serve`.
    """
    if format != "tf_saved_model":
        raise ValueError(f"the format {format!r} is not written: only 'tf_saved_model' is")
    saved_model.save(model, _checked(filepath, "a directory"))


def saved_form(model: Any) -> tuple[dict[str, Any], str]:
    """The attributes of the object that `tf.saved_model.load` gives for a model, and its configuration."""
    specs = _input_specs(model)

    serve = function(lambda inputs: model(inputs), input_signature=[specs])
    parts = {"__call__": serve, "serve": serve, "serving_default": serve, "_weights": list(model.weights)}
    state = {name: np.array(each) for name, each in optimizer_arrays(model).items()}
    return {**parts, "_state": state}, _metadata(model)


def _metadata(model: Any) -> str:
    """The configuration of a model, if it has one, for `load_model`."""
    try:
        return json.dumps(_described(model, True))
    except (NotImplementedError, TypeError, ValueError) as error:
        return json.dumps({"reason": str(error)[:1000]})


def _input_specs(model: Any) -> Any:
    if "inputs" in vars(model):
        found = [TensorSpec(tuple(each.shape), each.dtype, each.name) for each in pytree.flatten(model._network.inputs)]
        return pytree.pack(model._network.inputs, found)
    shape = _input_shape(model)
    if not model.built or shape is None:
        raise ValueError(
            f"The model {model.name} has not been built: call it on a batch of data, so that its input shape is known"
        )
    if all(size is None or isinstance(size, int) for size in shape):
        return TensorSpec((None, *shape[1:]), getattr(model, "dtype", None) or "float32", "inputs")
    return pytree.map(lambda each: TensorSpec((None, *tuple(each)[1:]), "float32"), shape)


def _from_directory(path: Path, custom_objects: Any, compile: bool) -> Any:
    loaded = saved_model.load(path)
    described = json.loads(getattr(loaded, "_saved_metadata", "{}"))
    if "model" not in described:
        raise ValueError(f"{path} has graphs and no configuration: load it with tf.saved_model.load")
    arrays = {f"{at}/": each.numpy() for at, each in enumerate(loaded._weights)}
    return _restored(described, {**arrays, **loaded._state}, custom_objects, compile, path)


# Weights --------------------------------------------------------------------------------------------------------------


def save_weights(model: Any, filepath: Any, overwrite: bool = True, **_: Any) -> None:
    """Write the variables of a model to a file in the format safetensors.

    Raises:
        ValueError: the name is that of another format, such as `.weights.h5`.
    """
    path = _checked(filepath, "a file that ends in .weights.safetensors")
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists: give overwrite=True, or another name")
    replace(path, require("safetensors.numpy").save(weight_arrays(model)))


def load_weights(model: Any, filepath: Any, **_: Any) -> None:
    """Set the variables of a model to those of a file that `save_weights` or `save` has written.

    Raises:
        ValueError: the model has other variables, or the name is that of another format.
        LoadError: the file is damaged.
    """
    path = _checked(filepath, "a file that save_weights has written")
    if not path.exists():
        raise OSError(f"File not found: filepath={path}.")
    data = _members(path)[_WEIGHTS] if path.suffix == ".keras" else path.read_bytes()
    try:
        arrays = require("safetensors.numpy").load(data)
    except (require("safetensors").SafetensorError, KeyError, TypeError) as error:
        raise LoadError(f"{path} cannot be read: {error}") from error
    set_weights(model, arrays, path)
