"""What drawn programs have brought to light, each the smallest that shows it; see tests/test_staged_fuzz.py."""

from __future__ import annotations

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
