# Parametrised types are no elements of anything, and annotations are not evaluated.
# >>> f([1])
from typing import Any, Optional


def f(xs: list[int]) -> Optional[Any]:
    found: dict[str, Any] = dict[str, Any]()
    return found or Optional[int], list[int](xs)

# ------------------------------------------------------------ becomes
from typing import Any, Optional


def f(xs: list[int]) -> Optional[Any]:
    found: dict[str, Any] = ag__.call(dict[str, Any])()
    return ag__.or_(lambda: found, lambda: Optional[int]), ag__.call(list[int])(xs)
