"""`tf.compat.v1`: the names of version 2, and some of version 1."""

# ruff: noqa: F403  (names of TensorFlow's)

from typing import Any

from autograph.compat.tensorflow import *


def enable_v2_behavior() -> None:
    """Does nothing: version 2 is what this library implements."""


enable_eager_execution = enable_control_flow_v2 = enable_v2_behavior


def global_variables_initializer() -> Any:
    """Does nothing: variables have their values from the beginning."""
