"""Branches, loops, variables, output and exceptions under `jax.jit`, and the derivatives of loops."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp
from jax._src import core, dispatch

import autograph as ag
from autograph.backends.jax import loops
from tests.backends.jax.agreeing import agrees, printed, refuses

XS = np.arange(12.0) - 3


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def ended_early(xs):
    total = 0.0
    for x in xs:
        if x > 4:
            break
        if x < 0:
            continue
        total += x
    else:
        total += 100
    return total


def first_above(xs, limit):
    for i, x in enumerate(xs):
        if x > limit:
            return i, x
    return -1, 0.0


def largest(xs):
    best = None
    for x in xs:
        if best is None or x > best:
            best = x
    return best


def paired(xs):
    total = 0.0
    for i, (x, y) in enumerate(zip(xs, reversed(xs))):
        total += i * x * y
    return total


def appended(xs):
    sums, total = [], 0.0
    for x in xs:
        total = total + x
        sums.append((total, x * 2))
    return sums


def fibonacci(x):
    values = [x, x]
    for _ in range(10):
        values.append(values[-1] + values[-2])
    return values


def generators(xs):
    return sum(x for x in xs if x > 0), any(x > 8 for x in xs), all(x > -4 for x in xs), max(x * x for x in xs)


def comprehensions(xs):
    return [x * 2 if x > 0 else -x for x in xs], {i: xs[i] for i in range(3)}


class Account:
    def __init__(self, balance):
        self.balance = balance
        self.payments = 0

    def pay(self, amount):
        if self.balance >= amount:
            self.balance = self.balance - amount
            self.payments += 1


@dataclasses.dataclass
class Pair:
    low: float
    high: float


def objects(xs, start):
    account, seen, pair = Account(start), {"most": 0.0}, Pair(0.0, 0.0)
    for x in xs:
        account.pay(x)
        if x > seen["most"]:
            seen["most"] = x
        if x < pair.low:
            pair.low = x
        else:
            pair.high = pair.high + x
    return account.balance, account.payments, seen, pair.low, pair.high


def factorial(n, x):
    return x if n == 0 else n * factorial(n - 1, x)


def recursion(x):
    return factorial(5, x)


def said(x):
    for i in range(12):
        if x > i * 5:
            print("above", i, f"{x:.2f}", [x, i])
    print("done %d" % x)


def matched(n):
    match n:
        case 1:
            return 10
        case 2 | 3:
            return 20
        case _ if n > 100:
            return 30
    return 40


def counted(x):
    i = total = 0
    while i < 30:
        total = total + x[i % 12]
        i += 3
    return total, i


def mapped(xs):
    return list(map(lambda pair: pair[0] * pair[1], enumerate(xs))), sum(reversed(xs))


def logical(a, b):
    return (a > 0 and b > 0) or not a, 0 < a < b < 10, a or b, a and b


def of_math(x):
    return math.sqrt(x) + math.floor(x) + math.hypot(x, 3), math.isnan(x)


@pytest.mark.parametrize("function, args", [
    (collatz, (27,)), (collatz, (1,)), (ended_early, (XS,)), (ended_early, (XS[:6],)), (first_above, (XS, 4.5)),
    (first_above, (XS, 50.0)), (largest, (XS,)), (paired, (XS,)), (appended, (XS,)), (fibonacci, (1,)),
    (generators, (XS,)), (comprehensions, (XS,)), (objects, (XS, 20.0)), (recursion, (2.0,)), (said, (17.0,)),
    (matched, (1,)), (matched, (3,)), (matched, (101,)), (matched, (7,)), (counted, (XS,)), (mapped, (XS,)),
    (logical, (3, 5)), (logical, (0, 5)), (of_math, (6.25,)),
])  # fmt: skip
def test_programs_do_what_they_do_plain(function, args):
    agrees(function, *args)


def test_unbound_variables_raise_where_they_are_read():
    def maybe(x):
        if x > 0:
            y = x
        return y

    assert ag.jax_jit(maybe)(2.0) == 2.0
    with pytest.raises(UnboundLocalError, match="'y'"):
        ag.jax_jit(maybe)(-2.0)


@pytest.mark.parametrize("consume", [any, sum, max, list])
def test_no_stop_iteration_leaves_a_generator_expression(consume):
    def taken_in_pairs(numbers, x):
        it = iter(numbers)
        return consume(e - next(it) for e in it), x

    with pytest.raises(RuntimeError, match="generator raised StopIteration") as caught:
        ag.jax_jit(taken_in_pairs, static_argnums=0)((1, 1, 2), 1.0)
    assert isinstance(caught.value.__cause__, StopIteration)


def test_exceptions_are_those_of_the_program():
    @ag.jax_jit
    def checked(x):
        assert x < 10, f"{x} is too large"
        for i in range(20):
            if x == i:
                raise KeyError(f"no {x}")
        return math.log(x)

    assert checked(0.5) == pytest.approx(math.log(0.5))
    with pytest.raises(AssertionError, match="12.0 is too large"):
        checked(12.0)
    with pytest.raises(KeyError, match="no 3.0"):
        checked(3.0)
    with pytest.raises(ValueError, match="math domain error"):
        checked(-0.5)
    with pytest.raises(jax.errors.JaxRuntimeError, match="12.0 is too large"):
        jax.block_until_ready(jax.jit(checked.__wrapped__ and ag.convert(checked.__wrapped__))(12.0))


def test_exceptions_may_be_checks_of_checkify():
    @ag.jax_jit(checks=True)
    def checked(x):
        for i in range(20):
            if x == i:
                raise KeyError("no such number")
        return x * 2

    error, result = checked(0.5)
    assert error.get() is None and result == 1.0
    error, _ = checked(3.0)
    assert "KeyError: no such number" in error.get() and "test_control_flow.py" in error.get()


def test_vmap_prints_and_raises_only_where_the_program_does():
    @ag.convert
    def checked(x):
        if x > 2:
            print("large", x)
        while x > 3:
            print("smaller", x)
            x = x - 1
        return x

    _, text = printed(jax.vmap(checked), (np.array([1.0, 4.0, 2.5]),))
    assert sorted(text.splitlines()) == ["large 2.5", "large 4.0", "smaller 4.0"]


def test_loops_without_a_bound_have_no_reverse_mode():
    @ag.convert
    def halved(x):
        while x > 1:
            x = x / 2
        return x

    assert jax.jvp(jax.jit(halved), (8.0,), (1.0,))[1] == 0.125
    assert jax.grad(halved)(8.0) == 0.125       # Python runs it
    with pytest.raises(ag.errors.StagingError, match=r"this `while` has no derivatives .*max_trips=n"):
        jax.grad(jax.jit(halved))(8.0)


def test_bounded_loops_have_reverse_mode():
    @ag.convert
    def short(x):
        while x < 1000:
            ag.set_loop_options(max_trips=20)
            x = x * 1.5
        return x

    @ag.convert
    def long(x):
        while x < 1000:
            ag.set_loop_options(max_trips=700)
            x = x * 1.5
        return x

    assert jax.grad(jax.jit(short))(1.0) == pytest.approx(1.5**18)
    assert jax.grad(jax.jit(long))(1.0) == pytest.approx(1.5**18)


def test_a_bound_that_is_too_small_is_an_error():
    @ag.jax_jit
    def grown(x):
        while x < 1000:
            ag.set_loop_options(max_trips=5)
            x = x * 1.5
        return x

    with pytest.raises(ag.errors.StagingError, match="max_trips=5"):
        grown(1.0)


def test_explain_says_what_loops_become():
    @ag.jax_jit
    def several(xs, n):
        total = 0.0
        for x in xs:
            total += x
        for _ in range(n):
            total *= 2
        for i in range(10):
            total += xs[: i + 1].sum()
        return total

    decisions = [(row.construct, row.decision) for row in several.explain(XS, 3).staged]
    assert decisions[:2] == [("`for`", "scan"), ("`for`", "while_loop")]
    assert decisions[2] == ("`for`", "unrolled")


def test_functions_handed_to_jax_are_converted():
    @ag.convert
    def scanned(xs):
        def step(total, x):
            if x > 2:
                total = total + x
            return total, total

        return jax.lax.scan(step, 0.0, xs), jax.vmap(lambda x: x if x > 0 else -x)(xs)

    (total, _), positive = jax.jit(scanned)(XS)
    assert total == XS[XS > 2].sum() and (positive == abs(XS)).all()


def test_calls_after_one_that_failed_do_not_fail_on_accelerators(capsys):
    class Failed:
        """What an ordered callback leaves that has raised, where a call returns before it has run."""

        def is_ready(self):
            return True

        def block_until_ready(self):
            raise jax.errors.JaxRuntimeError("INTERNAL: ValueError: odd")

    @jax.jit
    @ag.convert
    def said(x):
        print("said", x)
        return x + 1

    assert said(1) == 2
    tokens = dispatch.runtime_tokens.current_tokens
    tokens.update(dict.fromkeys(tokens, core.Token(Failed())))
    assert said(2) == 3
    dispatch.runtime_tokens.current_tokens.update(dict.fromkeys(tokens, core.Token(Failed())))
    with pytest.raises(jax.errors.JaxRuntimeError, match="odd"):
        jax.effects_barrier()
    jax.effects_barrier()
    assert capsys.readouterr().out == "said 1\nsaid 2\n"


def test_a_warning_says_once_that_integers_have_32_bits(monkeypatch):
    monkeypatch.setattr(loops, "_has_warned", False)
    jax.config.update("jax_enable_x64", False)
    with pytest.warns(UserWarning, match="integers of 32 bits") as warned:
        assert jax.jit(ag.convert(collatz))(27) == 111
        assert jax.jit(ag.convert(collatz))(97) == 118
    assert [each.filename for each in warned] == [__file__]


def test_what_is_known_only_later_is_refused():
    def kept(x):
        return [v for v in x if v > 0]

    def lengths(x):
        return len(f"{x[0]}")

    def collected(n):
        out = []
        for i in range(n):
            out.append(i)
        return out

    def machine(memory):
        at = 0
        while memory[at] != 99:
            a, b = memory[at : at + 2]
            memory[4] = a + b
            at += 4
        return at, memory

    assert "how many items there are must be known" in refuses(kept, XS)
    assert "needs a Python integer" in refuses(machine, [1, 1, 1, 4, 99, 5, 6, 0, 99])
    assert "needs a text" in refuses(lengths, XS)
    assert "a list grows by a number of items" in refuses(collected, 3)


def test_sharded_loops():
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")

    @ag.convert
    def sums(x):
        total = 0.0
        for value in x:
            if value > 2:
                total += value
        return jnp.full((1,), total)

    sharded = jax.shard_map(sums, mesh=mesh, in_specs=spec, out_specs=spec)
    assert jax.jit(sharded)(jnp.asarray(XS)).tolist() == [XS[XS > 2].sum()]
