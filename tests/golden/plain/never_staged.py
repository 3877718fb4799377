# Conditions that always yield a plain Python value: the statement stays as it was.
# >>> f(None), f(1), f("x", mode="fast"), f([])
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os


def f(x, mode="slow"):
    if x is None:
        x = 0
    if isinstance(x, str) or not callable(x) and hasattr(x, "append"):
        x = 1
    if mode == "fast":
        x = -1
    if mode in ("fast", "slow") and sys.version_info > (3, 0):
        x += 1
    while x is None:
        x = 1
    y = x if x is not None else 0
    return x, y

# ------------------------------------------------------------ becomes
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os


def f(x, mode="slow"):
    if x is None:
        x = 0
    if isinstance(x, str) or not callable(x) and hasattr(x, "append"):
        x = 1
    if mode == "fast":
        x = -1
    if mode in ("fast", "slow") and sys.version_info > (3, 0):
        x += 1
    while x is None:
        x = 1
    y = x if x is not None else 0
    return x, y
