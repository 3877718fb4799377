# ruff: noqa: F821
"""Names: globals, unbound reads, shadowed builtins, names that look generated."""

from tests.corpus import calls

counter = 0
table = {}
late = "global"


@calls("3", "0")
def global_in_loop(n):
    global counter
    counter = 0
    for i in range(n):
        counter += i
        if counter > 2:
            counter *= 10
    return counter


@calls("True", "False")
def global_declared_in_branch(flag):
    if flag:
        global counter
        counter = "set"
    else:
        counter = "also global"
    return counter, globals()["counter"]


@calls("3")
def global_is_loop_target(n):
    global counter
    for counter in range(n):
        pass
    else:
        counter += 100
    return counter


def _bump():
    global counter
    counter += 1


@calls("5")
def callee_changes_global(n):
    global counter
    counter = 0
    while counter < n:
        _bump()
        if counter == 3:
            counter = 10
    return counter


@calls("2")
def callee_changes_global_that_is_only_read(n):
    globals()["counter"] = 0
    rounds = 0
    while counter < n:
        _bump()
        rounds += 1
    return counter, rounds


temporary = 0


@calls("True", "False")
def global_deleted_in_branch(flag):
    global temporary
    temporary = 1
    if flag:
        del temporary
    return temporary


@calls("3")
def global_from_inner_function(n):
    def f():
        global counter
        for counter in range(n):
            if counter == 1:
                break
        return counter

    counter = "local"
    return f(), counter, globals()["counter"]


@calls("True", "False")
def local_shadows_global(flag):
    if flag:
        late = "local"
    return late


@calls("1")
def unbound_before_loop(n):
    while n:
        n -= x
        x = 1
    return n


@calls("1", "0")
def unbound_augmented(n):
    if n:
        total += 1
    else:
        total = 0
    return total


@calls("0", "1")
def unbound_del(n):
    if n:
        x = 1
    del x
    return "deleted"


@calls("1", "2")
def unbound_in_nested_branch(n):
    for i in range(n):
        if i:
            for j in range(i):
                y = x
        else:
            z = 1
            if z > 1:
                x = 1
    return i


@calls("0", "1")
def unbound_caught(n):
    try:
        if n:
            x = 1
        y = x
    except UnboundLocalError as e:
        return "caught", e.name if hasattr(e, "name") else None, str(e)
    return y


@calls("0", "1")
def unknown_global(n):
    if n:
        return no_such_name
    return n


@calls("[1, 2, 3]", "[]")
def builtin_shadowed_by_local(xs):
    len = 0
    for x in xs:
        len += x
    range = [len]
    for print in range:
        len = print
    return len, range


@calls("[1, 2]")
def builtin_shadowed_by_argument_of_inner(xs):
    def f(len, range=lambda n: "abc"):
        for x in range(len):
            if len:
                return x, len

    return f(xs), len(xs), list(range(len(xs)))


@calls("3")
def builtin_shadowed_by_callable(n):
    def range(k):
        print("own range", k)
        return [k]

    def len(xs):
        return "own len"

    enumerate = zip
    for i in range(n):
        print(i, len([]))
    for pair in enumerate("ab", "cd"):
        print(pair)
    abs = lambda x: "own abs"
    return abs(-1)


def sum(xs):
    return "the module's own sum"


@calls("[1, 2]")
def builtin_shadowed_by_module(xs):
    if xs:
        return sum(xs)
    return 0


@calls("True", "False")
def builtin_or_local(flag):
    if flag:
        max = lambda *a: "own"
    return max(1, 2)


@calls("3", "0")
def underscores(n):
    _ = 0
    for _ in range(n):
        for __ in range(_):
            _ += __
    return _


@calls("3")
def unicode_names(größe):
    é = 0
    for ñ in range(größe):
        é += ñ
        if ñ:
            ﬁ = é  # normalised to `fi`
    return é, fi


@calls("3")
def names_of_functions(n):
    def inner():
        for i in range(1):
            f = lambda: i
            if n:
                def deeper():
                    return i

                class Local:
                    def method(self):
                        for _ in range(1):
                            return lambda: i
        return f, deeper, Local, Local.method, Local().method()

    made = inner()
    return [(f.__name__, f.__qualname__, f.__module__ == inner.__module__) for f in (inner, *made)]


@calls("3")
def comprehension_does_not_leak(n):
    i = "outer"
    xs = [i for i in range(n)]
    ys = {i: j for i in range(n) for j in [i]}
    if xs:
        i += "!"
    return xs, ys, i


@calls("3")
def conditional_import_of_same_name(n):
    for i in range(n):
        if i == 0:
            import json as codec
        elif i == 1:
            import pickle as codec
        name = codec.__name__
        print(name)
    return codec.__name__


@calls("1", "0")
def deleted_global_lookup(n):
    table.clear()
    if n:
        table["n"] = n
    del globals()["table"]
    try:
        return table
    except NameError as e:
        return str(e)
    finally:
        globals()["table"] = {}


@calls("{'a': 1}", "{}")
def name_error_suggestions(d):
    for k in d:
        value = d[k]
    return valu


@calls("4")
def argument_rebound_on_one_path(n, m=None):
    if m is None:
        m = n
    for n in range(m):
        if n == 2:
            m = "rebound"
            del n
            break
    else:
        m = 0
    return m


@calls("2", "3")
def same_name_many_roles(x):
    def x_(x):
        x = [x for x in range(x)]
        return x

    for x in x_(x):
        x = (lambda x: x + 1)(x)
        if x:
            class x_class:
                x = x
    return x, x_class.x
