# ruff: noqa: E714
"""Order of evaluation, short circuits, chained comparisons, conditional expressions, walrus, f-strings, lambdas."""

from tests.corpus import calls


def _say(value, name=None):
    print("say", value if name is None else name)
    return value


@calls("1, 2, 3", "3, 2, 1", "1, 1, 1", "1, 'a', 2")
def chained(a, b, c):
    return a < b < c, a <= b <= c, a == b == c, a < b > c, a != b != c


@calls("1, 2, 3", "2, 1, 3", "1, 3, 2", "None, 1, 2")
def chain_evaluates_each_once(a, b, c):
    if _say(a) < _say(b) < _say(c) != _say(4):
        return "rising"
    return "not"


@calls("[1, 2], 1", "[[1], 1], 1", "[], 1", "None, 1")
def chain_of_in(xs, x):
    return x in xs == [1, 2], x in xs != xs, [x] not in xs is not None


@calls("1, 0", "0, 1", "0, 0", "'', []", "[], {}")
def and_or_return_operands(a, b):
    return a and b, a or b, not a, not (a or b), a and b or "neither", (a or b) and "some"


@calls("0, 1, 2", "1, 0, 2", "1, 2, 0", "0, 0, 0")
def short_circuit(a, b, c):
    r = _say(a) and _say(b) or _say(c)
    s = _say(a) or (_say(b) and _say(c))
    return r, s


@calls("None", "[]", "[1]", "[-1]")
def guarded_subscript(xs):
    return xs is not None and len(xs) > 0 and xs[0] > 0


@calls("1", "0", "[]")
def conditional_expressions(x):
    y = _say("then") if x else _say("else")
    z = 1 if x else 2 if y == "then" else 3
    return y, z, (x if x else None) or "none"


@calls("True", "False")
def conditional_targets(flag):
    a, b = [0], [0]
    (a if flag else b)[0] += 1
    (a if flag else b).append(2)
    return a, b


@calls("True", "False")
def conditional_callee(flag):
    return (max if flag else min)(3, 1, 2), (lambda: 1)() if flag else (lambda: 2)()


class Answers:
    """A comparison that answers no bool, or prints, or fails."""

    def __init__(self, answer):
        self.answer = answer

    def __lt__(self, other):
        print("lt")
        return self.answer

    def __eq__(self, other):
        print("eq")
        return [self.answer]

    __hash__ = None

    def __contains__(self, item):
        print("contains", item)
        return self.answer


class Fails:
    def __lt__(self, other):
        return NotImplemented

    def __contains__(self, item):
        raise LookupError(item)


@calls("Answers([1])", "Answers([])", "Answers('')", "Fails()")
def comparison_without_bool(x):
    a = x < 5
    print(a)
    b = x < 5 < 6
    print(b)
    return (x == 1), x != 1 if a else None


@calls("Answers([1])", "Answers('')", "Fails()", "3", "'abc'", "iter('abc')", "{'a': 1}")
def membership(x):
    a = "a" in x
    b = "a" not in x
    return a, b, ("b" in x) is True


class OldStyle:
    """Membership through `__getitem__` alone."""

    def __getitem__(self, i):
        print("item", i)
        if i > 2:
            raise IndexError
        return i * 10


class NotAMember:
    __contains__ = None

    def __iter__(self):
        return iter([1])


@calls("OldStyle(), 10", "OldStyle(), 15", "NotAMember(), 1", "[float('nan')], float('nan')")
def membership_by_other_ways(x, y):
    if y in x:
        return "in"
    return "out"


@calls("[3, 1, 2]", "[]")
def walrus_in_while(xs):
    total = 0
    while (n := len(xs)) > 0 and (x := xs.pop()) != 3:
        total += n * x
    return total, n, xs


@calls("[5, 6, 7, 8], 3", "[5, 6], 0", "{}, 4")
def walrus_in_targets(xs, n):
    k = m = 5
    for i in range(n):
        xs[(k := i) % 2] = k
        m += k
    if n > 1:
        xs[(m := n) % 2]: int = m
    while n > 0:
        n -= 1
        xs[(k := n) % 2], j = {n: k, (k := k + 1): 3, **{7: k}}, k
        xs[(j := 1)] = xs[0], j
    return xs


@calls("'a,b;c'", "''")
def walrus_everywhere(text):
    pieces = [p for part in text.split(",") if (p := part.strip()) and (last := p)]
    print(y := len(pieces), (z := y + 1))
    if (q := y) or (w := z):
        return pieces, last, q
    return w


@calls("1", "0")
def walrus_in_short_circuit(x):
    if x and (y := x + 1):
        print(y)
    return y


@calls("3, 'it''s'", "-1.5, ''")
def f_strings(n, s):
    w = 10
    return [
        f"{n}", f"{n!r:>{w}}", f"{s!r}", f"{n + 1 if n > 0 else -n:{w}.{2}f}", f'{"a" if s else "b"}',
        f"{{}}{s}{{{n}}}", f"{n=}", f"{ {'k': n}['k'] }", f"{(lambda x: x + n)(1)}",
        f"{','.join(f'{i}' for i in range(3) if i != n)}", rf"\d{n}", f"{s:>5}" f"{n}" "plain",
    ]


@calls("3")
def evaluation_order(n):
    d = {}
    d[_say("key")] = _say("value")
    d[_say("k1")], d[_say("k2")] = _say("v1"), _say("v2")
    {_say(1): _say(2), **_say({3: 4})}
    print(_say("a"), *_say([1, 2]), sep=_say("-"), **_say({"end": "!\n"}))
    (_say(d))[_say("key")] += _say("more")
    return _say(n) + _say(n) * _say(2), [_say(n), *_say([1])], d


@calls("[1, 2]", "[]")
def augmented_evaluates_target_once(xs):
    xs.append(0)

    def where():
        print("where")
        return xs

    where()[_say(-1)] += 5
    where()[0:1] *= 2
    return xs


@calls("(1, [2])", "([1], 2)")
def augmented_in_tuple(t):
    if t:
        t[1] += [3]
    return t


@calls("3", "0")
def lambdas(n):
    add = lambda x, y=n, *rest, k=1, **more: x + y + k + len(rest) + len(more)
    compose = lambda f, g: lambda x: f(g(x))
    fact = lambda k: 1 if k <= 0 else k * fact(k - 1)
    return add(1), add(1, 2, 3, k=4, z=5), compose(abs, lambda x: x - 10)(n), fact(n)


@calls("5", "0")
def starred(n):
    xs = list(range(n))
    first, *middle, last = [*xs, *"ab", n]
    (a, *b), c = (1, 2, 3), 4
    *d, = xs
    return first, middle, last, a, b, c, d, {*xs, n}, {**dict(a=1), "n": n}, (*xs, *xs)


@calls("[]", "[1]", "[1, 2]", "[1, 2, 3]", "5")
def unpacking_fails(xs):
    if xs != []:
        a, b = xs
    else:
        a, b, *_ = xs
    return b, a


@calls("10", "-7", "0", "2.5")
def operators(x):
    a = [x + 2, x - 2, x * 2, x / 2, x // 2, x % 3, x ** 2, -x, +x, divmod(x, 4)]
    if isinstance(x, int):
        a += [x << 2, x >> 1, x & 6, x | 1, x ^ 3, ~x, ~-x, - -x, not x]
    return a, 2 ** -x if x < 3 else None, (x, ), ((x)), -x ** 2, (-x) ** 2


@calls("0", "1")
def is_and_types(x):
    return x is None, x is not None, (x == 0) is True, not x is None, type(not x).__name__


@calls("[1, 2, 3, 4, 5]", "'hello'", "()")
def slices(xs):
    n = len(xs)
    return xs[1:], xs[:-1], xs[::2], xs[::-1], xs[n:], xs[-2:n], xs[slice(None, None)], xs[n // 2:n if n else None]


@calls("[1, 2, 3, 4, 5]", "[1]")
def slice_assignment(xs):
    xs[1:3] = "abc"
    del xs[0]
    if xs:
        xs[::2] = [0] * len(xs[::2])
        xs[len(xs):] = [9]
    return xs
