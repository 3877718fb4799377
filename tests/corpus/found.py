# ruff: noqa: F821, F823
"""What once was converted wrongly; mostly found by drawn programs, and made as small as it could be."""

from tests.corpus import calls

x = "global"


@calls("[0, 3, 4]", "[1]", "[]")
def continue_in_plain_loop_in_finally(xs):
    try:
        pass
    finally:
        for x in xs:
            if x == 1:
                return x
            else:
                if x == 3:
                    continue
                print(x)


@calls("[1, 2]", "[]")
def return_in_else_of_plain_loop(xs):
    def produce():
        for x in xs:
            yield x
        else:
            if xs:
                return "in else"
        yield "end"

    return list(produce()), xs


@calls("1, 2", "None, 0", "None, 1", "None, 2")
def return_in_else_of_a_while_that_stays_plain(a, b):
    while a is None:
        a = 0
    else:
        if b:
            if b > 1:
                return 3
            b = 2
        a = b
    return a, b


@calls("5, [(1, 2), (3, 4)]", "5, []")
def comprehension_that_stays_with_the_name_of_an_argument(x, rows):
    if len(rows) > 0:
        ys = [x for x, _ in rows]
        for i in range(3):
            print(x + i)
        fs = [(lambda: x)() for x, _ in rows]
        print(x, ys, fs)
    return x


@calls("7", "9")
def break_at_once_out_of_range(n):
    for x in range(n, 9):
        break
    return n, x


@calls("1", "0")
def local_that_only_a_body_keeps(n):
    if n > 1:
        print(x)
    if n > 0:
        x = 1
    try:
        return x
    except NameError as e:
        return str(e)


@calls("1", "0")
def local_that_is_dead_after_its_branch(n):
    print(x)
    if n > 0:
        x = 1


@calls("1", "0")
def inner_function_changes_what_is_captured(flag):
    c = 1

    def g():
        if flag > 0:
            def h():
                nonlocal c
                c += 1
            h()
        return 0

    g()
    return c


@calls("3", "0")
def inner_function_in_a_loop_changes_what_is_captured(b):
    d = 1

    def g():
        nonlocal b
        while b:
            def h():
                nonlocal d
                d += 1
            h()
            b -= 1

    g()
    return d


@calls("1", "0")
def walrus_that_may_not_run(n):
    c = 1
    if n > 0:
        assert n, (c := 5)
        print(c)
        n and (c := 6)
        (c := 7) if not n else 0
        [c := x for x in ()]
        print(c)
    return n


@calls("3")
def comprehension_with_the_name_of_a_local(n):
    x = "kept"
    for _ in range(n):
        if n:
            ys = [x for x in range(n) for _ in "a"]
            zs = {x: 1 for x in ys}
        print(x)
    return x, ys, zs


@calls("1", "0")
def error_in_with_in_else_in_loop(n):
    for a in range(2):
        if n:
            print(a)
        else:
            try:
                try:
                    del a
                    a = a
                finally:
                    a = 5
            except NameError:
                a = 6
    return a


@calls("0", "2")
def jump_out_of_with_in_try(n):
    class Fails:
        def __enter__(self):
            return n

        def __exit__(self, *exc):
            if n:
                raise ValueError(n)

    for x in range(3):
        try:
            with Fails():
                break
        except ValueError:
            print("not broken")
    return x
