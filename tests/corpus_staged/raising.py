"""Exceptions that are raised: made here or elsewhere, with causes and notes, of whatever class."""

import numpy as np  # noqa: F401  (for arguments)

from tests.corpus_staged import calls


class Odd(Exception):
    def __init__(self, value, more=3):
        super().__init__(value)
        self.more = more


SHARED = ValueError("shared")


@calls("1", "2")
def from_another(x):
    if x > 1:
        raise ValueError("big") from KeyError(x * 2)
    return x


@calls("1", "2")
def from_none(x):
    if x > 1:
        raise ValueError("big") from None
    return x


@calls("1, ValueError(3)", "2, ValueError(3)", "2, KeyError", "2, 5", "2, None")
def given(x, error):
    if x > 1:
        raise error
    return x


@calls("1, ValueError(3)", "2, ValueError(4)", "2, KeyError", "2, 5", "2, None")
def given_always(x, error):
    raise error


@calls("1, ValueError(3), KeyError(4)", "2, ValueError(3), None", "2, ValueError(3), 5", "2, ValueError(3), KeyError")
def given_both(x, error, other):
    raise error from other


@calls("1, KeyError(1)", "2, KeyError(1)")
def from_a_number(x, error):
    if x > 1:
        raise error from x
    return x


@calls("1, KeyError(1)", "2, KeyError(2)")
def from_a_shared_one(x, error):
    if x > 1:
        raise error from SHARED
    return SHARED


@calls("1", "2")
def no_exception(x):
    if x > 1:
        raise 5
    return x


@calls("1", "2.5")
def a_number(x):
    raise x


@calls("1, ValueError(3)", "2, ValueError(3)", "2, Odd(3)")
def changed_before(x, error):
    error.args = (x,)
    if x > 1:
        raise error
    return error


@calls("1, ValueError(3)", "2, Odd(3)")
def of_the_class_of(x, error):
    raise type(error)(x)


@calls("1", "2")
def with_notes(x):
    error = ValueError(x)
    error.__notes__ = ["noted", x]
    error.value = x
    raise error


@calls("1", "2")
def with_attributes(x):
    if x > 1:
        error = Odd(x, more=x)
        error.values = [x]
        raise error
    return x


@calls("1", "2")
def a_class(x):
    if x > 1:
        raise Odd(x)
    raise KeyError


@calls("1, ValueError(3)", "2, ValueError(4)", "2, KeyError(4)")
def caught_here(x, error):
    try:
        raise error
    except ValueError as caught:
        return caught is error, caught.args, x


@calls("1", "3")
def caught_in_a_branch(x):
    if x > 2:
        try:
            if x > 1:
                raise ValueError("caught")
        except ValueError as error:
            return str(error)
    return x


@calls("1", "2")
def while_another_is_handled(x):
    if x > 1:
        try:
            raise KeyError("first")
        except KeyError:
            raise ValueError("second")
    return x


@calls("1", "2")
def made_and_returned(x):
    error = ValueError(x, x + 1)
    return error, error.args, Odd(x)


@calls("[3, 1, 2]", "[5, 6]")
def in_a_loop(xs):
    for x in xs:
        if x > 4:
            raise Odd(x) from IndexError(x)
    return xs


@calls("np.array([3])", "np.array([3.0])", "np.array([1, 2])")
def raised_by_an_operation_while_another_is_handled(x):
    try:
        raise ValueError("first")
    except ValueError:
        x /= 2
    return x


@calls("np.array([3]), []", "np.array([3]), [1]", "np.array([3.0]), []")
def raised_in_a_function_while_two_are_handled(x, xs):
    def halve(y):
        y /= 2

    try:
        try:
            xs[0] = 1
        except IndexError:
            {}["key"]
    except KeyError:
        halve(x)
    return x


@calls("np.array([3]), 1", "np.array([3]), -1")
def raised_in_a_branch_while_another_is_handled(x, n):
    try:
        raise ValueError("first")
    except ValueError:
        if n > 0:
            x /= 2
    return x


@calls("np.array([3])", "np.array([3.0])")
def raised_after_another_was_handled(x):
    try:
        raise ValueError("first")
    except ValueError:
        y = x * 2
    y /= 2
    return y


@calls("1, [1, 2]", "1, []", "2.5, []")
def raised_while_one_of_a_staged_value_is_handled(n, xs):
    try:
        raise ValueError("drawn", n * 2)
    except ValueError:
        n *= 2
        xs.pop()
    return n


@calls("[1, 2], 0", "[], 0", "[3], 0")
def raised_while_one_of_a_list_is_handled(xs, key):
    try:
        raise ValueError(xs, [key])
    except ValueError:
        xs.append(key)
        return xs[3]
