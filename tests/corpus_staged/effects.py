"""Builtins and modules that do something: under other names, with starred arguments, imported in the function."""

import builtins
import sys

import numpy as np

from tests.corpus_staged import calls


class Thing:
    pass


@calls("1", "2")
def print_with_keywords_in_a_dict(x):
    options = {"sep": "-"}
    print(x, 2, **options)
    print(*[1, x], **{"end": "."})


@calls("1", "2")
def print_by_other_names(x, say=print):
    show = print
    show(1)
    say(x)
    builtins.print(x, "b")
    [print][0]("c")


@calls("1, print", "2, print")
def print_as_an_argument(x, say):
    say("hello")
    say(x)
    list(map(say, [x, 1]))


@calls("1", "2")
def print_through_a_function(x):
    def log(*args, **kwargs):
        print(*args, **kwargs)

    log(1)
    for i in range(12):
        log(i * x, i, end=";")


@calls("1", "-1")
def print_to_a_stream(x):
    sys.stdout.write("a")
    print("b", file=sys.stdout)
    if x > 0:
        print("c", x, file=sys.stdout)


@calls("1", "-1")
def setattr_in_a_branch(x):
    thing = Thing()
    thing.a = 1
    if x > 0:
        setattr(thing, "a", x)
    else:
        setattr(thing, "a", -1)
    return thing.a


@calls("1", "2")
def reads_a_file(x):
    return len(open(__file__).read()) > 0, x


@calls("1.5", "2.0")
def imports_in_the_function(x):
    import os.path
    from math import sqrt

    import numpy

    zeros = numpy.zeros(2)
    zeros[0] = x
    return zeros, sqrt(x), os.path.join("a", "b")


@calls("1")
def imports_what_there_is_not(x):
    import no_such_module

    return no_such_module


@calls("1", "2", "2.0")
def keys_of_numbers(n):
    return {n: 1}, {n, 2}


@calls("np.array([1, 2])", "[3, 4]", "[1.5, 2.0]")
def keys_of_elements(x):
    nested = {}
    for v in x:
        nested[v] = {v: 1}
    return nested, {x[0]: 1, "b": 2}, len({x[0], x[1]}), frozenset({x[0]}), np.max(x) in {x[1]}
