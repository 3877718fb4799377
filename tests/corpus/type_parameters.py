"""Type parameters and type aliases (Python 3.12)."""

from tests.corpus import calls


@calls("[1, 2]", "[]")
def generic[T](xs: list[T]) -> T | None:
    for x in xs:
        if x:
            return x
    return None


@calls("3")
def parameters_are_in_scope[T: int, *Ts, **P](n: T):
    if n:
        names = [T.__name__, Ts.__name__, P.__name__]
    else:
        names = []
    return names, T.__bound__, [p.__name__ for p in parameters_are_in_scope.__type_params__]


@calls("2")
def generic_class_inside(n):
    class Stack[T]:
        def __init__(self) -> None:
            self.items: list[T] = []

        def push[U](self, item: T, note: U = None) -> U:
            if item is not None:
                self.items.append(item)
            return note

    stack = Stack[int]()
    for i in range(n):
        stack.push(i, "note")
    return stack.items, [p.__name__ for p in Stack.__type_params__]


@calls("1", "0")
def alias_in_branch(n):
    if n:
        type Alias[K] = dict[K, n]
    else:
        type Alias[K] = list[K]
    return Alias.__name__, str(Alias.__value__)


@calls("3")
def nested_f_strings(n):
    out = []
    for i in range(n):
        out.append(f"{f"{i!r:>{n}}" if i else "none"}")
    return out
