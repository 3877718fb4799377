"""Layers, activations, losses and initializers: small modules in plain NumPy style, staged like the user's code.

    model = nn.Sequential(nn.Dense(64, 128, nn.relu, rng=0), nn.Dense(128, 10, rng=1))
    loss = nn.softmax_cross_entropy(model(x), labels)

Arrays have their features last: `(batch, features)`, `(batch, time, features)`, `(batch, height, width, channels)`.
All random numbers come from the `rng` of a layer, a `np.random.Generator` or a seed; without one, each layer draws
different numbers.
"""

# ruff: noqa: F403  (each module lists its names)

from autograph.nn import activations, convolution, initializers, layers, losses, normalization, recurrent
from autograph.nn.activations import *
from autograph.nn.convolution import *
from autograph.nn.initializers import *
from autograph.nn.layers import *
from autograph.nn.losses import *
from autograph.nn.normalization import *
from autograph.nn.recurrent import *

__all__: list[str] = []
__all__ += activations.__all__
__all__ += convolution.__all__
__all__ += initializers.__all__
__all__ += layers.__all__
__all__ += losses.__all__
__all__ += normalization.__all__
__all__ += recurrent.__all__
