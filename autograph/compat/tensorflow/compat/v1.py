"""`tf.compat.v1`: the names of version 1 that are there in version 2, and some that are not."""

# ruff: noqa: F403  (names of TensorFlow's)

from typing import Any

from autograph.compat.tensorflow import *


def enable_v2_behavior() -> None:
    """Does nothing: this is how the library works anyway."""


enable_eager_execution = enable_control_flow_v2 = enable_v2_behavior


def global_variables_initializer() -> Any:
    """Does nothing: variables have their values from the beginning."""
