"""`tf.train`: checkpoints of variables, models, optimizers and iterators.

    save:     objects → `tracking` (names of what is in them) → `checkpoint` → `files` (safetensors with JSON)
    restore:  `files` → `checkpoint`, which sets variables now, or as soon as an object has them
"""

from autograph.compat.tensorflow.train.checkpoint import Checkpoint
from autograph.compat.tensorflow.train.files import (
    CheckpointReader,
    latest_checkpoint,
    list_variables,
    load_checkpoint,
    load_variable,
)
from autograph.compat.tensorflow.train.manager import CheckpointManager

__all__ = [
    "Checkpoint", "CheckpointManager", "CheckpointReader", "latest_checkpoint", "list_variables", "load_checkpoint",
    "load_variable",
]  # fmt: skip
