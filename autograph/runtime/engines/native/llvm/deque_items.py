"""How CPython's deques have their items: in blocks of 64 places, each with links to its neighbors.

A deque refers to its first and last block, and has the place of its first item in the former, and that of its last item
in the latter. So both ends are at hand. To make, free or cross a block, and for errors, C functions are called.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from autograph.common.cpython_internals import HAS_SIMPLE_COUNTS, SIZE, WORD, read
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.cpython_abi import ObjectBuilder

# Where a deque has its first and last block, the places of its first and last item in them, a number that each change
# increments, and the number of items to which it is limited, or -1; and where a block has its items.
FIRST, LAST, BEGIN, END, STATE, LIMIT, ITEMS = 24, 32, 40, 48, 56, 64, 8
LENGTH = 64     # of a block
NEXT = ITEMS + 8 * LENGTH       # where a block has the next one, unless it is the last


def _is_as_described() -> bool:
    """Whether deques are as described above, for as many items as make and free several blocks."""
    things = [object() for _ in range(5)]
    for limit, count in ((None, LENGTH + 6), (3, 12)):
        queue: deque[object] = deque(maxlen=limit)
        for number in range(count):
            before = _fields(queue)[4]
            queue.append(things[number % 5]) if number % 7 else queue.appendleft(things[number % 5])
            if number % 4 == 3:
                queue.popleft() if number % 8 else queue.pop()
            if number % 3 == 0 and not _has_items(queue, -1 if limit is None else limit):
                return False
            if _fields(queue)[4] <= before:
                return False
    return True


def _fields(queue: deque[object]) -> list[int]:
    return read(WORD, id(queue) + FIRST, 6)


def _has_items(queue: deque[object], limit: int) -> bool:
    first, last, begin, end, _, most = _fields(queue)
    if read(WORD, id(queue) + SIZE, 1) != [len(queue)] or most != limit % 2**64 or max(begin, end) >= LENGTH:
        return False
    if (first == last) != (begin + len(queue) <= LENGTH) or (end - begin + 1 - len(queue)) % LENGTH:
        return False
    if (begin + len(queue) > LENGTH) and (read(WORD, first + NEXT, 1) == [last]) != (begin + len(queue) <= 2 * LENGTH):
        return False
    head = list(queue)[: LENGTH - begin]
    found = read(WORD, first + ITEMS + 8 * begin, len(head))
    return found == [*map(id, head)] and read(WORD, last + ITEMS + 8 * end, 1) == [id(queue[-1])]


HAS_DEQUES = HAS_SIMPLE_COUNTS and _is_as_described()
Slow = Callable[[], "ir.Value"]


def size(objects: ObjectBuilder, thing: ir.Value) -> ir.Value:
    return objects.load_at(ir.I64, thing, SIZE)


def add(objects: ObjectBuilder, thing: ir.Value, item: ir.Value, is_left: bool, slow: Callable[[], None]) -> ir.Value:
    """Append an item, whose reference goes to the deque.

    Args:
        is_left: whether it is appended to the left.
        slow: does so where a block has to be made or freed; it releases the reference.

    Returns:
        the item that has to go, as there are too many, or null: a reference to be released.
    """
    b = objects.b
    place, other = _places(objects, thing, is_left)
    more = b.add(size(objects, thing), 1)
    is_full = b.icmp("ugt", more, objects.load_at(ir.I64, thing, LIMIT))
    at_edge = b.icmp("eq", place, 0 if is_left else LENGTH - 1)
    other_at_edge = b.icmp("eq", other, LENGTH - 1 if not is_left else 0)

    def fast() -> ir.Value:
        new = b.add(place, -1 if is_left else 1)
        b.store(new, b.gep(thing, BEGIN if is_left else END))
        b.store(item, _address(objects, thing, new, is_left))
        _change(objects, thing)
        found = b.if_else(is_full, lambda: _removed(objects, thing, other, not is_left), grow)
        assert found is not None
        return found

    def grow() -> ir.Value:
        b.store(more, b.gep(thing, SIZE))
        return ir.NULL

    def ask() -> ir.Value:
        slow()
        return ir.NULL

    found = b.if_else(b.or_(at_edge, b.and_(is_full, other_at_edge)), ask, fast, False)
    assert found is not None
    return found


def take(objects: ObjectBuilder, thing: ir.Value, is_left: bool, slow: Slow) -> ir.Value:
    """Remove the first item, or the last one; returns the reference to it. `slow`: does so in other cases."""
    b = objects.b
    place, count = _places(objects, thing, is_left)[0], size(objects, thing)
    at_edge = b.icmp("eq", place, LENGTH - 1 if is_left else 0)

    def fast() -> ir.Value:
        _change(objects, thing)
        b.store(b.sub(count, 1), b.gep(thing, SIZE))
        return _removed(objects, thing, place, is_left)

    found = b.if_else(b.or_(at_edge, b.icmp("eq", count, 0)), slow, fast, False)
    assert found is not None
    return found


def item(objects: ObjectBuilder, thing: ir.Value, place: ir.Value, slow: Slow) -> ir.Value:
    """Another reference to the item at a place within bounds; `slow`: finds one in a block in the middle."""
    b = objects.b
    begin, end = (objects.load_at(ir.I64, thing, each) for each in (BEGIN, END))
    from_begin = b.add(begin, place)
    from_end = b.sub(end, b.sub(b.sub(size(objects, thing), 1), place))

    def behind() -> ir.Value:
        found = b.if_else(b.icmp("sge", from_end, 0), lambda: at(from_end, False), slow, True)
        assert found is not None
        return found

    def at(number: ir.Value, is_left: bool) -> ir.Value:
        return objects.another(b.load(ir.PTR, _address(objects, thing, number, is_left)))

    found = b.if_else(b.icmp("slt", from_begin, LENGTH), lambda: at(from_begin, True), behind)
    assert found is not None
    return found


def items_together(objects: ObjectBuilder, thing: ir.Value) -> tuple[ir.Value, ir.Value, ir.Value]:
    """The address of the references to all items, their number, and whether they are there: if in at most two blocks.

    Those in two blocks are copied to the stack.
    """
    b, count = objects.b, size(objects, thing)
    first, last = (objects.load_at(ir.PTR, thing, each) for each in (FIRST, LAST))
    begin = objects.load_at(ir.I64, thing, BEGIN)
    items = b.gep(b.gep(first, ITEMS), begin, ir.PTR)
    is_one = b.icmp("eq", first, last)

    def copy() -> ir.Value:
        is_next = b.icmp("eq", b.load(ir.PTR, b.gep(first, NEXT)), last)
        found = b.if_else(is_next, both, lambda: ir.NULL)
        assert found is not None
        return found

    def both() -> ir.Value:
        room, from_first = b.room(ir.array(2 * LENGTH, ir.PTR)), b.sub(LENGTH, begin)
        behind = b.gep(last, ITEMS), b.gep(room, from_first, ir.PTR), b.sub(count, from_first)
        for source, target, length in ((items, room, from_first), behind):
            with b.loop(0, length) as loop:
                b.store(b.load(ir.PTR, b.gep(source, loop.index, ir.PTR)), b.gep(target, loop.index, ir.PTR))
        return room

    found = b.if_else(is_one, lambda: items, copy)
    assert found is not None
    return found, count, b.icmp("ne", found, ir.NULL)


def _places(objects: ObjectBuilder, thing: ir.Value, is_left: bool) -> tuple[ir.Value, ir.Value]:
    """The places of the item at one end, and of that at the other end."""
    begin, end = (objects.load_at(ir.I64, thing, each) for each in (BEGIN, END))
    return (begin, end) if is_left else (end, begin)


def _address(objects: ObjectBuilder, thing: ir.Value, place: ir.Value, is_left: bool) -> ir.Value:
    block = objects.load_at(ir.PTR, thing, FIRST if is_left else LAST)
    return objects.b.gep(objects.b.gep(block, ITEMS), place, ir.PTR)


def _removed(objects: ObjectBuilder, thing: ir.Value, place: ir.Value, is_left: bool) -> ir.Value:
    """Move one end behind its item; returns that."""
    b = objects.b
    found = b.load(ir.PTR, _address(objects, thing, place, is_left))
    b.store(b.add(place, 1 if is_left else -1), b.gep(thing, BEGIN if is_left else END))
    return found


def _change(objects: ObjectBuilder, thing: ir.Value) -> None:
    b = objects.b
    b.store(b.add(objects.load_at(ir.I64, thing, STATE), 1), b.gep(thing, STATE))
