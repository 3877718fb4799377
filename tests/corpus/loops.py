# ruff: noqa: F821
"""`for` and `while`: targets, iterators, what is left when they end."""

from tests.corpus import calls


@calls("3", "0", "1")
def target_lives_on(n):
    for i in range(n):
        pass
    return i


@calls("3", "0")
def target_bound_before(n):
    i = "before"
    for i in range(n):
        i = i * 2
    return i


@calls("[1, 2]", "[]")
def target_deleted(xs):
    for x in xs:
        print(x)
        del x
    return x


@calls("[1, 2]", "[]")
def target_deleted_after(xs):
    for x in xs:
        y = x
    del x
    return y


@calls("[(1, 2), (3, 4)]", "[]", "[(1, 2), (3,)]")
def tuple_targets(pairs):
    total = 0
    for a, b in pairs:
        total += a * b
    return total, a


@calls("[(1, [2, 3]), ('x', 'yz')]", "[(1, 2)]")
def nested_and_starred_targets(xs):
    out = []
    for i, (a, (b, *c)) in enumerate((x, y) for x, y in xs):
        out.append((i, a, b, c))
    return out, c


@calls("[1, 2, 3]", "[]")
def subscript_and_attribute_targets(xs):
    class Box:
        pass

    box, slot = Box(), [None]
    for slot[0] in xs:
        print(slot)
    for box.x in xs:
        pass
    for xs[0], box.y in zip(xs, "ab"):
        pass
    return slot, vars(box), xs


@calls("5", "0", "10")
def count_down(n):
    while n:
        n -= 1
        if n == 3:
            print("three")
    return n


@calls("10", "0")
def while_binds(n):
    while n > 0:
        half = n // 2
        n = half
    return half


@calls("[1, 0, 2]", "[2, 4]")
def body_fails_half_way(xs):
    total = 0
    done = []
    for x in xs:
        total += 1
        done.append(10 // x)
        total += 10
    return total, done


@calls("[1, 0, 2]", "[2, 4]")
def body_fails_and_state_survives(xs):
    total = 0
    try:
        for x in xs:
            total += 1
            y = 10 // x
            total += 10
    except ZeroDivisionError as error:
        return "failed", total, x, str(error)
    return total, x, y


@calls("4", "0")
def nested_loops(n):
    grid = []
    for i in range(n):
        row = []
        for j in range(i):
            row.append(i * j)
        grid.append(row)
    return grid, i


@calls("3")
def same_target_twice(n):
    out = []
    for i in range(n):
        for i in range(i):
            out.append(i)
        out.append(("after", i))
    return out, i


@calls("3", "0")
def target_is_read_before(n):
    total = 0
    for x in range(n):
        if x:
            total += previous
        previous = x
    return total


@calls("3", "1")
def carried_only_across_iterations(n):
    while n:
        if n == 2:
            kept = "two"
        n -= 1
        if n == 1:
            print(kept)
    return n


@calls("3")
def lengthened_by_pop(n):
    stack, seen = [n], []
    while stack:
        top = stack.pop()
        seen.append(top)
        if top > 0:
            stack.extend([top - 1, top - 2])
    return seen


@calls("[[1, 2], [3]]", "[[], []]", "[]")
def flatten(xss):
    return [x for xs in xss for x in xs], sum((len(xs) for xs in xss), 0)


@calls("5")
def loop_changes_its_bound(n):
    i = 0
    while i < n:
        i += 1
        n -= 1
    return i, n


@calls("3", "0")
def test_with_side_effects(n):
    calls = []

    def more():
        calls.append(len(calls))
        return len(calls) <= n

    while more():
        print("body")
    return calls


@calls("2, 3", "0, 3", "2, 0")
def while_in_for_in_while(a, b):
    out = 0
    while a:
        for i in range(b):
            j = i
            while j:
                out += j
                j -= 1
        a -= 1
    return out, i, j


@calls("[1, 2, 3]")
def loop_over_own_name(xs):
    for xs in xs:
        print(xs)
    return xs


@calls("[5, 6]")
def argument_is_target(x):
    for x in x:
        x += 1
    return x


@calls("0", "3")
def while_true_with_return(n):
    while True:
        if n > 10:
            return n
        n = n * 2 + 1
