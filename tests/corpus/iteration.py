"""What loops iterate over: odd iterators, containers that change meanwhile, builtins, generators."""

from tests.corpus import calls


@calls("[1, 2, 3, 4, 5, 6]")
def removes_while_iterating(xs):
    for x in xs:
        if x % 2 == 0:
            xs.remove(x)
        print(x)
    return xs


@calls("[1, 2, 3]")
def appends_while_iterating(xs):
    for x in xs:
        if len(xs) < 8:
            xs.append(x * 10)
    return xs


@calls("{'a': 1, 'b': 2}", "{}", "{'a': 1}")
def grows_dict_while_iterating(d):
    for k in d:
        d[k + "!"] = 1
    return d


@calls("{1, 2}", "set()")
def grows_set_while_iterating(s):
    for x in s:
        s.add(x + 10)
    return len(s)


@calls("{'a': 1, 'b': 2}")
def deletes_from_dict_by_list(d):
    for k in list(d):
        del d[k]
        d[k.upper()] = k
    return d


@calls("[1, 2, 3]")
def rebinds_iterable(xs):
    for x in xs:
        xs = [x, *xs]
    return xs


@calls("3")
def iterable_evaluated_once(n):
    def numbers():
        print("evaluated")
        return range(n)

    for i in numbers():
        n = 100
    return i, n


@calls("3", "-3", "0")
def ranges(n):
    out = []
    for i in range(n, 0, -1):
        out.append(i)
    for i in range(2, 11, 3):
        out.append(i)
    for i in range(n, n + 2):
        out.append(i)
    return out


@calls("0", "1.5", "'a'", "None")
def bad_range(n):
    for i in range(0, 10, n):
        return i


@calls("5", "None", "object")
def not_iterable(x):
    for i in x:
        pass


class Countdown:
    """An iterator with side effects that is not its own iterable."""

    def __init__(self, n, fail_at=-1):
        self.n, self.fail_at = n, fail_at

    def __iter__(self):
        print("iter")
        return self

    def __next__(self):
        print("next", self.n)
        if self.n == self.fail_at:
            raise RuntimeError(f"failed at {self.n}")
        if self.n <= 0:
            raise StopIteration("done", self.n)
        self.n -= 1
        return self.n


class Sequence:
    def __getitem__(self, i):
        print("getitem", i)
        if i == 3:
            raise IndexError("enough")
        return i


class BadIter:
    def __iter__(self):
        return 5


class NoNext:
    def __iter__(self):
        return NoNext()


@calls("Countdown(3)", "Countdown(3, 1)", "Countdown(0)", "Sequence()", "BadIter()", "NoNext()", "iter('ab')")
def odd_iterators(xs):
    for x in xs:
        print("body", x)
    else:
        print("else")
    return "end"


@calls("Countdown(0)", "Countdown(-1)")
def asked_once_for_an_iterator(xs):
    for x in xs:
        return x
    return "none"


@calls("Countdown(4)")
def iterator_shared_with_body(it):
    out = []
    for x in it:
        out.append((x, next(it, "none")))
    return out


@calls("[1, 2, 3, 4]", "[1]")
def stop_iteration_in_body(xs):
    it = iter(xs)
    for x in it:
        y = next(it)
        print(x, y)
    next(it)
    return "unreachable"


@calls("'abc'", "''", "b'ab'")
def over_strings(s):
    out = ""
    for c in s:
        out = str(c) + out
    return out


@calls("{'a': 1, 'b': [2]}")
def over_dict_views(d):
    for k, v in d.items():
        d[k] = [v]
    for v in d.values():
        v.append(0)
    for k in d.keys():
        print(k)
    return d


@calls("[3, 1, 2]", "[]")
def over_builtins(xs):
    out = []
    for i, x in enumerate(xs, start=10):
        out.append((i, x))
    for a, b, c in zip(xs, "xyz", range(2)):
        out.append((a, b, c))
    for x in reversed(xs):
        out.append(x)
    for x in sorted(xs, key=lambda x: -x):
        out.append(x)
    for x in map(lambda x: x + 1, filter(None, xs)):
        out.append(x)
    return out


@calls("[1, 2], [3]", "[1], [2, 3]")
def zip_strict(a, b):
    for x, y in zip(a, b, strict=True):
        print(x, y)


@calls("[1, 2]")
def iterates_over_generator_that_prints(xs):
    def produce():
        try:
            for x in xs:
                print("make", x)
                yield x
        finally:
            print("closed")

    for x in produce():
        print("use", x)
    for x in produce():
        break
    return x
