# ruff: noqa: F821
"""Captured variables: late binding, cells shared and rebound, `nonlocal`, callbacks that change what a loop carries."""

from tests.corpus import calls


@calls("3", "0")
def lambdas_capture_loop_variable(n):
    fs = []
    for i in range(n):
        fs.append(lambda: i)
    return [f() for f in fs]


@calls("3")
def lambdas_capture_by_default(n):
    fs = []
    for i in range(n):
        fs.append(lambda i=i: i)
    i = 100
    return [f() for f in fs]


@calls("3")
def captured_then_rebound_after_loop(n):
    fs = []
    for i in range(n):
        def f():
            return i
        fs.append(f)
    i = "after"
    return [f() for f in fs]


@calls("3", "0")
def captured_local_of_body(n):
    fs = []
    for i in range(n):
        square = i * i
        fs.append(lambda: square)
    return [f() for f in fs]


@calls("3")
def captured_in_while(n):
    fs = []
    while n:
        m = n * 10
        fs.append(lambda: (n, m))
        n -= 1
    return [f() for f in fs]


@calls("[3, 4]")
def captured_target_mutated_by_closure(xs):
    out = []
    for x in xs:
        def bump():
            nonlocal x
            x += 1
            return x
        out.append((bump(), bump(), x))
    return out, bump(), x


@calls("3", "0")
def counter(n):
    count = 0

    def step(by=1):
        nonlocal count
        count += by
        return count

    for i in range(n):
        step(i)
        if count > 2:
            step(-1)
    return count, step()


@calls("5", "0")
def callee_changes_loop_test(n):
    def shrink():
        nonlocal n
        n -= 2

    rounds = 0
    while n > 0:
        shrink()
        rounds += 1
    return n, rounds


@calls("True", "False")
def callee_deletes_variable(flag):
    x = 1

    def drop():
        nonlocal x
        del x

    if flag:
        drop()
    try:
        return x
    except NameError as e:
        return type(e).__name__, str(e)


@calls("True", "False")
def callee_binds_variable(flag):
    def bind():
        nonlocal x
        x = "bound"

    if flag:
        bind()
    return x
    x = None


@calls("2")
def two_levels_of_nonlocal(n):
    a = 0

    def outer():
        nonlocal a
        b = 0

        def inner():
            nonlocal a, b
            for i in range(n):
                a += 1
                if a > 2:
                    b += 10

        inner()
        inner()
        return b

    return outer(), a


@calls("3")
def closure_made_in_branch(n):
    def make(kind):
        state = 0
        if kind:
            def f():
                nonlocal state
                state += 1
                return state
        else:
            state = 10

            def f():
                return state
            state += 1
        return f

    up, fixed = make(True), make(False)
    return [up() for _ in range(n)], fixed(), up.__name__, fixed.__name__


@calls("4")
def accumulators(n):
    def accumulator():
        total = 0

        def add(x):
            nonlocal total
            if x % 2:
                total += x
            else:
                total -= x
            return total

        return add

    a, b = accumulator(), accumulator()
    return [a(i) for i in range(n)], [b(10 * i) for i in range(n)], a(0)


@calls("3")
def closure_called_before_binding(n):
    def f():
        return y

    for i in range(n):
        if i == 2:
            y = i
        try:
            print(f())
        except NameError as e:
            print(type(e).__name__, e)
    return f()


@calls("6", "0")
def recursive_inner_function(n):
    def fib(k):
        if k < 2:
            return k
        return fib(k - 1) + fib(k - 2)

    return fib(n), fib.__name__


@calls("7")
def mutual_recursion(n):
    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        if k == 0:
            return False
        return even(k - 1)

    return even(n), odd(n)


@calls("[3, 1, 2]")
def key_functions(xs):
    asked = []

    def key(x):
        asked.append(x)
        if x == 2:
            return -1
        return x

    xs.sort(key=key)
    return xs, asked, max(xs, key=lambda x: -x), list(map(lambda x, y: x * y, xs, asked))


@calls("3")
def defaults_evaluated_once(n):
    fs = []
    for i in range(n):
        def f(x, acc=[], *, k=i):
            if x:
                acc.append(x + k)
            return acc
        fs.append(f)
    return [f(1) for f in fs], fs[0](0), fs[1](5), f.__defaults__, f.__kwdefaults__


@calls("1, 2", "1, b=2", "a=1, b=2, c=3, z=4", "1, 2, 3, 4, 5", "1", "", "1, a=2")
def signature(a, b, c=10, *rest, k=20, **more):
    for x in rest:
        c += x
    if more:
        k = sorted(more)
    return a, b, c, rest, k, more


@calls("1", "1, 2", "1, c=3", "a=1", "1, 2, 3")
def positional_only(a, b=5, /, *, c=6):
    while a < b:
        a += c
    return a, b, c


@calls("1, *[2, 3], **{'x': 4}", "*'ab'", "**{'a': 1}")
def argument_unpacking(*args, **kwargs):
    def g(a, *rest, x=None, **more):
        return a, rest, x, more

    if args:
        return g(*args, **kwargs), g(0, *args, *args)
    return g(**kwargs, x=1)


@calls("3", "0")
def rebinds_own_name(n):
    def f():
        nonlocal f
        if n:
            f = lambda: "second"
        return "first"

    return f(), f()


@calls("2")
def swaps_captured_functions(n):
    f = lambda x: x + 1
    g = lambda x: f(x) * 10
    for _ in range(n):
        f, g = g, f
    return f(1) if n < 1 else "deep", callable(g)


@calls("[1, 2, 3]")
def argument_captured_and_rebound(xs):
    get = lambda: xs
    for x in list(xs):
        xs = xs + [x]
        if len(get()) > 5:
            break
    return get() is xs, len(get())


@calls("3")
def star_arguments_captured(n):
    def outer(*args, **kwargs):
        def inner():
            nonlocal args
            while len(args) < n:
                args += (len(args),)
            return args, kwargs
        return inner

    return outer(9, k=1)(), outer()()


@calls("3", "0")
def generator_expression_captures_late(n):
    g = (i * n for i in range(3))
    n += 10
    if n > 12:
        n = -1
    return list(g)


@calls("5")
def callback_sees_partial_state(n):
    def look():
        return a, b

    a = b = 0
    seen = []
    for i in range(n):
        a += 1
        seen.append(look())
        if i % 2:
            b = a
            seen.append(look())
    return seen


@calls("3")
def closure_over_loop_inside_closure(n):
    def outer():
        fs = []
        for i in range(n):
            def middle():
                gs = []
                for j in range(i + 1):
                    gs.append(lambda: (i, j))
                return [g() for g in gs]
            fs.append(middle)
        return [f() for f in fs]

    return outer()


@calls("2", "0")
def cell_emptied_and_filled_in_loop(n):
    out = []
    x = "start"
    look = lambda: x
    for i in range(n):
        del x
        try:
            look()
        except NameError as e:
            out.append(str(e))
        x = i
        out.append(look())
    return out, look()


@calls("3", "0")
def class_closes_over_loop_variable(n):
    made = []
    for i in range(n):
        class Made:
            tag = i

            def late(self):
                return i
        made.append(Made())
    return [(m.tag, m.late()) for m in made]
