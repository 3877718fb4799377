# python 3.12
# Type parameters and aliases stay.
# >>> first([1]), Stack[int]().push(2)
type Pair[T] = tuple[T, T]


def first[T: int](xs: list[T]) -> T | None:
    if len(xs) > 0:
        return xs[0]
    return None


class Stack[T]:
    def push(self, item: T) -> T:
        if item > 1:
            item += 1
        return item

# ------------------------------------------------------------ becomes
type Pair[T] = tuple[T, T]


def first[T: int](xs: list[T]) -> T | None:
    def if_body():
        return xs[0]

    def else_body():
        return None
    return ag__.if_stmt(ag__.len_(xs) > 0, if_body, else_body)


class Stack[T]:
    def push(self, item: T) -> T:
        def if_body():
            nonlocal item
            item += 1
        ag__.if_stmt(item > 1, if_body, None, ('item',))
        return item
