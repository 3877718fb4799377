"""Layers, activations, losses and initializers: small modules in plain NumPy style, staged like the user's code.

    model = nn.Sequential(nn.Dense(64, 128, nn.relu, rng=0), nn.Dense(128, 10, rng=1))
    loss = nn.softmax_cross_entropy(model(x), labels)

Arrays have their features last: `(batch, features)`, `(batch, time, features)`, `(batch, height, width, channels)`.
All random numbers come from the `rng` that a layer is given, a `np.random.Generator` or a seed; without one they are
others each time.
"""

from autograph.nn.activations import (
    gelu,
    log_softmax,
    one_hot,
    relu,
    sigmoid,
    silu,
    softmax,
    softplus,
    tanh,
)
from autograph.nn.convolution import (
    AveragePool,
    Conv1D,
    Conv2D,
    MaxPool,
    average_pool,
    convolve,
    global_average_pool,
    global_max_pool,
    max_pool,
)
from autograph.nn.initializers import (
    glorot_normal,
    glorot_uniform,
    he_normal,
    he_uniform,
    normal,
    ones,
    orthogonal,
    standard_normal,
    uniform,
    xavier_normal,
    xavier_uniform,
    zeros,
)
from autograph.nn.layers import Dense, Dropout, Embedding, MultiHeadAttention, Sequential, flatten
from autograph.nn.losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    huber,
    mae,
    mse,
    softmax_cross_entropy,
)
from autograph.nn.normalization import BatchNorm, LayerNorm
from autograph.nn.recurrent import RNN, GRUCell, LSTMCell, SimpleRNNCell

__all__ = [
    "RNN",
    "AveragePool",
    "BatchNorm",
    "Conv1D",
    "Conv2D",
    "Dense",
    "Dropout",
    "Embedding",
    "GRUCell",
    "LSTMCell",
    "LayerNorm",
    "MaxPool",
    "MultiHeadAttention",
    "Sequential",
    "SimpleRNNCell",
    "average_pool",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "convolve",
    "flatten",
    "gelu",
    "global_average_pool",
    "global_max_pool",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "huber",
    "log_softmax",
    "mae",
    "max_pool",
    "mse",
    "normal",
    "one_hot",
    "ones",
    "orthogonal",
    "relu",
    "sigmoid",
    "silu",
    "softmax",
    "softmax_cross_entropy",
    "softplus",
    "standard_normal",
    "tanh",
    "uniform",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]
