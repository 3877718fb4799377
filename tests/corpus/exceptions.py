# ruff: noqa: F821
"""`try`, `raise`, `assert`: what is caught, chained, left behind and undone."""

from tests.corpus import calls


@calls("1", "0", "'x'")
def try_all_parts(x):
    try:
        y = 10 / x
    except ZeroDivisionError as error:
        y = str(error)
    except (TypeError, ValueError):
        return "type"
    else:
        print("else", y)
    finally:
        print("finally")
    return y


@calls("0", "1")
def exception_name_is_deleted(x):
    error = "before"
    try:
        1 / x
    except ZeroDivisionError as error:
        print(error)
    return error


@calls("0", "1")
def exception_name_in_branch(x):
    if x == 0:
        try:
            1 / x
        except ZeroDivisionError as e:
            message = str(e)
    return message, e


@calls("[1, 0, 2, 'a']", "[]")
def exceptions_in_loop(xs):
    out = []
    for x in xs:
        try:
            out.append(1 / x)
        except ZeroDivisionError as e:
            out.append(str(e))
            kept = e
        except TypeError:
            raise
    return out, type(kept).__name__, kept.__context__


@calls("0", "1", "2", "3")
def raise_from(n):
    try:
        try:
            [][n]
        except IndexError as e:
            if n == 0:
                raise KeyError("from error") from e
            elif n == 1:
                raise KeyError("from none") from None
            elif n == 2:
                raise KeyError("in context")
            else:
                raise
    finally:
        n = 10


@calls("0", "1", "2")
def bare_raise_in_nested_bodies(n):
    try:
        raise ValueError("first")
    except ValueError:
        for i in range(3):
            if i == n:
                try:
                    raise KeyError(i)
                except KeyError:
                    print("inner")
                    if i == 1:
                        raise
        if n < 2:
            raise


@calls("0", "1")
def bare_raise_without_error(n):
    if n:
        raise
    return "none"


@calls("5", "None", "int", "ValueError", "ValueError('x')")
def raise_what(x):
    if x is None or x:
        raise x


@calls("ValueError('a'), None", "ValueError('a'), 5", "ValueError('a'), KeyError", "ValueError('a'), KeyError('b')")
def raise_what_from_what(x, y):
    while True:
        raise x from y


@calls("1", "0", "[]")
def assert_plain(x):
    assert x
    return x


@calls("1", "0", "-1")
def assert_with_message(x):
    def message():
        print("message built")
        return f"x is {x}"

    assert x > 0, message()
    assert x, (x, "pair")
    return x


@calls("0", "1")
def assert_message_fails(x):
    assert x, 1 / x
    return x


@calls("[1, 2]", "[2, 1]")
def assert_in_branches(xs):
    for i, x in enumerate(xs):
        if i:
            assert x > xs[i - 1], "not rising"
    return "rising"


@calls("[1, 0]", "[1]", "[]")
def nested_finally_order(xs):
    try:
        try:
            for x in xs:
                try:
                    print(1 // x)
                finally:
                    print("inner", x)
        finally:
            print("middle")
    except ZeroDivisionError:
        print("caught")
    finally:
        print("outer")


@calls("0", "1", "2", "3")
def return_value_and_finally(n):
    x = [n]
    try:
        if n == 0:
            return x
        if n == 1:
            raise ValueError
        x.append("try")
    except ValueError:
        if x:
            return "except", x
    else:
        if n == 2:
            return "else", x
    finally:
        x.append("finally")
        if n > 2:
            x.append("late")
    return x


def _try_return(n, log):
    try:
        return log.append("value")
    finally:
        log.append("finally")
        if n:
            return "overridden"


@calls("0", "1")
def finally_overrides(n):
    log = []
    return _try_return(n, log), log


@calls("0", "1", "2")
def try_except_star_free_flow(n):
    while True:
        try:
            if n == 0:
                break
            elif n == 1:
                raise StopIteration(n)
            else:
                n -= 1
                continue
        except StopIteration as s:
            return s.value


@calls("3", "10")
def retries(n):
    attempts = 0
    while True:
        try:
            attempts += 1
            if attempts < n:
                raise OSError(attempts)
        except OSError as e:
            if attempts >= 5:
                raise RuntimeError("gave up") from e
            last = e.args
        else:
            return attempts, last


@calls("0", "1")
def exception_group_of_handlers(n):
    handlers = (ValueError, KeyError) if n else ()
    try:
        raise KeyError(n)
    except handlers:
        return "handled"
    except KeyError:
        return "not handled"


@calls("5")
def handler_expression_fails(n):
    try:
        raise KeyError(n)
    except n:
        return "never"


@calls("[1, 2, 3]", "[3, 'x']")
def state_after_exception_half_way(xs):
    total, seen = 0, []
    try:
        while xs:
            x = xs.pop()
            seen.append(x)
            if x:
                total += x
                x = None
    except TypeError as e:
        seen.append(type(e).__name__)
    return total, seen, x, xs


@calls("3")
def error_passes_through_recursion(n):
    def down(k):
        if k > 0:
            try:
                return down(k - 1) + 1
            except ArithmeticError as e:
                e.args += (k,)
                raise
        raise ArithmeticError(k)

    try:
        down(n)
    except ArithmeticError as e:
        return e.args


@calls("1", "0")
def error_in_argument(x):
    def f(*args):
        print("called")

    f(print("first"), 1 / x, print("last"))


@calls("'5'", "'x'", "None")
def nested_functions_raise(text):
    def parse(s):
        try:
            return int(s)
        except ValueError as e:
            raise LookupError(f"bad {s}") from e

    def twice(s):
        for _ in range(2):
            if s:
                return parse(s)
            s = "7"

    return twice(text)
