"""`match` over numbers, strings, sequences, mappings and classes."""

from dataclasses import dataclass
from enum import Enum

from tests.corpus import calls


class Shade(Enum):
    DARK = 0
    LIGHT = 1


@dataclass
class Point:
    x: int
    y: int


@dataclass
class Segment:
    a: Point
    b: Point


LIMIT = 10


@calls("0", "1", "2", "7", "'a'", "1.0", "True", "None")
def over_numbers(n):
    match n:
        case 0:
            return "zero"
        case 1 | 2:
            r = "few"
        case 7:
            r = "seven"
        case _:
            r = "other"
    return r


@calls("True", "False", "None", "1", "0")
def over_singletons(x):
    match x:
        case True:
            return "true"
        case False:
            return "false"
        case None:
            return "none"
    return "no match"


@calls("'go north'", "'go'", "'go a b'", "'drop key'", "''", "'quit'")
def over_commands(text):
    match text.split():
        case ["quit"]:
            return
        case ["go", ("north" | "south") as direction]:
            print("going", direction)
        case ["go", direction]:
            return "where is", direction
        case ["drop", *things]:
            return things
        case []:
            return "nothing"
        case [verb, *_]:
            return verb
    return "end"


@calls("[1, 2, 3]", "(1, 2, 3)", "'abc'", "[1]", "[]", "{1, 2}", "range(4)", "iter([1])")
def over_sequences(xs):
    match xs:
        case []:
            r = "empty"
        case [x]:
            r = x
        case [x, y]:
            r = x, y
        case [first, *middle, last]:
            r = first, middle, last
        case str(s):
            r = "text " + s
        case other:
            r = type(other).__name__
    return r


@calls("{'k': 1}", "{'k': 2, 'z': 3}", "{'kind': 'a', 'n': 5}", "{}", "{'kind': 'b'}", "[]")
def over_mappings(d):
    match d:
        case {"kind": "a", "n": int(n)} if n > 3:
            return "a", n
        case {"k": 1}:
            return "one"
        case {"k": v, **rest}:
            return v, rest
        case {"kind": kind}:
            return kind
        case {}:
            return "mapping"
    return "none"


@calls("Point(0, 0)", "Point(0, 5)", "Point(3, 3)", "Point(1, 2)", "Segment(Point(0, 0), Point(1, 1))", "5")
def over_classes(shape):
    match shape:
        case Point(0, 0):
            return "origin"
        case Point(x=0, y=y) | Point(x=y, y=0):
            return "axis", y
        case Point(x, y) if x == y:
            return "diagonal", x
        case Point() as p:
            return p
        case Segment(Point(0, 0), end):
            return "from origin to", end
        case int() | float() as n:
            return n


@calls("Shade.DARK", "Shade.LIGHT", "0")
def over_enums(shade):
    match shade:
        case Shade.DARK:
            return "dark"
        case Shade.LIGHT:
            return "light"
    return "neither"


@calls("[1, 'a', None, [2, 3], {'x': 4}, -1]", "[]")
def in_loop(xs):
    out = []
    for x in xs:
        match x:
            case int(n) if n < 0:
                break
            case int():
                out.append("int")
                continue
            case None:
                continue
            case [a, b]:
                out.append(a + b)
            case {"x": v}:
                out.append(v)
            case _:
                pass
        out.append("end")
    else:
        out.append("else")
    return out


@calls("3", "0")
def binds_on_some_cases(n):
    match n:
        case 0:
            x = "zero"
        case int(y):
            y += 1
    return x, y


@calls("(1, 2)", "(1, 1)", "5")
def captures_survive_failed_guards(t):
    def say(x):
        print("guard", x)
        return x

    match t:
        case (a, b) if say(a == b):
            return "equal", a
        case (c, d) if say(c > d):
            return "greater"
    return a, b, c, d


@calls("5")
def subject_is_evaluated_once(n):
    def subject():
        print("subject")
        return n

    match subject():
        case 1:
            return 1
        case 2:
            return 2
        case 5 if n < 0:
            return "negative"
        case 5 | 6:
            return "five or six"


@calls("10", "11", "'LIMIT'")
def over_names(n):
    match n:
        case LIMIT:
            return "captures, of course", LIMIT


@calls("1, 2", "0, 2", "3, 3")
def over_tuple_of_two(a, b):
    match a, b:
        case 0, y:
            return y
        case x, 3:
            return x
        case (1, _) as both:
            return both


class Choosy:
    """Says to what it is compared."""

    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        print("eq", other)
        return self.n == other


@calls("Choosy(2)", "Choosy(9)")
def comparisons_happen_in_order(x):
    match x:
        case 1:
            return "one"
        case 2 | 3:
            return "two"
        case -4 | 1.5 | 2j | "s":
            return "odd"
    return "none"


@calls("[0, 1, 2, 3, 4]")
def nested_match(xs):
    out = []
    while xs:
        match xs.pop():
            case 0:
                return out
            case n if n % 2:
                match n:
                    case 1:
                        out.append("one")
                    case 3:
                        out.append("three")
                        continue
                out.append("odd")
            case _:
                out.append("even")
    return "never"


@calls("'a'", "b'a'", "1", "1 + 2j")
def literals(x):
    match x:
        case "a":
            return "str"
        case b"a":
            return "bytes"
        case 1 + 2j:
            return "complex"
        case -1 | 1:
            return "int"


@calls("1", "2")
def soft_keywords(match):
    case = match
    _ = "underscore"
    match match:
        case 1:
            match = "one"
        case _:
            case = "other"
    return match, case, _
