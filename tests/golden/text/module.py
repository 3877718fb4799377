#!/usr/bin/env python3
"""A module of its own."""

from __future__ import annotations

import math

__all__ = ["area"]      # what there is


# A comment between.


def area(r: float) -> float:
    """The area of a circle."""
    if r < 0:
        raise ValueError(r)
    return math.pi * r ** 2


if __name__ == "__main__":
    print(area(1.0))

# ------------------------------------------------------------ becomes
#!/usr/bin/env python3
"""A module of its own."""

from __future__ import annotations

import math

__all__ = ["area"]      # what there is


# A comment between.


def area(r: float) -> float:
    """The area of a circle."""

    def if_body():
        raise ag__.raise_(ValueError(r))
    ag__.if_stmt(r < 0, if_body)
    return math.pi * r ** 2


if __name__ == "__main__":
    print(area(1.0))
