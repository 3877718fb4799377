"""The printer of whole trees: short where it can be, and always the same tree when parsed again."""

from __future__ import annotations

import _ast
import ast
import math
import sys
from textwrap import dedent
from typing import Any

import gast
import pytest

from autograph.common.printing import literals, templates
from autograph.common.printing import unparse as unparse_module
from autograph.common.printing.unparse import unparse
from autograph.syntax.bridge import to_gast


def version(*least: int) -> Any:
    return pytest.mark.skipif(sys.version_info < least, reason="syntax of a later Python")


def expression(text: str) -> str:
    return unparse(gast.parse(text, mode="eval").body)


def check(text: str) -> str:
    """Print a program from its gast and from its ast tree; both must mean what it means."""
    tree = ast.parse(text)
    printed = unparse(gast.ast_to_gast(tree))
    assert ast.dump(ast.parse(printed)) == ast.dump(tree), printed
    assert unparse(tree) == printed
    return printed


def test_each_kind_of_node_can_be_printed():
    kinds = {name for name, kind in vars(_ast).items() if isinstance(kind, type) and getattr(kind, "_fields", ())}
    heads = {"ExceptHandler", "match_case"}  # and the bodies are printed by the statements that they belong to
    known = {*templates.STATEMENTS, *templates.EXPRESSIONS, *unparse_module._FUNCTIONS, *heads}
    assert kinds - known == {"Expression", "FunctionType", "Interactive", "TypeIgnore"}


# -- precedence ---------------------------------------------------------------------------------------------

AS_TYPED = r"""
a + b * c
(a + b) * c
a - (b - c)
a - b - c
-a ** -b
(-a) ** b
(a ** b) ** c
a ** b ** c
2 ** -1
await x ** 2 if y else await x
await (await x) ** -await y
not a == b
(not a) == b
not (a and b)
a and (b and c)
a or b and c
(a or b) and c
a < b < c
a < (b < c)
(a, b) < c
a if b else c if d else e
(a if b else c) if d else e
a if (b if c else d) else e
lambda: a if b else c
(lambda: a) if b else c
lambda x, /, y=1, *z, k, d=2, **kw: (yield)
lambda *, k: k
(lambda: a)()
(a or b).c[d](e)
(1).real
1.0.real
1j.imag
True.real
[*a, *(b or c), d]
{**a, 'b': c, **(d or e)}
{*a, b}
f(*a, b, *c, d=e, **g)
f(a for a in b)
f((a for a in b), c)
[a for a, b in c if d if e for f in g]
{a: b for a, b in c}
[a for a in (b if c else d) if (lambda: e)]
a[1:2, ::3, ...]
a[b:c:d]
a[:]
a[(yield)]
x @ y // z % w
a | b ^ c & d << e
~a
-(-a)
()
(a,)
a[b,]
'it\'s' if x else "it's"
b'\x00"'
u'kind'
1e309
-1e309
1_000
0xff
"""


@pytest.mark.parametrize("text", AS_TYPED.strip().splitlines())
def test_parentheses_only_where_they_are_needed(text):
    spelling = {
        "-(-a)": "--a",
        "1_000": "1000",
        "0xff": "255",
        r"""'it\'s' if x else "it's" """.strip(): """"it's" if x else "it's" """.strip(),
    }
    assert expression(text) == spelling.get(text, text)
    check(text) if "yield" not in text else check(f"def f(): {text}")


@pytest.mark.parametrize("text", ["(a := b)", "[(a := b)]", "f((a := b))", "x = (a := b)", "await (yield)"])
def test_what_is_never_bare(text):
    assert unparse(gast.parse(text)) == text + "\n"


def test_walrus_is_bare_where_it_is_usual():
    assert check("if a := b: pass\nwhile a := b: pass\n").startswith("if a := b:")


# -- statements ---------------------------------------------------------------------------------------------


def test_compound_statements_print_as_one_types_them():
    text = dedent('''
        import a.b as c, d
        from . import e
        from ..f import g as h

        @decorator
        @(yield)
        def f(a, b: int, /, c: str = 'x', *args: int, d, e=1, **kwargs: dict) -> None:
            """One line."""
            global x, y
            return a, b

        async def g():
            nonlocal x
            async for a, b in c:
                await d
            else:
                pass
            async with a as b, c:
                return [x async for x in y]

        class A(B, metaclass=C):
            """Two

            lines."""
            x: int
            (x): int = 3
            x.y: int = a, b

        class D:
            pass
        if a:
            b
        elif c:
            d
        else:
            e
        for a, *b in c, d:
            continue
        else:
            break
        while True:
            a = (b,) = c = (yield), d
            a += yield
            del a, b[c], (d, e)
            assert a, b
            raise a from b
        try:
            pass
        except (A, B) as c:
            raise
        except D:
            pass
        else:
            pass
        finally:
            pass
        with (a, b) as c, d as (e, f):
            pass
        with ((a, b)):
            pass
    ''').lstrip("\n")
    assert check(text) == text


def test_match():
    text = dedent("""
        match a, *b:
            case 1 | -2 | 1 - 2j | 'a' | None | a.b:
                pass
            case [a, _, *_] | [*b] if c:
                pass
            case {'a': 1, **rest} | {}:
                pass
            case A(b, c=1, d=[]) as e:
                pass
            case (A() as b) | (c as d):
                pass
            case (1 | 2) as b:
                pass
            case _:
                pass
    """).lstrip("\n")
    printed = check(text.replace("(A() as b) | (c as d)", "[A() as b, c as d]"))
    assert printed.startswith("match (a, *b):\n    case 1 | -2 | 1 - 2j")
    assert "    case 1 | 2 as b:" in printed


@version(3, 11)
def test_exception_groups_and_starred_types():
    text = "try:\n    a\nexcept* B as c:\n    d\n"
    assert check(text) == text
    text = "def f(*args: *Ts):\n    return x[*a, 1:2, b]\n"
    assert check(text) == text
    check("x[(*a,)]")


@version(3, 12)
def test_type_parameters():
    text = "type A[T: int, *Ts, **P] = dict[T, P]\n\ndef f[T: (int, str)](x: T):\n    pass\n\nclass B[T]:\n    pass\n"
    assert check(text) == text


@version(3, 13)
def test_defaults_of_type_parameters():
    text = "type A[T = int, *Ts = *tuple[int], **P = [int]] = T\n"
    assert check(text) == text


def test_an_elif_and_an_if_in_an_else_are_the_same_tree():
    assert check("if a: b\nelse:\n    if c: d\n") == "if a:\n    b\nelif c:\n    d\n"


def test_type_comments():
    tree = gast.parse("x = 1  # type: int\nfor a in b:  # type: str\n    pass\n", type_comments=True)
    assert unparse(tree) == "x = 1  # type: int\nfor a in b:  # type: str\n    pass\n"


def test_docstrings_keep_their_lines():
    text = 'def f():\n    """A "quoted"\n\n      \\\\ text\\t\'\'\'\n    """\n    "not\\na docstring"\n'
    assert 'f():\n    """A "quoted"\n\n      \\\\ text\\t' in check(text)
    check("'''ends with a quote\n\"'''")
    check('"""three \\"\\"\\" quotes\n"""')


# -- literals -----------------------------------------------------------------------------------------------


def test_constants_no_one_can_type():
    assert literals.constant(math.inf) == "1e309"
    assert math.isnan(eval(literals.constant(math.nan)))
    assert eval(literals.constant(complex(math.inf, 1))) == complex(math.inf, 1)
    assert literals.constant((1, (2,), ())) == "(1, (2,), ())"
    assert literals.constant(1 << 50_000) == hex(1 << 50_000)  # Python prints no such decimals
    assert unparse(gast.BinOp(gast.Constant(-1, None), gast.Pow(), gast.Constant(2, None))) == "(-1) ** 2"
    assert unparse(gast.BinOp(gast.Constant(-0.0, None), gast.Pow(), gast.Constant(2, None))) == "(-0.0) ** 2"


FSTRINGS = r"""
f'{a}'
f'{a!r:>{w}.{p}}'
f'{a=}'
f'{a = !s}'
f'{{}} {a} {{{b}}}'
f'{ {1: 2}[1] }'
f'{(lambda: 1)()} {(lambda x: x)}'
f'{a if b else (lambda: c)}'
f'{(a := 1)} {a != b} {(yield)}'
f"{x['a']} it's"
f'{x["a"]}' f"{x['b']}"
f'''{x["a"]} {x['b']}'''
f'''{f"{f'{a}'}"}'''
f'a\nb\t\\{c}\''
f'\N{DIGIT ONE}{a}'
rf'\d{a}\n'
f'{a:\x7b}'
f'{a:%H:%M}' 'plain' f"{b}"
f''
f'{a}' '{b}'
f'''
{a}
'''
f'''{
a
+ b}'''
f'{a:}'
f'{"#"}' f'{a!a}'
f'ä{ä}\x00\ud800'
f"{'''
'''}"
"""


def fstrings() -> list[str]:
    blocks = FSTRINGS.strip().split("\nf")
    return [block if block.startswith("f") or index == 0 else "f" + block for index, block in enumerate(blocks)]


@pytest.mark.parametrize("text", fstrings())
def test_fstrings(text):
    try:
        ast.parse(text)
    except SyntaxError:
        pytest.skip("not in this Python")
    check(f"def f():\n  {text}")


@version(3, 12)
@pytest.mark.parametrize(
    "text",
    [
        r"""f'{'a'}'""",
        r"""f'{"\n".join(x)}'""",
        r"""f'{f'{f'{f'{f'{f'{1}'}'}'}'}'}'""",
        "f'{\na  # why\n}'",
        "f'{x[\"a\"]} {x['b']} {y[\"\"\"c\"\"\"]} {y['''d''']}'",
        r"""f'{"'"} {'"'}'""",
        r"""f'{x:\n}'""",
    ],
)
def test_fstrings_that_nest_freely(text):
    check(text)


def test_strings_in_fstrings_take_other_quotes():
    fstring = gast.parse("f'{a}'").body[0].value
    fstring.values[0].value = gast.parse("g('<', \"it's\", b'x')", mode="eval").body
    printed = unparse(fstring)
    assert ast.dump(ast.parse(printed).body[0].value.values[0].value) == ast.dump(
        ast.parse("g('<', \"it's\", b'x')", mode="eval").body
    )
    assert "\\" not in printed


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="later Pythons have a way")
def test_what_no_fstring_can_hold_is_an_error():
    fstring = gast.parse("f'{a}'").body[0].value
    fstring.values[0].value = gast.Constant("\\", None)
    with pytest.raises(literals.UnprintableError, match="cannot be written inside an f-string"):
        unparse(fstring)


# -- shape --------------------------------------------------------------------------------------------------


def test_long_sums():
    text = " + ".join(["a"] * 950)
    assert unparse(to_gast(ast.parse(text))) == text + "\n"


def test_definitions_are_set_off_by_a_blank_line_unless_they_come_first():
    text = "def f():\n    def g():\n        pass\n    a\n\n    class B:\n        pass\n"
    assert check(text) == text
