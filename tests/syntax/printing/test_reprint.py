"""Rewritten trees as text: what the user typed stays, the rest fits in. Whole source in, whole source out."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import gast
import pytest

from autograph.common.printing.unparse import unparse
from autograph.syntax import source, template
from autograph.syntax.origin import Comments
from autograph.syntax.printing import reprint

Change = Callable[[gast.AST], Any]


def program(text: str) -> str:
    return dedent(text).lstrip("\n")


def reprinted(text: str, change: Change | None = None) -> str:
    """The program, parsed, changed, and printed; what is printed must mean what the changed tree means."""
    parsed = source.parse(program(text), "user.py")
    tree = (change and change(parsed.tree)) or parsed.tree
    printed = reprint.to_text(tree, parsed)
    assert ast.dump(ast.parse(printed)) == ast.dump(ast.parse(unparse(tree))), printed
    return printed


class Convert(gast.NodeTransformer):
    """A small conversion: calls, `and`, `or`, `not`, conditional expressions."""

    def visit_Call(self, node):
        self.generic_visit(node)
        node.func = template.call("call", node.func)
        return node

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        return template.call("and_" if isinstance(node.op, gast.And) else "or_", *map(template.thunk, node.values))

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return template.call("not_", node.operand) if isinstance(node.op, gast.Not) else node

    def visit_IfExp(self, node):
        self.generic_visit(node)
        return template.call("if_exp", node.test, template.thunk(node.body), template.thunk(node.orelse))


class ConvertIf(Convert):
    """... and `if`, into functions and a call."""

    def visit_If(self, node):
        self.generic_visit(node)
        call = gast.Expr(template.call("if_stmt", node.test, template.name("if_body"), template.name("else_body")))
        bodies = [template.function("if_body", node.body), template.function("else_body", node.orelse)]
        bodies[0].comments = node.comments._replace(after=(), inside=())
        call.comments = Comments(after=node.comments.after, inside=node.comments.inside)
        return [*bodies, call]


def converted(text: str) -> str:
    return reprinted(text, lambda tree: Convert().visit(tree))


def with_ifs(text: str) -> str:
    return reprinted(text, lambda tree: ConvertIf().visit(tree))


def retyped(text: str) -> str:
    """With every statement touched: all names are new."""

    class NewNames(gast.NodeTransformer):
        def visit_Name(self, node):
            self.generic_visit(node)
            return gast.Name(node.id, node.ctx, node.annotation, node.type_comment) if hasattr(node, "lineno") else node

    return reprinted(text, lambda tree: NewNames().visit(tree))


def expression(text: str, new: str, path: Change = lambda tree: tree.body[0].value) -> str:
    """The one-line program, with the expression at a path replaced by a new one."""
    replacement = gast.parse(new, mode="eval").body

    class Replace(gast.NodeTransformer):
        def visit(self, node):
            return replacement if node is old else self.generic_visit(node)

    def change(tree):
        nonlocal old
        old = path(tree)
        Replace().visit(tree)

    old = None
    return reprinted(text, change).rstrip("\n")


# -- what nobody touched ------------------------------------------------------------------------------------

ODD = program('''
    #!/usr/bin/env python
    # -*- coding: utf-8 -*-

    """Doc
      string."""
    import  os; import sys


    @decorator   # why
    # between
    @other(1,
           2)
    def f( a,b = 1 , *, c: "int"=2 ) -> None :  # head
        # first
        x = {  'a' : 0x_ff,   # inner
               "b" : 1_0 }    # end
                              # of an aligned remark

        if (a   and
              b): return(1)   # one line
        elif a: pass; pass  # two
    # lead
        else :  # otherwise

            y = """text
    # no comment
      more""" \\
                "implicit" \'\'\'concatenation\'\'\'
            # at the end
        # of it
        for  i  in  x:continue
        else: pass
        while(1):
              break # odd indentation
        try : y
        except  (A,B)  as  e : pass
        # above finally
        finally :  # final
            del x; z = lambda * a : a
        return-x


    class   C ( object ) :
    \tt = 'tab'; größe = "ä"; straße = größe[ 1: ]   # ü

    \tdef g ( self ) : return self . größe
    # the end
''')


def test_an_unchanged_program_comes_out_as_typed():
    assert reprinted(ODD) == ODD


def test_so_it_does_if_every_name_in_it_is_replaced():
    # but for what stands around the words `else` and `finally`, and a comment that is indented too little
    expected = ODD.replace("else :", "else:").replace("finally :", "finally:").replace("\n# lead", "\n    # lead")
    assert retyped(ODD) == expected.replace("x:continue", "x: continue").replace("\t", "    ")


def test_form_feeds_are_blank_lines():
    assert reprinted("a\n\f\nb\n") == "a\n\nb\n"


def test_a_file_of_comments_and_an_empty_one():
    assert reprinted("# one\n\n# two\n") == "# one\n\n# two\n"
    assert reprinted("") == "\n"


def test_one_function_comes_out_without_indentation():
    parsed = source.parse(program('''
        class C:
          # not this
          @deco
          def f(self):
            """Doc

            string."""
            if self:
              x = """
            kept
              """  # comment
              return (x,
                      self)
          # nor this
        '''), "user.py")  # fmt: skip
    assert reprint.to_text(parsed.tree.body[0].body[0], parsed) == program('''
        @deco
        def f(self):
          """Doc

            string."""
          if self:
            x = """
            kept
              """  # comment
            return (x,
                    self)
        ''')


def test_one_lambda_comes_out_as_one_expression():
    parsed = source.parse("f = g(lambda x: (x,\n    1), (lambda: 0\n  or 2))\n", "user.py")
    first, second = parsed.tree.body[0].value.args
    assert reprint.to_text(first, parsed) == "lambda x: (x,\n    1)"
    assert reprint.to_text(second, parsed) == "(lambda: 0\n  or 2)"


# -- splicing -----------------------------------------------------------------------------------------------


def test_the_text_around_a_changed_expression_stays():
    assert converted("""
        x = [  # numbers
            0xFF, "it's",   # first
            f(1_000,
              y = b),       # second
        ]  # end
        """) == program("""
        x = [  # numbers
            0xFF, "it's",   # first
            ag__.call(f)(1_000,
                         y = b),       # second
        ]  # end
        """)  # fmt: skip


def test_an_operation_is_wrapped_and_its_needless_parentheses_go():
    assert converted("x = (a and b)[0] + f((not a), (b if c else d))\n") == (
        "x = ag__.and_(lambda: a, lambda: b)[0] + ag__.call(f)(ag__.not_(a), ag__.if_exp(c, lambda: b, lambda: d))\n"
    )


def test_lines_aligned_with_a_bracket_stay_so():
    assert converted("""
        def g():
            x = f(a, [b,
                      f(c,
                        "(")],  # (
                  k=(a,
                     b), l={
                1: 2})
        """) == program("""
        def g():
            x = ag__.call(f)(a, [b,
                                 ag__.call(f)(c,
                                              "(")],  # (
                             k=(a,
                                b), l={
                1: 2})
        """)  # fmt: skip


def test_new_calls_break_lines_and_hold_comments_where_the_user_did():
    assert converted("""
        x = (a and  # one
             # two
             not (
                 b) and c and
             # three
             d)     # four
        """) == program("""
        x = ag__.and_(lambda: a,  # one
                      # two
                      lambda: ag__.not_(b), lambda: c,
                      # three
                      lambda: d)     # four
        """)  # fmt: skip


def test_comments_that_lose_their_place_move_above_the_statement():
    assert converted("""
        x = (a if  # one
             # two
             b else c)     # one, two, three
        """) == program("""
        # one
        # two
        x = ag__.if_exp(b, lambda: a, lambda: c)     # one, two, three
        """)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "new", "expected"),
    [
        ("a * b", "c + d", "(c + d) * b"),
        ("a * b", "c ** d", "c ** d * b"),
        ("(a) * b", "c + d", "(c + d) * b"),
        ("(a) * b", "f()", "f() * b"),
        ("(a) * b", "c", "(c) * b"),
        ("-a", "b ** c", "-b ** c"),
        ("a[b]", "c or d", "(c or d)[b]"),
        ("a.b", "1", "(1).b"),
        ("a(b)", "lambda: 0", "(lambda: 0)(b)"),
        ("(a)(b)", "f()", "f()(b)"),
        ("(  # why\n a\n) * b", "c + d", "(  # why\n c + d\n) * b"),
        ("a if b else c", "lambda: 0", "(lambda: 0) if b else c"),
        ("not(a)", "f()", "not(f())"),
        ("not(a)", "b", "not(b)"),
        ("-(a)", "f()", "-f()"),
        ("(a)if b else c", "f()", "(f())if b else c"),
        ("1if a else c", "2", "2 if a else c"),
        ("a<b", "(c, d)", "(c, d)<b"),
    ],
)
def test_parentheses_come_and_go_with_precedence(text, new, expected):
    def first(tree):
        value = tree.body[0].value
        children = [getattr(value, name, None) for name in ("left", "operand", "value", "func", "body")]
        return next(child for child in children if child is not None)

    assert expression(text, new, first) == expected


def test_arguments_keep_the_parentheses_of_the_call():
    def argument(tree):
        return tree.body[0].value.args[0]

    assert expression("f(a)", "(b, c)", argument) == "f((b, c))"
    assert expression("f(a)", "(yield)", argument) == "f((yield))"
    assert expression("f((a))", "g()", argument) == "f(g())"
    assert expression("f(x for x in y)", "g(h)", argument) == "f(g(h))"
    assert expression("f((x for x in y))", "g(h)", argument) == "f(g(h))"
    assert expression("f(a)", "(x for x in y)", argument) == "f((x for x in y))"
    assert expression("{**a}", "b or c", lambda tree: tree.body[0].value.values[0]) == "{**(b or c)}"


def test_words_do_not_grow_together():
    assert converted("def f():\n    return(a and b)\n").splitlines()[1] == "    return(ag__.and_(lambda: a, lambda: b))"
    assert expression("x = [a for a in-b]", "c", lambda tree: tree.body[0].value.generators[0].iter) == (
        "x = [a for a in c]"
    )


def test_a_new_operator_keeps_what_is_typed_on_both_sides():
    def change(tree):
        tree.body[0].value.op = gast.Sub()

    assert reprinted("x = (0xff +\n     (b))\n", change) == "x = (0xff - b)\n"


def test_a_new_argument_keeps_what_is_typed_in_the_others():
    def change(tree):
        tree.body[0].value.args.append(gast.Name("new", gast.Load(), None, None))

    assert reprinted("x = f( 0xff, 'a' \"b\", (c, d), k=(  e,) )\n", change) == (
        "x = f(0xff, 'a' \"b\", (c, d), new, k=(  e,))\n"
    )


def test_text_of_several_lines_is_parenthesized_where_it_would_fall_apart():
    def change(tree):
        tree.body[:] = [gast.Return(tree.body[0].value.args[0]), gast.Expr(tree.body[0].value)]
        return gast.Module([template.function("f", tree.body)], [])

    assert reprinted("f(a +\n  b)\n", change) == program("""
        def f():
            return (a +
              b)
            f(a +
              b)
        """).replace("      b)", "      b)")  # fmt: skip


def test_backslashes_hold_lines_together_anywhere():
    assert converted("x = a + \\\n    f(b)\n") == "x = a + \\\n    ag__.call(f)(b)\n"


def test_bytes_are_not_characters():
    assert converted("straße = f(größe,  'ä') + f(größe)  # ü\n") == (
        "straße = ag__.call(f)(größe,  'ä') + ag__.call(f)(größe)  # ü\n"
    )


def test_tuples_bring_their_parentheses_or_get_some():
    def change(tree):
        for node in tree.body:
            node.value = gast.Call(template.name("f"), [node.value], [])

    assert reprinted("x = (a, b)\nx = a, b\nx = (a), (b)\nx = ((a), b)\n", change) == (
        "x = f((a, b))\nx = f((a, b))\nx = f(((a), (b)))\nx = f(((a), b))\n"
    )


# -- f-strings ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('f"{f(x)!r:>{w}} {{y}}"', 'f"{ag__.call(f)(x)!r:>{w}} {{y}}"'),
        ('rf"\\d{f(x)}"', 'rf"\\d{ag__.call(f)(x)}"'),
        ("f'{x if y else 1}'", "f'{ag__.if_exp(y, lambda: x, lambda: 1)}'"),
        ("f'{f(x)=}'", "f'f(x)={ag__.call(f)(x)!r}'"),
        ('f"""{f(x)}\n  y"""', 'f"""{ag__.call(f)(x)}\n  y"""'),
        ('f"{x:{f(w)}}"', 'f"{x:{ag__.call(f)(w)}}"'),
        ("f'ä{f(x)}ö{f(y)}'", "f'ä{ag__.call(f)(x)}ö{ag__.call(f)(y)}'"),
    ],
)
def test_fstrings_are_spliced_if_they_can_be(text, expected):
    assert converted(f"s = {text}\n") == f"s = {expected}\n"


def test_fstrings_of_several_parts():
    assert converted("""
        s = ('a' f"{f(x)}"
             f'{y}' "b")  # c
        """) in (
        "s = ('a' f\"{ag__.call(f)(x)}\"\n     f'{y}' \"b\")  # c\n",
        "s = ('a{ag__.call(f)(x)}{y}b')  # c\n",
        "s = ('af\"{ag__.call(f)(x)}\"{y}b')  # c\n",
        "s = (f'a{ag__.call(f)(x)}{y}b')  # c\n",
    )


def test_new_strings_in_fstrings_avoid_the_quotes_around():
    def change(tree):
        tree.body[0].value.values[0].value = template.call("f", template.constant("<"))

    assert reprinted("s = f'{a}'\n", change) == "s = f'{ag__.f(\"<\")}'\n"
    assert reprinted('s = f"{a}"\n', change) == "s = f\"{ag__.f('<')}\"\n"


def test_what_was_in_an_fstring_can_move_out():
    def change(tree):
        tree.body[0].value = tree.body[0].value.values[1].value

    assert reprinted("s = ('a'\n  f'{x[0]}')\n", change) == "s = (x[0])\n"


# -- statements ---------------------------------------------------------------------------------------------


def test_statements_move_into_a_new_function():
    assert with_ifs("""
        def f(x, y):
            a = 1

            # a comment
            if x > 0:  # why

                # inner
                y = (x +
                     1)  # one
                # end of the block
            else:  # otherwise
                y = '''
            text'''

            return y
        """) == program("""
        def f(x, y):
            a = 1

            # a comment
            def if_body():  # why
                # inner
                y = (x +
                     1)  # one
                # end of the block

            def else_body():
                # otherwise
                y = '''
            text'''
            ag__.if_stmt(x > 0, if_body, else_body)

            return y
        """)  # fmt: skip


def test_the_first_function_of_a_block_has_no_blank_line_above():
    assert with_ifs("def f(x):\n    if x:\n        a\n    else:\n        b\n").startswith(
        "def f(x):\n    def if_body():\n        a\n\n    def else_body():\n"
    )


def test_comments_inside_a_head_that_is_gone_stand_above_what_replaces_it():
    assert with_ifs("""
        if (a and b  # first
            ):  # second
            c
        else:
            d
        """) == program("""
        def if_body():  # second
            c

        def else_body():
            d
        # first
        ag__.if_stmt(ag__.and_(lambda: a, lambda: b), if_body, else_body)
        """)


CHAIN = """
    # above
    if f(a):  # if
        # in if
        b  # b
        # end of if
    # lead of elif
    elif f(c): d  # elif
    # lead of else
    else:  # else

        # in else
        e
        # end of else
    # after all
"""


def test_comments_of_a_chain_stay_where_they_were():
    assert converted(CHAIN) == program(CHAIN).replace("f(", "ag__.call(f)(")


def test_an_elif_that_becomes_an_if():
    def change(tree):
        chain = tree.body[0]
        tree.body.append(chain.orelse.pop())

    assert reprinted(CHAIN, change) == program("""
        # above
        if f(a):  # if
            # in if
            b  # b
            # end of if
        # after all
        # lead of elif
        if f(c): d  # elif
        # lead of else
        else:  # else

            # in else
            e
            # end of else
        """)


def test_an_if_in_an_else_stays_there_and_a_new_one_becomes_an_elif():
    text = "if f(a):\n    b\nelse:\n    if c:\n        d\n"
    assert converted(text) == text.replace("f(", "ag__.call(f)(")

    def change(tree):
        tree.body[0].orelse = [gast.If(template.name("x"), [gast.Pass()], [])]

    assert reprinted(text, change) == "if f(a):\n    b\nelif x:\n    pass\n"


def test_compound_statements_on_one_line():
    text = """
        if f(a): return_ = 1; b = f(2)  # c
        else: d
        for x in f(y): pass
        class A: a = f(1)
        try: f(a)
        except f(E): pass
        finally: f(b); c
        x = f(1); y = 2; z = f(3)  # three
    """
    assert converted(text) == program(text).replace("f(", "ag__.call(f)(")


def test_a_one_line_block_is_opened_if_more_comes_in():
    def change(tree):
        tree.body[0].body.insert(0, gast.Pass())

    assert reprinted("if a: b; c  # d\n", change) == "if a:\n    pass\n    b; c  # d\n"


def test_part_of_a_line_can_go():
    def change(tree):
        del tree.body[1]

    assert reprinted("a; b; c  # d\n", change) == "a; c  # d\n"


def test_handlers_cases_and_decorators():
    text = """
        @f(a)  # first
        # between
        @ b
        def g(x=f(1),  # x
              *y):     # y
            try:  # try
                f(a)
            # lead
            except f(E) as e:  # e
                b
            # lead of finally
            finally:  # finally
                f(c)
            match f(x):  # match
                # first case
                case [1, "#"] if f(y):  # case
                    # inside
                    f(z)
                # second case
                case (_): pass
                case (
                    a.b  # one
                    | c.d
                ) if f(y):
                    f(z)
    """
    assert converted(text) == program(text).replace("f(", "ag__.call(f)(")


def test_decorators_can_go():
    def change(tree):
        tree.body[0].decorator_list.pop(0)

    assert reprinted("@a\n@ b\ndef f( x ): pass\n", change) == "@b\ndef f( x ): pass\n"


def test_a_new_name_in_a_head_reprints_the_head_only():
    def change(tree):
        tree.body[0].name = "g"

    text = "def f( a,  # one\n       b=0x10 ):  # head\n    x  =  1\n"
    assert reprinted(text, change) == "# one\ndef g(a, b=0x10):  # head\n    x  =  1\n"


def test_blocks_deeper_than_before_and_back():
    def change(tree):
        inner = tree.body[0].body[0]
        tree.body = [gast.While(template.constant(True), [gast.If(template.name("x"), [inner], [])], []), *inner.body]

    assert reprinted(
        """
        class A:
          def f(self):
            if self:
                # odd
                return {
            'a': 1}
            '''text
            text'''
        """,
        change,
    ) == program("""
        while True:
          if x:
            def f(self):
              if self:
                  # odd
                  return {
              'a': 1}
              '''text
            text'''
        if self:
            # odd
            return {
        'a': 1}
        '''text
            text'''
        """)


def test_tabs_and_spaces_do_not_get_mixed_up():
    def deeper(tree):
        tree.body = [gast.If(template.name("x"), tree.body, [])]

    def back(tree):
        tree.body = tree.body[0].body

    text = "if a:\n\tif b:\n\t        c\n\td\n"
    assert reprinted(text, deeper) == "if x:\n\tif a:\n\t\tif b:\n\t\t        c\n\t\td\n"
    text = "if a:\n\tif b:\n         \tc\n"  # deeper, but not by the same characters
    assert reprinted(text, back) == "if b:\n\tc\n"


def test_the_backslash_at_the_end_of_a_block_goes():
    def change(tree):
        tree.body.reverse()

    assert reprinted("if a:\n    b \\\n\nc\n", change) == "\nc\nif a:\n    b\n"


def test_blank_lines_are_never_doubled():
    def change(tree):
        for index in (1, 2):
            tree.body[index] = template.function("f", [gast.Pass()])
            tree.body[index].comments = Comments(before=("", "# c")) if index == 1 else Comments(before=("# d",))

    assert reprinted("a\nb\nc\nd\n", change) == program("""
        a

        # c
        def f():
            pass

        # d
        def f():
            pass
        d
        """)


def test_new_statements_may_have_comments():
    def change(tree):
        tree.body[0] = gast.Pass()
        tree.body[0].comments = Comments(before=("# before",), trailing="# behind", after=("# after",))

    assert reprinted("a\n", change) == "# before\npass  # behind\n# after\n"


def test_a_form_feed_or_tab_before_a_comment_is_kept():
    assert converted("f(x)\t# tab\n") == "ag__.call(f)(x)\t# tab\n"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of a later Python")
def test_type_parameters_and_nested_quotes():
    text = "def f[T: (int, f(str))](x: T) -> f(T): return f'{f('x')} {f\"{f(1)}\"}'\ntype A[T] = f(T)\n"
    assert converted(text) == text.replace("f(", "ag__.call(f)(").replace("def ag__.call(f)(", "def f(")


def test_long_sums_and_long_chains_of_elif():
    text = "x = " + " + ".join(["f(a)"] * 250) + "\n"
    assert converted(text) == text.replace("f(", "ag__.call(f)(")
    text = "if f(x):\n    pass\n" + "".join(f"elif f(x) == {n}:  # {n}\n    pass\n" for n in range(250))
    parsed = source.parse(text, "user.py")
    assert reprint.to_text(parsed.tree, parsed) == text
