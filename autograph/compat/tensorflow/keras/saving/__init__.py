"""`tf.keras.saving`: models in files (`files`), and the configurations of their layers as JSON (`configs`)."""

from autograph.compat.tensorflow.keras.saving.configs import (
    custom_object_scope,
    get_custom_objects,
    register_keras_serializable,
)
from autograph.compat.tensorflow.keras.saving.configs import deserialize as deserialize_keras_object
from autograph.compat.tensorflow.keras.saving.configs import serialize as serialize_keras_object
from autograph.compat.tensorflow.keras.saving.files import (
    export,
    load_model,
    load_weights,
    save_model,
    save_weights,
    saved_form,
)

__all__ = [
    "custom_object_scope", "deserialize_keras_object", "export", "get_custom_objects", "load_model", "load_weights",
    "register_keras_serializable", "save_model", "save_weights", "saved_form", "serialize_keras_object",
]  # fmt: skip
