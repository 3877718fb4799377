"""TensorFlow's spelling: `import autograph.compat.tensorflow as tf`.

Tensors, types, errors and `tf.function` behave as TensorFlow documents them; underneath, NumPy computes, and the graph
runtime of this library records, optimizes and runs.
"""

# ruff: noqa: F401, F403  (names of TensorFlow's)

import builtins as _builtins
from importlib import import_module as _import_module
from types import SimpleNamespace as _SimpleNamespace

from autograph.compat.tensorflow import autograph_ as autograph
from autograph.compat.tensorflow import (
    bitwise,
    config,
    data,
    debugging,
    distribute,
    experimental,
    image,
    linalg,
    math,
    nn,
    ragged,
    sparse,
    strings,
)
from autograph.compat.tensorflow import io_ as io
from autograph.compat.tensorflow import nest_ as nest
from autograph.compat.tensorflow import testing as test
from autograph.compat.tensorflow.core import dtypes, errors
from autograph.compat.tensorflow.core.convert import constant, convert_to_tensor, is_tensor
from autograph.compat.tensorflow.core.dtypes import *
from autograph.compat.tensorflow.core.graphs import current as _current
from autograph.compat.tensorflow.core.graphs import name_scope
from autograph.compat.tensorflow.core.shapes import TensorShape, TensorSpec
from autograph.compat.tensorflow.core.tensor import Tensor
from autograph.compat.tensorflow.linalg import clip_by_global_norm, clip_by_norm, norm
from autograph.compat.tensorflow.module import Module
from autograph.compat.tensorflow.more_math import ensure_shape, meshgrid
from autograph.compat.tensorflow.ops import random_ops as random
from autograph.compat.tensorflow.ops.array_ops import *
from autograph.compat.tensorflow.ops.indexing import *
from autograph.compat.tensorflow.ops.indexing import slice_ as slice
from autograph.compat.tensorflow.ops.math_ops import *
from autograph.compat.tensorflow.ops.printing import print
from autograph.compat.tensorflow.ops.reduce_ops import *
from autograph.compat.tensorflow.ops.tensor_array import TensorArray
from autograph.compat.tensorflow.ops.variables import Variable
from autograph.compat.tensorflow.ragged import RaggedTensor
from autograph.compat.tensorflow.sparse import SparseTensor
from autograph.compat.tensorflow.staging.control import *
from autograph.compat.tensorflow.staging.control import init_scope
from autograph.compat.tensorflow.staging.control import scope as control_dependencies
from autograph.compat.tensorflow.staging.control import scope as device
from autograph.compat.tensorflow.staging.custom import custom_gradient, numpy_function, py_function
from autograph.compat.tensorflow.staging.function import function
from autograph.compat.tensorflow.staging.functional import foldl, foldr, map_fn, scan, vectorized_map
from autograph.compat.tensorflow.staging.signatures import TraceType
from autograph.compat.tensorflow.staging.tape import GradientTape, UnconnectedGradients

as_string = strings.as_string
types = _SimpleNamespace(experimental=_SimpleNamespace(TraceType=TraceType))
assert_rank = debugging.assert_rank
newaxis = None
__version__ = "2.16.0"


def executing_eagerly() -> _builtins.bool:
    """Whether ops run at once, rather than being recorded in a graph."""
    return _current() is None


def __getattr__(name: str) -> object:
    """Import `tf.compat`, `tf.keras` and others on first use, since they import the rest."""
    if name not in ("compat", "keras", "losses", "metrics", "optimizers", "python", "saved_model", "summary", "train"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    inside = ".keras" if name in ("losses", "metrics", "optimizers") else ""
    return _import_module(f"{__name__}{inside}.{name}")
