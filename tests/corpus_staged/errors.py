"""Exceptions: raised, caught, passed on; `assert`, `with`, `finally`."""

import contextlib
import math
import warnings

import numpy as np

from tests.corpus_staged import _helpers, calls


class ModelError(Exception):
    def __init__(self, code, detail=""):
        super().__init__(f"error {code}: {detail}")
        self.code = code


@calls("4.0", "-1.0", "0")
def raises_conditionally(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    return math.sqrt(x)


@calls("3", "0", "-1", "200")
def own_exception(n):
    total = 0
    for i in range(n):
        if i > 100:
            raise ModelError(i, "too far")
        total += i
    if n < 0:
        raise ModelError(n)
    return total


@calls("1, 0", "1.0, 0", "6, 3", "1, 0.0", "np.float64(1), 0", "np.int64(7), np.int64(0)", "0.0, np.float64(0)")
def divides(a, b):
    return a / b


@calls("7, 0", "7, 2", "-7, 2", "7.5, 0", "np.array([7, 8]), 0")
def floor_divides(a, b):
    return a // b, a % b


@calls("1, 0", "4, 2")
def catches_division(a, b):
    try:
        q = a / b
    except ZeroDivisionError as e:
        print("caught", e)
        q = None
    return q


@calls("[1, 2], 0", "[1, 2], 5", "[], -1")
def catches_index(xs, i):
    try:
        x = xs[i]
    except IndexError as e:
        return "missing", str(e)
    else:
        x += 1
    finally:
        print("looked at", i)
    return x


@calls("np.arange(3), 1", "np.arange(3), 3", "np.arange(3), -4", "np.zeros((2, 2)), 2")
def array_index(x, i):
    return x[i]


@calls("np.arange(3), np.arange(4)", "np.arange(3), np.arange(3)", "np.ones((2, 3)), np.ones(2)")
def shapes_that_do_not_fit(x, y):
    return x + y


@calls("np.ones((2, 3)), np.ones((2, 3))", "np.eye(2), np.ones(2)")
def matmul_shapes(a, b):
    return a @ b


@calls("np.arange(6), (2, 3)", "np.arange(6), (4, 2)")
def reshape_error(x, shape):
    return x.reshape(shape)


@calls("3", "'3'", "[1]", "None")
def type_error(x):
    return x + 1


@calls("'12'", "'1x'", "'2.5'")
def conversions_of_text(s):
    try:
        return int(s)
    except ValueError:
        try:
            return float(s)
        except ValueError as e:
            raise ModelError(7, s) from e


@calls("3", "11", "-1")
def asserts(n):
    assert n >= 0
    assert n <= 10, f"{n} is too much"
    return n * 2


@calls("np.array([1.0, 2.0])", "np.array([1.0, np.nan])", "np.array([])")
def asserts_about_arrays(x):
    assert x.ndim == 1 and x.size, "need a vector"
    assert not np.isnan(x).any(), "nan at %d" % np.isnan(x).argmax()
    return x.max()


@calls("[4, 0, 2, 'x', 1]", "[1]", "[]")
def continues_after_errors(xs):
    results, failed = [], 0
    for x in xs:
        try:
            results.append(10 / x)
        except ZeroDivisionError:
            failed += 1
            continue
        except TypeError as e:
            results.append(str(e))
            break
        finally:
            failed += 10
    return results, failed


@calls("3", "0", "-1")
def finally_runs(n):
    log = []
    try:
        log.append(10 // n)
        if n < 0:
            raise KeyError(n)
    except KeyError as e:
        log.append(e.args)
    finally:
        log.append("end")
        print(log)
    return log


@calls("2", "0")
def return_in_try(n):
    try:
        if n > 0:
            return 10 // n
        return 10 // n
    except ZeroDivisionError:
        return -1
    finally:
        print("finally", n)


@calls("3", "0")
def reraises(n):
    try:
        return 5 % n
    except ZeroDivisionError as e:
        if n == 0:
            raise
        raise RuntimeError("never") from e


@calls("0", "1", "2", "3")
def several_kinds(n):
    try:
        if n == 0:
            1 / n
        elif n == 1:
            [][n]
        elif n == 2:
            {}[n]
        else:
            raise ModelError(n)
    except (ZeroDivisionError, IndexError) as e:
        return type(e).__name__, str(e)
    except LookupError as e:
        return "lookup", e.args
    return "nothing"


@calls("3", "0")
def error_in_helper(factor):
    return _helpers.scale(2, factor)


@calls("3", "0")
def error_in_helper_caught(factor):
    try:
        return _helpers.scale(2, factor)
    except ValueError as e:
        return f"refused: {e}"


@calls("4", "-4")
def math_domain(x):
    return math.sqrt(x), math.log(x)


@calls("5.0", "1000.0", "-1000.0")
def overflow_error(x):
    return math.exp(x)


@calls("-1.0", "0.0", "4.0", "np.array([-1.0, 4.0])")
def numpy_warns(x):
    return np.sqrt(x), np.log(x + 1)


@calls("np.array([1.0, 0.0])", "np.array([2.0])")
def quiet_division(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = 1 / x
    return np.where(np.isfinite(y), y, 0.0)


@calls("np.array([1.0, 0.0])", "np.array([2.0])")
def division_that_raises(x):
    with np.errstate(all="raise"):
        try:
            return 1 / x
        except FloatingPointError as e:
            return str(e)


@calls("0", "2", "-1")
def suppressed(n):
    result = "none"
    with contextlib.suppress(ZeroDivisionError):
        result = 6 / n
        if n < 0:
            raise ZeroDivisionError
        print("still here")
    return result


class Timer:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        print("start", self.name)
        return self

    def __exit__(self, kind, error, trace):
        print("stop", self.name, kind.__name__ if kind else None)
        return kind is KeyError


@calls("3", "0", "-1")
def with_own_manager(n):
    with Timer("outer") as t, Timer(f"inner {n}"):
        for i in range(3):
            if i == n:
                return "left", i
        if n < 0:
            raise KeyError(n)
        t.name = "ended"
        x = 1 / n
    return "after", t.name


@contextlib.contextmanager
def _scaled(x, factor):
    x *= factor
    try:
        yield x
    finally:
        x /= factor


@calls("np.array([1.0, 2.0]), 4", "np.array([1.0]), 0.5")
def with_generator_manager(x, factor):
    with _scaled(x, factor) as scaled:
        total = scaled.sum()
        if total > 5:
            total = -total
    return total


@calls("5", "-5")
def own_warning(n):
    if n < 0:
        warnings.warn(f"{n} is negative", UserWarning)
        n = -n
    return n


@calls("np.zeros((2, 2))", "np.eye(2)", "np.ones((2, 3))")
def linalg_errors(a):
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError as e:
        return f"{type(e).__name__}: {e}"


@calls("np.arange(3), 1.5", "np.arange(3), 1")
def float_as_index(x, i):
    return x[i]


@calls("2", "0")
def raise_in_a_loop_of_a_function(n):
    def check(i):
        if i >= n:
            raise StopIteration(i) if n else IndexError(i)
        return i

    total = 0
    try:
        while True:
            total += check(total) + 1
    except (StopIteration, IndexError) as e:
        return total, e.args, type(e).__name__


@calls("3, 'x'", "0, 'y'")
def key_error_with_text(n, key):
    table = {"x": n}
    if n > 0:
        return table[key]
    return table[key + str(n)]


@calls("np.arange(4)", "np.array([])")
def maximum_of_nothing(x):
    return x.max(), x.argmin()


@calls("[1, 2]", "[]")
def pop_from_nothing(xs):
    a = xs.pop()
    return a, xs.pop(0)


@calls("(1, 2)", "(1,)", "(1, 2, 3)")
def unpacking_errors(pair):
    try:
        a, b = pair
    except ValueError as e:
        return str(e)
    return a + b


@calls("50", "3")
def recursion_until_error(n):
    def descend(k):
        if k == 0:
            raise ModelError(n, "bottom")
        return descend(k - 1)

    try:
        descend(min(n, 5))
    except ModelError as e:
        return e.code, str(e)


@calls("1", "0", "-3", "np.float64(0.0)", "np.array([1, 2])")
def returns_in_finally(x):
    try:
        print(1 // x)
        return 1 / x
    finally:
        if x > 0:
            return "positive"
        return "not"


@calls("2, [1]", "0, []")
def drops_what_is_raised_in_a_branch(x, seen):
    try:
        if x > 1:
            seen.append(x)
            raise ValueError("too large")
        seen.append(-x)
    finally:
        if x > 0:
            return seen
        else:
            return x
