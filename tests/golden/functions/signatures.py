# Decorators, defaults and annotations stay as they are.
# >>> f(1, 2, c=3), f(1)
import functools


@functools.lru_cache(maxsize=None)
def f(a: int, /, b=1 if True else 2, *rest: int, c: "str" = "x" and "y", **more) -> tuple[int, ...]:
    if a > b:
        return a, c
    return b, c

# ------------------------------------------------------------ becomes
import functools


@functools.lru_cache(maxsize=None)
def f(a: int, /, b=1 if True else 2, *rest: int, c: "str" = "x" and "y", **more) -> tuple[int, ...]:
    def if_body():
        return a, c

    def else_body():
        return b, c
    return ag__.if_stmt(a > b, if_body, else_body)
