"""Assignments in expressions: in conditions that jumps may skip, in arguments, subscripts, texts and patterns."""

import numpy as np

from tests.corpus_staged import calls


@calls("20", "3", "0")
def left_by_break(n):
    i = 0
    while (b := i * 2) < n:
        i += 1
        if b > 5:
            break
    return i, b


@calls("5", "0.5")
def newton(n):
    x = float(n)
    while abs(d := (x * x - 2) / (2 * x)) > 1e-9:
        x -= d
        if x > 1e6:
            break
    return x


@calls("20", "3", "0")
def left_by_return(n):
    i = 0
    while (b := i * 2) < n:
        i += 1
        if b > 5:
            return "early", b
    return i, b


@calls("20", "3", "0")
def with_else(n):
    i = 0
    while (b := i * 2) < n:
        i += 1
        if b > 5:
            break
    else:
        b = -b
    return i, b


@calls("20", "3", "0")
def two_in_one_condition(n):
    i = s = 0
    while (b := i * 2) < n and (c := b + s) < 100:
        i += 1
        if b % 4 == 0:
            continue
        s += c
        if s > 50:
            break
    return i, b, s


@calls("20", "3", "0")
def in_elif(n):
    s = 0
    for i in range(n):
        if (a := i * n) > 50 and (b := a % 7) > 2:
            s += b
        elif (c := a // 3) > 4:
            s -= c
            if (d := s + c) < -20:
                break
            s += d
        else:
            s += a
            continue
        s += a
    return s, a if n else None


@calls("20", "3", "0")
def in_conditional_expressions(n):
    s = 0
    for i in range(n):
        x = (y := i * 2) if (z := i % 3) > 1 else (y := -i)
        s += x * y + z
        assert (w := s) > -1000, w
    return s


@calls("20", "3", "0")
def in_comprehensions(n):
    squares = [last := x * n for x in range(n)]
    t = 0
    while (found := [q for v in range(3) if (q := v + t) % 2 == 0]) and t < n:
        t += len(found) + 1
        if q > 9:
            break
    return squares, t, found, q


@calls("20", "3", "0")
def in_subscripts(n):
    x = np.arange(10.0)
    i = 0
    while x[(k := i % 10)] < n:
        x[(m := (k + 1) % 10)] += k
        i += 1
        if i > n:
            break
    return x, i, k, m if i else None


@calls("20", "3", "0")
def in_formatted_text(n):
    i = 0
    while len(f"{(b := i * 3)}") < 3:
        i += 1
        if b > n:
            break
    return i, b


@calls("20", "3", "0")
def in_guards_of_patterns(n):
    s = 0
    for i in range(n):
        match i % 3:
            case 0 if (g := s + i) > 10:
                s += g
            case 1 if (h := s - i) < 5:
                s += h + 1
            case _:
                s += 2
                if s > 40:
                    break
    return s


def combined(a, *, b=1):
    return a + b


@calls("20", "3", "0")
def in_arguments(n):
    i = s = 0
    while combined((c := i + 1), b=(d := c * 2)) < n:
        i = c
        s += d
        if s > 30:
            return s, c, d
    return s, c, d


@calls("20", "3", "0")
def bound_by_some_iterations(n):
    i = 0
    while i < n and (v := i * i) < 30:
        i += 1
        if v == 9:
            break
    return i, v


@calls("20", "3", "0")
def nested_loops(n):
    t = 0
    while (a := t + 1) < n:
        while (b := a + t) < n:
            t += 1
            if b % 5 == 4:
                break
            if b > 15:
                return t, a, b
        else:
            t += 2
            continue
        t += 1
    return t, a


@calls("20", "3", "0")
def chained_comparison(n):
    i = 0
    while 0 <= (a := i * 2) < (b := n - i) and a != 8:
        i += 1
        if b == 14:
            break
    return i, a, b


@calls("20", "3", "0")
def negated(n):
    i = 0
    while not (d := i * i > n):
        i += 1
        if i > 3:
            break
    return i, d


@calls("np.arange(5.0)", "np.zeros(3)")
def of_arrays(x):
    i = 0
    while (s := (y := x * 0.5).sum()) > 0.3:
        x = y
        i += 1
        if s < 1:
            break
    return x, y, s, i


@calls("20", "3", "0")
def read_by_an_inner_function(n):
    b = 0

    def get():
        return b

    i = 0
    while (b := i * 2) < n:
        i += get() + 1
        if get() > 5:
            break
    return i, b, get()


@calls("[1, 2, 3, 4]", "[]")
def of_a_shrinking_list(xs):
    out = []
    while xs and (x := xs.pop()) > 1:
        out.append(x)
        if x == 2:
            break
    return out, xs


@calls("'abc'", "''")
def of_text(s):
    out, i = "", 0
    while c := s[i : i + 1]:
        i += 1
        out += c
        if i > 1:
            break
    return out, c
