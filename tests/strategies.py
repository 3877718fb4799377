"""Programs for hypothesis to draw: small functions full of nested control flow, all of which end.

A program is the text of a module with a function `main(a, b, xs, d)`. Its variables are few and may be unbound when
they are read; its values are integers, a list and a dict; whatever goes wrong in it goes wrong as in Python.

What makes it end, and soon: `while` loops count down from 3 or ask `fuel()`, which gives out; `for` loops run over
three items; inner functions call only those defined before them; lists stop growing; no text is added to itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from tests.drawing import Lines, Writer, indented

PRELUDE = '''\
import contextlib

g, h = 0, 1


class Tank:
    level = 60


def fuel():
    Tank.level -= 1
    return Tank.level > 0


def say(x):
    print("say", x)
    return x


def push(xs, x):
    if len(xs) < 8:
        xs.append(x)
    return xs


def told(kind, error):
    # A body knows an unbound local for a free variable, until the error leaves it.
    return "NameError" if kind and issubclass(kind, NameError) else repr(error)


class Guard:
    def __init__(self, name, *kinds):
        self.name, self.kinds = name, kinds

    def __enter__(self):
        print("enter", self.name)
        return 7

    def __exit__(self, kind, value, traceback):
        print("exit", self.name, told(kind, value))
        return kind is not None and issubclass(kind, self.kinds)


class Loud:
    def __init__(self, x):
        self.x = x

    def __bool__(self):
        print("truth of", self.x)
        return bool(self.x)


class Box:
    def __init__(self, n=0):
        self.n = n


def decorate(f):
    def wrapper(*args):
        print("call", len(args))
        return f(*args)
    return wrapper
'''

ERRORS = ("ValueError", "KeyError", "ZeroDivisionError", "TypeError", "NameError", "IndexError", "Exception",
          "(TypeError, NameError)", "(IndexError, KeyError, ValueError)")  # fmt: skip

CONDITIONS = ("{}", "{}", "not {}", "{} and {}", "{} or {}", "{} > 0", "0 < {} < 3", "{} in xs", "{} % 2 == 0",
              "xs and {} not in d", "{} <= {}", "{} == {}", "Loud({}) and Loud({})", "not (Loud({}) or Loud({}))",
              "(Loud({}) and {}) or Loud({})", "(Loud({}) if {} else Loud({}))")  # fmt: skip

FORMS = ("({0} + {1})", "({0} - {1})", "say({0})", "({0} * 3 % 7)", "-{0}", "({0} < {1})", "(0 < {0} < {1})",
         "({0} and {1})", "({0} or {1})", "(not {0})", "({0} if {1} else say(-2))", "d.get({0}, {1})",
         "sum(i for i in [{0}, {1}] if i)", "len([{0} for i in xs if i != {1}])", "({0} in xs)", "int({0} == {1})",
         "(lambda q: q - {1})({0})", "[{0} for x in range(2)][-1]", "max({0}, {1})")  # fmt: skip

PATTERNS = ("0", "1 | 2", "-1", "int({n}) if {n} > 2", "[{n}, *_]", "None", "str()", "{n} if {n}")


@dataclass(frozen=True)
class Scope:
    """What may stand at a place of a program."""

    names: tuple[str, ...]  # variables to read and write
    bound: dict[str, None]  # those that have been assigned somewhere above
    functions: list[str] = field(default_factory=list)  # inner functions to call
    loop: bool = False  # `break` and `continue`
    handler: bool = False  # a bare `raise`
    generator: bool = False
    nesting: int = 0
    inner: int = 0  # functions around, beyond main; more than five in a class


@st.composite
def programs(draw: st.DrawFn, generators: bool = True) -> str:
    """The text of a module whose function `main(a, b, xs, d)` is to be tried."""
    return _Writer(draw, st.integers(4, 40)).program(generators)


class _Writer(Writer):
    longest = 4

    def program(self, generators: bool) -> str:
        shared = "g" if self.flip(3) else ""
        start = self.pick("x = y = z = 1", "x = y = 2", "x = 0", "z = 0")
        bound = dict.fromkeys("ab" + shared + start[:-1].replace("=", "").replace(" ", ""))
        scope = Scope(("a", "b", "x", "y", "z", *shared), bound, generator=generators and self.flip(5))
        body = [f"global {shared}"] if shared else []
        body += [start, "fs = []", "box = Box()"]
        while self.left > 4 or len(body) < 5:
            body += self.block(scope)
        if self.flip():
            body += [f"return {self.expression(scope)}, [f() for f in fs], vars(box)"]
        return PRELUDE + "\n\n" + "\n".join(["def main(a, b, xs, d):", *indented(body)]) + "\n"

    # Statements

    def statement(self, scope: Scope) -> Lines:
        self.left -= 1
        kinds: list[Callable[[Scope], Lines]] = [*SIMPLE]
        if self.left > 0 and scope.nesting < 5:
            kinds += COMPOUND
        kinds += JUMPS if scope.nesting or scope.inner else []
        return self.draw(st.sampled_from(kinds))(self, scope)  # type: ignore[call-arg]

    def read(self, scope: Scope) -> str:
        """A variable, seldom one that may be unbound."""
        return self.pick(*(scope.names if self.flip(20) or not scope.bound else scope.bound))

    def write(self, scope: Scope) -> str:
        name = self.pick(*scope.names)
        scope.bound[name] = None
        return name

    def assign(self, scope: Scope) -> Lines:
        value = self.expression(scope)
        return [f"{self.write(scope)} {self.pick('=', '=', '=', '+=', '-=')} {value}"]

    def assign_several(self, scope: Scope) -> Lines:
        one, two = self.expression(scope, 1), self.expression(scope, 1)
        form = self.pick(*["{}, {} = {}, {}"] * 3, "[{}, *_], {} = [{}], {}", "{} = {} = {}")
        return [form.format(self.write(scope), self.write(scope), one, two)]

    def store(self, scope: Scope) -> Lines:
        value = self.expression(scope)
        place = self.pick("xs[-1]", "xs[0]", "xs[{}]", "d[{}]", "box.n", "box.n").format(self.expression(scope, 1))
        return [f"{place} {self.pick('=', '+=')} {value}"]

    def show(self, scope: Scope) -> Lines:
        return [f"print({self.expression(scope)}, {self.pick(self.read(scope), 'xs', 'box.n')})"]

    def grow(self, scope: Scope) -> Lines:
        form = self.pick("push(xs, {})", "push(xs, {})", "xs.pop()", "fs.append(lambda: {})", "assert {} != 5, say(0)")
        return [form.format(self.expression(scope))]

    def delete(self, scope: Scope) -> Lines:
        return [f"del {self.pick(*scope.bound, 'xs[0]', 'd[1]')}"] if self.flip(3) else self.assign(scope)

    def jump(self, scope: Scope) -> Lines:
        kinds = ["raise ValueError({})", "raise KeyError from say(None)"]
        kinds += ["return", "return {}"] if scope.inner < 5 else []
        kinds += ["break", "continue"] * 3 if scope.loop else []
        kinds += ["raise"] if scope.handler else []
        kinds += ["yield {}", "yield from [{}]"] * 2 if scope.generator else []
        lines = [self.pick(*kinds).format(self.expression(scope))]
        return [f"if {self.condition(scope)}:", *indented(lines)] if self.flip() else lines

    def if_(self, scope: Scope) -> Lines:
        lines = [f"if {self.condition(scope)}:", *self.inside(scope)]
        while self.flip(4):
            lines += [f"elif {self.condition(scope)}:", *self.inside(scope)]
        return lines + (["else:", *self.inside(scope)] if self.flip() else [])

    def while_(self, scope: Scope) -> Lines:
        inside = replace(scope, loop=True, nesting=scope.nesting + 1)
        kind = self.draw(st.integers(0, 2))
        if kind == 0:
            count = self.fresh("n")
            lines = [f"{count} = {self.draw(st.integers(0, 3))}", f"while {count}:", f"    {count} -= 1"]
        elif kind == 1:
            lines = [f"while ({self.condition(scope)}) and fuel():"]
        else:
            lines = ["while fuel():"]
        return lines + self.block(inside, 3) + self.loop_else(scope)

    def for_(self, scope: Scope) -> Lines:
        several = self.flip(6)
        over = self.pick("range({})", "list(xs)[:3]", "[{}, 1, 2]", "range(3)", "sorted(d)[:2]", "tuple(xs)[:2]")
        over = over.format(self.pick("2", "0", "min(a, 3)") if "range" in over else self.expression(scope, 1))
        over = f"enumerate({over})" if several else over
        target = f"{self.write(scope)}, {self.write(scope)}" if several else self.write(scope)
        inside = replace(scope, loop=True, nesting=scope.nesting + 1)
        return [f"for {target} in {over}:", *self.block(inside, 3), *self.loop_else(scope)]

    def loop_else(self, scope: Scope) -> Lines:
        return ["else:", *self.inside(scope)] if self.flip(3) else []

    def try_(self, scope: Scope) -> Lines:
        lines = ["try:", *self.inside(scope)]
        handlers = self.draw(st.integers(0, 2))
        for _ in range(handlers):
            name = self.pick("", "", " as e", " as x")
            inside = replace(scope, handler=True)
            show = ["    print(told(type(e), e))"] if name == " as e" else []
            lines += [f"except {self.pick(*ERRORS)}{name}:", *show, *self.inside(inside)]
        lines += ["else:", *self.inside(scope)] if handlers and self.flip(3) else []
        return lines + (["finally:", *self.inside(scope)] if not handlers or self.flip(3) else [])

    def with_(self, scope: Scope) -> Lines:
        guard = self.pick("Guard({})", "Guard('v', ValueError)", "Guard('l', LookupError, NameError)",
                          "contextlib.suppress({}, Exception)")  # fmt: skip
        guard = guard.format("ValueError" if "suppress" in guard else self.expression(scope, 1))
        target = f" as {self.write(scope)}" if self.flip(3) else ""
        return [f"with {guard}{target}:", *self.inside(scope)]

    def match_(self, scope: Scope) -> Lines:
        lines = [f"match {self.expression(scope)}:"]
        for _ in range(self.draw(st.integers(1, 3))):
            pattern = self.pick(*PATTERNS)
            pattern = pattern.format(n=self.write(scope)) if "{n}" in pattern else pattern
            lines += indented([f"case {pattern}:", *self.inside(scope)])
        return lines

    def def_(self, scope: Scope) -> Lines:
        if scope.inner >= 2:
            return self.assign(scope)
        name = self.fresh("f")
        head = ["@decorate"] if self.flip(5) else []
        shared = [n for n in scope.bound if n not in "gpu" and self.flip()]
        own = tuple(n for n in scope.names if n != "g")
        names = ("p", "u", *own) if self.flip() else ("p", "u", *shared, "g")
        bound = dict.fromkeys(["p", *shared])
        inner = Scope(names, bound, [*scope.functions], nesting=1, inner=scope.inner + 1)
        body = [f"    nonlocal {', '.join(shared)}"] if shared else []
        body += ["    global g"] if "g" in names and self.flip() else []
        lines = [*head, f"def {name}(p={self.expression(scope, 1)}):", *body, *self.block(inner, 3)]
        scope.functions.append(name)
        return [*lines, f"print({name}())"] if self.flip() else lines

    def class_(self, scope: Scope) -> Lines:
        inner = Scope(scope.names, dict.fromkeys(scope.bound), nesting=scope.nesting + 1, inner=scope.inner + 5)
        return ["class Local:", *self.block(inner, 2), "print(sorted(k for k in vars(Local) if k[0] != '_'))"]

    # Expressions

    def condition(self, scope: Scope) -> str:
        form = self.pick(*CONDITIONS, "{name} is None", "({name} := {})")
        name = self.write(scope) if ":=" in form else self.read(scope)
        return form.format(*(self.expression(scope, 1) for _ in range(3)), name=name)

    def expression(self, scope: Scope, depth: int = 2) -> str:
        if depth == 0 or self.flip():
            return self.read(scope) if self.flip() else self.pick("0", "1", "2", "-1", "len(xs)", "box.n", "h")
        forms = [*FORMS, "xs[{0}]" if self.flip(5) else "len(xs[-1:])"]
        if depth == 1:
            forms.append("len(f'{{{0}}}')")
        elif scope.inner < 5:  # not where it could come to stand in a comprehension
            forms.append("(%s := {0})" % self.pick(*(n for n in scope.names if n != "g")))
        if scope.functions and not scope.inner:
            forms += [f"{self.pick(*scope.functions)}({{0}})"] * 3
        return self.pick(*forms).format(self.expression(scope, depth - 1), self.expression(scope, depth - 1))


SIMPLE = (_Writer.assign, _Writer.assign, _Writer.assign_several, _Writer.store, _Writer.show, _Writer.show,
          _Writer.grow, _Writer.delete)  # fmt: skip
COMPOUND = (_Writer.if_, _Writer.if_, _Writer.if_, _Writer.while_, _Writer.while_, _Writer.for_, _Writer.for_,
            _Writer.for_, _Writer.try_, _Writer.try_, _Writer.with_, _Writer.match_, _Writer.def_,
            _Writer.class_)  # fmt: skip
JUMPS = (_Writer.jump, _Writer.jump)
