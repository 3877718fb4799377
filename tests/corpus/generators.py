"""Generators: early return, send, throw, close, delegation, and ordinary control flow around them."""

from tests.corpus import calls


@calls("5", "0")
def evens(n):
    for i in range(n):
        if i % 2 == 0:
            yield i


@calls("5", "1")
def early_return(n):
    i = 0
    while True:
        if i == n:
            return "done", i
        yield i
        if i == 2:
            return
        i += 1


@calls("[1, 2, 3]", "[]")
def yield_in_branches(xs):
    for x in xs:
        if x == 1:
            y = yield "one"
        elif x == 2:
            y = yield from (10, 20)
        else:
            continue
        print("got", y)
    else:
        yield "else"


@calls("4")
def try_finally_in_generator(n):
    try:
        for i in range(n):
            try:
                if i == 2:
                    continue
                yield i
            finally:
                print("inner", i)
        return "value"
    finally:
        print("outer")


def _averager():
    total, count, average = 0.0, 0, None
    while True:
        try:
            x = yield average
        except ValueError as e:
            print("reset", e)
            total, count, average = 0.0, 0, None
            continue
        if x is None:
            return total
        total += x
        count += 1
        average = total / count


@calls("[1, 2, 3]", "[5]")
def send_and_throw(xs):
    out = []
    g = _averager()
    next(g)
    for x in xs:
        out.append(g.send(x))
        if x == 2:
            out.append(g.throw(ValueError("two")))
    try:
        g.send(None)
    except StopIteration as stop:
        out.append(stop.value)
    return out


@calls("3")
def close_runs_finally(n):
    def numbers():
        try:
            while True:
                yield n
        except GeneratorExit:
            print("closing")
            raise
        finally:
            print("finally")

    g = numbers()
    for x in g:
        n -= 1
        if n == 0:
            g.close()
    return list(g), x


def _walk(tree):
    if isinstance(tree, list):
        for child in tree:
            yield from _walk(child)
        return len(tree)
    yield tree
    return 0


@calls("[1, [2, [3]], []]", "5", "[]")
def delegation(tree):
    size = yield from _walk(tree)
    if size:
        yield "size", size
    return size


@calls("10", "2")
def primes(n):
    def numbers():
        k = 2
        while True:
            yield k
            k += 1

    def sift(prime, source):
        for x in source:
            if x % prime:
                yield x

    source = numbers()
    found = []
    while len(found) < n:
        prime = next(source)
        found.append(prime)
        source = sift(prime, source)
    return found


@calls("[3, 1]", "[]")
def pipeline(xs):
    def doubled():
        for x in xs:
            print("double", x)
            yield 2 * x

    def limited(source):
        for x in source:
            if x > 5:
                return
            yield x

    for y in limited(doubled()):
        print("out", y)
    return [*doubled()], sum(limited(doubled())), max(doubled(), default=None)


@calls("3")
def stop_iteration_becomes_runtime_error(n):
    def bad():
        it = iter([1])
        while n:
            yield next(it)

    out = []
    for x in bad():
        out.append(x)
    return out


@calls("3")
def generator_sees_later_bindings(n):
    x = 0

    def watch():
        while x < n:
            yield x
        yield "end"

    out = []
    for seen in watch():
        out.append(seen)
        x += 1
        if x > 10:
            break
    return out


@calls("3")
def yield_expressions(n):
    x = [(yield 1), (yield 2)]
    y = (yield x) or (yield "or")
    print(f"{(yield 'f')}", n if (yield "if") else -n)
    while (z := (yield "while")):
        y = z
    return x, y


@calls("3")
def generator_expressions_are_lazy(n):
    def loud(x):
        print("loud", x)
        return x

    g = (loud(x) for x in range(n) if loud(x) != 1)
    print("made")
    for x in g:
        if x == 0:
            print("first")
    return next(g, "empty")


@calls("2")
def generator_in_with(n):
    class Log:
        def __enter__(self):
            print("enter")

        def __exit__(self, *exc):
            print("exit", exc[0])
            return exc[0] is KeyError

    def f():
        with Log():
            for i in range(n):
                yield i
            raise KeyError
        yield "swallowed"
        with Log():
            yield "last"

    g = f()
    out = [next(g), next(g), next(g), next(g)]
    g.close()
    return out


@calls("4")
def loop_around_a_yield_and_one_without(n):
    total = 0
    for i in range(n):
        for j in range(i):
            if j == 2:
                break
            total += j
        yield total
        while total > 3:
            total -= 3
    if total:
        total = -total
    yield total


@calls("3")
def two_generators_interleaved(n):
    def count(name):
        for i in range(n):
            yield name, i

    out = []
    for a, b in zip(count("a"), count("b")):
        out += [a, b]
        if a[1] == 1:
            break
    return out


@calls("3")
def generator_methods_and_recursion(n):
    class Tree:
        def __init__(self, depth):
            self.children = [Tree(depth - 1) for _ in range(depth)]
            self.depth = depth

        def __iter__(self):
            yield self.depth
            for child in self.children:
                if child.depth != 1:
                    yield from child

    return list(Tree(n))


@calls("2")
def throw_into_loop(n):
    def f():
        for i in range(5):
            try:
                yield i
            except LookupError:
                if i > 1:
                    break
                print("ignored", i)
        else:
            yield "else"
        yield "end"

    g = f()
    out = [next(g)]
    for _ in range(n):
        out.append(g.throw(KeyError("thrown")))
    out.extend(g)
    return out
