"""What drawn programs have brought to light, each the smallest that shows it; see tests/test_staged_fuzz.py."""

from __future__ import annotations

import numpy as np  # noqa: F401  (for arguments)

from tests.corpus_staged import calls

level = 0


def say(value):
    print("say", value)
    return value


def told(function):
    print("decorating")
    return lambda *args: say(function(*args))


@calls("2", "0.5")
def defaults_are_computed_by_each_call(n):
    def scaled(x, by=say(level), *, plus=say(n)):
        return x * by + plus

    return scaled(n), (lambda x=say(1): x + n)()


@calls("2", "0.5")
def decorators_run_with_each_call(n):
    @told
    def increased(x, by=n * 2):
        if x > 1:
            return by
        return x + by

    return increased(n) * increased(1)


@calls("1, 2", "1, None")
def none_is_added_to(a, b):
    b += a
    return b


# What was changed stays changed when something raises afterwards.


@calls("[1, 2], {1: 1}, 2", "[1, 2], {1: 1}, 0", "[], {}, 0")
def containers_changed_before_a_division(xs, d, n):
    xs.pop()
    d["n"] = n
    xs.append(n + 1)
    d.pop(1, None)
    return 1 / n


class Account:
    def __init__(self):
        self.count, self.last, self.log = 0, None, []


@calls("Account(), 2", "Account(), 0")
def attributes_changed_before_a_division(account, n):
    account.count += 1
    account.last = n
    return account.count / n


@calls("0", "2")
def globals_changed_before_a_division(n):
    global level
    level = 1
    level += n
    try:
        return level, half_of_level(n)
    finally:
        level = 0


def half_of_level(n):
    global level
    level += 1
    return level / n


@calls("[1, 2, 3], {1: 1}, 2, np.ones(3)", "[1, 2, 3], {1: 1}, 0, np.ones(3)", "[1, 2, 3], {1: 1}, 4, np.ones(5)",
       "[1, 2, 3], {1: 1}, 4, np.ones(3)", "[1], {1: 1}, 4, np.ones(3)", "[1, 2, 3], {1: 1}, 3, np.ones(3), Account()",
       "[1, 2, 3, 4], {1: 1}, 4, np.ones(6), Account()")  # fmt: skip
def changed_in_branches_and_loops_that_raise(xs, d, n, x, account=None):
    account = Account() if account is None else account
    xs.pop()
    d["k"] = n
    if n > 1:
        xs[0] = 5
        account.count += n
        x[n] = 7
        account.last = x[0]
    for i in range(n):
        xs[-1] += x[i]
        account.count -= 1
        d["k"] = xs[0] / (3 - i)
        account.last = i
    return 1 / n


@calls("Account(), np.arange(3.0), 3", "Account(), np.arange(3.0), 5")
def kept_list_grows_until_something_raises(account, x, n):
    i = 0
    while x[i] < n:
        account.log.append(x[i])
        account.count = len(account.log)
        i += 1
    return i


@calls("{}, -1", "{}, 1")
def list_is_stored_before_a_branch_raises(d, n):
    ys = [n]
    d["a"] = ys
    if n < 0:
        raise ValueError(n)
    ys.append(3)
    return d["a"] is ys


@calls("{2: 0}, 2, 1", "{2: 0}, 1, 2")
def entry_is_looked_up_and_another_set(d, i, f):
    d["key"] = d.get(i, f)
    return i / 2


class Loud:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        print("truth of", self.value)
        return bool(self.value)


@calls("0, 1", "2, 0", "0, 0")
def conditions_are_asked_for_their_truth_once(a, b):
    found = []
    if Loud(a) or Loud(b):
        found.append("or")
    if Loud(a) and Loud:
        found.append("and")
    while Loud(b) and Loud(a) and len(found) < 3:
        found.append("turn")
    if not (Loud(0) or Loud(2) or Loud(a)):
        found.append("no")
    return found


@calls(*(f"np.array({values})" for values in ([0, 1, 2], [1, 0, 2], [1, 2, 0], [1, 2, 3], [0, 0, 0], [0, 0, 1])))
def many_conditions_are_asked_for_their_truth_once(xs):
    a, b, c = xs
    found = []
    if Loud(a) and Loud(b) and Loud(c):
        found.append("and")
    if Loud(a) or Loud(b) or Loud(c):
        found.append("or")
    if Loud(a) and (Loud(b) or Loud(c) or Loud(a)) and Loud(b) and Loud(1) and Loud(c):
        found.append("both")
    return found


@calls("0, 2", "2, 0", "1, 1")
def ends_come_before_what_must_be_known(a, b):
    try:
        if Loud(b) if a else Loud(1):
            b += 1
    finally:
        return a, b


@calls("0, 2", "2, 0", "1, 1")
def everything_is_caught(a, b):
    try:
        if Loud(b) if a else Loud(1):
            b += 1
    except:  # noqa: E722
        b = -1
    return a, b


@calls("[np.ones(2), np.ones(2)]")
def zip_in_turns(xs):
    """Iterators that a turn makes are gone when the turn is undone."""
    for _ in range(100):
        ys = [x * 2 for x in xs]
        xs = [x - 0.1 * y for x, y in zip(xs, ys)]
    return xs


@calls("0.5, np.ones(3)", "0.5, np.ones(0)", "2, np.arange(2)")
def class_known_after_a_loop(p, x):
    for p in x:
        pass
    if isinstance(p, float):
        return 2
    return p


@calls("0.5, np.ones(3), [2, 1.5]", "0.5, -np.ones(3), [2, 1.5]")
def class_asked_beside_a_list(p, x, xs):
    for p in x:
        pass
    if (x > 0).all():
        for _ in x:
            return [xs]
        if isinstance(p, float):
            return 2
    return p


@calls("2, {1: 2}", "3, {}", "None, {}", "None, {0: 1}")
def a_number_is_changed_by_what_a_dict_has(b, d):
    x = 1
    x += d.get(0, b)
    b = 0


def told_of(value):
    print("told of", value)
    return value


@calls("2, 0", "1, 3", "0, None", "2, None")
def a_number_is_compared_with_what_may_be_none(a, b):
    if a:
        b = 0
    return 0 < told_of(b)


@calls("1j", "np.timedelta64(3, 's')", "np.array(['a', 'b'])", "2", "np.complex64(2)")
def a_constant_is_compared_with_what_has_no_order(x):
    return 0 < x


@calls("0, 2**63", "-2**70, 2**70", "2**70, 0")
def a_range_of_more_items_than_can_be_counted(start, stop):
    last = None
    for i in range(start, stop):
        last = i
        if i > start + 20:
            break
    return last


@calls("1", "20")
def a_constant_range_of_more_items_than_can_be_counted(n):
    for i in range(2**64):
        if i > n:
            return i


@calls("1", "0")
def a_constant_spacing_of_more_numbers_than_can_be_counted(n):
    return np.arange(2**70, 2**70 + 2) if n else np.arange(2**64)
