"""Taking items by indices that count from the start only, other than NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import declare, derive, lookup
from autograph.runtime.ops.arrays.selection import of_take
from autograph.runtime.ops.gradients.toolkit import on_handles


def checked_take(a: Any, indices: Any, axis: Any = 0) -> Any:
    """`np.take`, of indices none of which is negative."""
    size = a.shape[axis]
    wrong = np.argwhere((indices < 0) | (indices >= size)) if np.ndim(indices) else ()
    if np.ndim(indices) == 0 and not 0 <= indices < size:
        raise IndexError(f"indices = {indices} is not in [0, {size})")
    for place in wrong[:1]:
        where = ",".join(map(str, place))
        raise IndexError(f"indices[{where}] = {indices[tuple(place)]} is not in [0, {size})")
    return np.take(a, indices, axis)


declare("checked_take", lookup("np.take").infer, target=checked_take, raises=True)
derive("checked_take", of_take)
take = on_handles(checked_take)
