# ruff: noqa: F823, I001
"""`if`, `elif`, `else`: what is bound, printed and returned on each path."""

from tests.corpus import calls


@calls("-3", "0", "5", "2.5", "'x'")
def sign(x):
    if x > 0:
        return 1
    elif x < 0:
        return -1
    else:
        return 0


@calls("1", "0")
def no_else(x):
    if x:
        x = x + 1
    return x


@calls("True", "False", "[]", "[0]", "None")
def bound_on_one_path(flag):
    if flag:
        y = 1
    return y


@calls("True, True", "True, False", "False, True", "False, False")
def bound_on_some_paths(a, b):
    if a:
        x = 1
        if b:
            y = 2
    else:
        if b:
            x = 3
        y = 4
    return x, y


@calls("True", "False")
def bound_on_one_path_but_unused(flag):
    if flag:
        y = 1
        print(y)
    return flag


@calls("True", "False")
def deleted_on_one_path(flag):
    x = 1
    if flag:
        del x
    return x


@calls("True", "False")
def deleted_and_bound_again(flag):
    x = [1]
    if flag:
        del x
        x = [2]
    else:
        x.append(3)
    return x


@calls("1", "2", "3")
def deleted_twice(n):
    a = b = 1
    if n == 1:
        del a, b
    elif n == 2:
        del a
        del a
    return a, b


@calls("1, 2", "2, 1", "1, 1")
def swap(a, b):
    if a > b:
        a, b = b, a
    return a, b


@calls("1, 2", "2.0, 1", "1, 1")
def both_sides_bind_different_types(a, b):
    if a < b:
        r = a
    elif a > b:
        r = (a, b)
    else:
        r = {a: b}
    return r


@calls("1", "-1", "0")
def nested(x):
    if x:
        if x > 0:
            y = "positive"
        else:
            y = "negative"
        y += "!"
    else:
        y = "zero"
    return y


@calls("0", "1", "2", "3", "4")
def elif_chain_with_bindings(n):
    a = b = c = 0
    if n == 0:
        a = 1
    elif n == 1:
        b = 1
        a = n
    elif n == 2:
        a, c = n, n
    elif n == 3:
        pass
    else:
        return None
    return a, b, c


def _noisy(value, name):
    print("test", name)
    return value


@calls("True, True", "True, False", "False, True", "False, False")
def tests_with_side_effects(a, b):
    if _noisy(a, "a"):
        print("first")
    elif _noisy(b, "b"):
        print("second")
    else:
        print("neither")


@calls("3", "0")
def test_changes_what_the_branch_sees(n):
    xs = [n]
    if xs.pop():
        xs.append("popped")
    else:
        xs = None
    return xs


class Loud:
    """Says when it is asked for its truth."""

    def __init__(self, value):
        self.value = value

    def __bool__(self):
        print("bool", self.value)
        return self.value


class Broken:
    """Has no truth."""

    def __bool__(self):
        raise ValueError("no truth in me")


class Odd:
    """Answers something that is no bool."""

    def __bool__(self):
        return "yes"


class Long:
    def __init__(self, length):
        self.length = length

    def __len__(self):
        print("len", self.length)
        return self.length


@calls("Loud(True)", "Loud(False)", "Broken()", "Odd()", "Long(0)", "Long(2)", "Long(-1)")
def truth_is_asked_once(x):
    if x:
        r = "yes"
    else:
        r = "no"
    return r


@calls("Loud(True)", "Loud(False)", "Broken()")
def not_asks_once(x):
    if not x:
        return "no"
    return "yes"


@calls("Loud(True), Loud(False)", "Loud(False), Loud(True)", "Loud(True), Broken()", "Loud(False), Broken()")
def and_or_ask_in_order(a, b):
    if a and b:
        print("and")
    if a or b:
        print("or")
    if not (a and not b):
        print("neither")
    return [1 if a else 2 if b else 3]


@calls("5", "-5")
def branch_is_only_a_docstring(x):
    if x > 0:
        """Nothing to do."""
    else:
        x = -x
    return x


@calls("1", "0")
def pass_and_ellipsis(x):
    if x:
        pass
    else:
        ...
    if x: y = 1
    else: y = 2
    return y


@calls("1", "0")
def constant_conditions(x):
    if 1:
        x += 1
    if 0:
        x += 10
    if None:
        never = 1
    else:
        x += 100
    if True and x:
        x += 1000
    return x


@calls("1", "0")
def unreachable_after_return(x):
    if x:
        return "one"
        x = 2
        print("never")
    return "other"
    y = 1
    return y


@calls("1", "0")
def unreachable_makes_local(x):
    if x:
        return len
    return 0
    len = 3


@calls("[1]", "[]", "None")
def walrus_in_test(xs):
    if (n := xs and len(xs)):
        return "some", n
    return "none", n


@calls("{'a': 1}, 'a'", "{}, 'a'", "{'b': 2}, 'a'")
def fills_dict(d, key):
    if key not in d:
        d[key] = []
    else:
        d[key] = [d[key]]
    return d


@calls("[1, 2, 3]", "[3]", "[]")
def mutates_then_raises(xs):
    if xs:
        xs.append(xs[0])
        if len(xs) > 2:
            raise KeyError(xs[1])
        xs.append("kept")
    return xs.pop()


@calls("0", "1", "2")
def raise_in_branch(n):
    if n == 0:
        raise ValueError
    elif n == 1:
        raise ValueError("one", n)
    return n


@calls("1, 'a'", "'b', 'a'", "None, None")
def comparison_fails(a, b):
    if a < b:
        return a
    return b


@calls("True", "False")
def lambda_sees_what_is_bound_later(flag):
    f = lambda: x
    if flag:
        x = "then"
    else:
        x = "else"
    g = f()
    x = "later"
    return g, f()


@calls("True", "False")
def lambda_may_find_nothing(flag):
    f = lambda: x
    if flag:
        x = 1
    return f()


@calls("'a', 1", "'b', 1", "'c', None")
def dispatch(kind, value):
    if kind == "a":
        def go():
            return value + 1
    elif kind == "b":
        def go():
            return value - 1
    else:
        go = None
    return go and go()


@calls("3", "0")
def imports_in_branches(n):
    if n:
        import math as m
        from operator import add, mul as times
    else:
        import cmath as m
        from operator import sub as add, truediv as times
    return m.sqrt(n).__class__.__name__, add(n, 1), times(n, 2)


@calls("1", "0")
def class_in_branch(n):
    if n:
        class Thing:
            size = n
    else:
        class Thing:
            size = -1

            def grow(self):
                return self.size + n
    return Thing.size, sorted(k for k in vars(Thing) if not k.startswith("_"))


@calls("1", "0", "-1")
def annotated(n):
    x: int
    if n > 0:
        x: float = 1.5
    elif n == 0:
        x = 2
    return x


@calls("5", "15", "25")
def guards(n):
    if n < 10:
        return "small"
    n -= 10
    if n < 10:
        print("medium")
        return
    n -= 10
    if n < 10:
        return n, "large"
