"""TensorFlow's spelling: AutoGraph's control flow by TensorFlow's rules, on tensors and on Python values.

Each program is run eagerly and as a graph, with plain arguments and with tensors, and gives the same.
"""

import collections
import itertools
import re

import numpy as np
import pytest

import autograph.compat.tensorflow as tf
from autograph.compat.tensorflow.core import errors


def plain(value):
    """A result as plain lists and numbers, to be compared."""
    if isinstance(value, tf.Tensor):
        return np.asarray(value.numpy()).tolist()
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value


def matches(function, *args):
    """The graph gives what the eager function gives."""
    assert plain(tf.function(function)(*args)) == plain(function(*args))


def number(n):
    return tf.constant(n, tf.int32)


def dataset(items):
    return tf.data.Dataset.from_tensor_slices(tf.constant(items, tf.int32))


# Branches -------------------------------------------------------------------------------------------------------------


def grows(n):
    low, high = 0, 1
    if n > 1:
        low += n
        high *= 10
    return low, high


def chooses(n):
    if n > 1:
        sign, size = 1, n
    elif n < 0:
        sign, size = -1, -n
    else:
        sign, size = 0, n * 0
    return sign * 100 + size


def returns_early(n):
    if n > 2:
        return n
    with tf.name_scope("inner"):
        if n > 1:
            return n * 10
        return n * 100


def returns_in_try(n):
    try:
        if n > 0:
            return 1
        return 0
    finally:
        n = n + 1


def expressions(n):
    small = -n if n < 2 else n
    return (small if n > 0 else 7), n > 0 and n < 2, n > 1 or n < 0, not n > 1


@pytest.mark.parametrize("kind", [int, number])
@pytest.mark.parametrize("n", [-1, 0, 1, 2, 3])
@pytest.mark.parametrize("function", [grows, chooses, returns_early, returns_in_try, expressions])
def test_branches(function, n, kind):
    matches(function, kind(n))


def test_variables_in_branches():
    def f(c, v):
        v.assign(1)
        if c:
            v.assign_add(1)
        else:
            v.assign_add(10)
        return v.read_value()

    for c in (True, False):
        matches(f, tf.constant(c), tf.Variable(0))


def bound_in_one(c):
    if c:
        found = 1
    return found


def bound_in_other(c):
    if c:
        pass
    else:
        found = 1
    return found


def deleted(c):
    found = 1
    if c:
        del found
    else:
        del found
    return found


def none_in_one(c):
    found = 1
    if c:
        found = None
    return found


def types_differ(c):
    found = 1
    if c:
        found = 2.5
    return found


def structures_differ(c):
    found = (1, 2)
    if c:
        found = (1, (2, 3))
    return found


def returns_in_one(c):
    if c:
        if not c:
            return 1
    return 2


def conditional_structures(c):
    return [1] if c else []


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (bound_in_one, ValueError, "'found' must also be initialized in the else branch"),
        (bound_in_other, ValueError, "'found' must also be initialized in the main branch"),
        (deleted, ValueError, "'found' must also be initialized in the main branch"),
        (none_in_one, ValueError, "'found' is None"),
        (types_differ, TypeError, "'found' must have the same dtype in the main and else branches.*float32.*int32"),
        (structures_differ, TypeError, "'found' must have the same nested structure"),
        (returns_in_one, ValueError, "else branch must also have a return"),
        (conditional_structures, ValueError, "must return the same nested structure in both branches"),
    ],
)
@pytest.mark.parametrize("c", [True, False])
def test_branches_must_agree(function, error, text, c):
    with pytest.raises(error, match=text):
        tf.function(function)(tf.constant(c))


def test_unbound_variables_of_plain_branches():
    assert tf.function(bound_in_one)(True).numpy() == 1
    with pytest.raises(UnboundLocalError, match="'found' is used before assignment"):
        tf.function(bound_in_one)(False)


# Loops ----------------------------------------------------------------------------------------------------------------


def sums(xs):
    total = 0
    for x in xs:
        if x % 2 == 0:
            continue
        if x > 6:
            break
        total = total * 10 + x
    return total


def last(xs):
    x = -1
    for x in xs:  # noqa: B007
        pass
    return x


def nested(xs):
    total = 0
    for x in xs:
        for y in xs:
            if y > x:
                break
            total += x * y
    return total


@pytest.mark.parametrize("kind", [list, number, dataset])
@pytest.mark.parametrize("xs", [[], [1], [1, 2, 3], [5, 7, 9]])
@pytest.mark.parametrize("function", [sums, last, nested])
def test_for_loops(function, xs, kind):
    matches(function, kind(xs))


def collatz(n):
    steps = 0
    while n > 1:
        steps += 1
        if n % 2 == 0:
            n = n // 2
            continue
        n = 3 * n + 1
        if steps > 20:
            break
    return n, steps


def products(n):
    m, found = n, 0
    while m > 0:
        k = n
        while k > 0:
            found += m * k
            k -= 1
        m -= 1
    return found


def counts_in_try(n):
    found = 0
    while n > 0:
        n -= 1
        try:
            if n < 3:
                continue
            found += 1
        finally:
            found += 10
    return found


@pytest.mark.parametrize("kind", [int, number])
@pytest.mark.parametrize("n", [0, 1, 5, 27])
@pytest.mark.parametrize("function", [collatz, products, counts_in_try])
def test_while_loops(function, n, kind):
    matches(function, kind(n))


def returns_first(xs):
    for x in xs:
        return x
    return -1


def returns_either(xs):
    for x in xs:
        if x > 1:
            return x
        else:
            return -x
    return 0


@pytest.mark.parametrize("function", [returns_first, returns_either])
def test_returns_in_loops(function):
    for xs in ([1, 2], [3]):
        matches(function, xs)
        matches(function, number(xs))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must iterate at least once to initialize"):
        tf.function(function)(number([]))
    with pytest.raises(NotImplementedError, match="a return statement cannot be placed inside this TensorFlow loop"):
        tf.function(function)(dataset([1]))


def made_in_loop(n):
    i = 0
    while i < n:
        made = {"zeros": tf.zeros([1, tf.random.uniform((), i, i + 1, tf.int32)]), "row": tf.range(i)}
        i += 1
    return made["zeros"], made["row"]


def test_variables_made_in_loops():
    for n in (1, 3):
        matches(made_in_loop, n)
        matches(made_in_loop, number(n))
    with pytest.raises(UnboundLocalError):
        tf.function(made_in_loop)(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="loop must iterate at least once to initialize made"):
        tf.function(made_in_loop)(number(0))


def reads_what_is_not_there(n):
    for i in range(n):
        if i == 0:
            a = 1
        else:
            a = a + 1
    return a


def test_variables_read_before_they_are_made():
    assert tf.function(reads_what_is_not_there)(3).numpy() == 3
    with pytest.raises(ValueError, match="'a' must be defined before the loop"):
        tf.function(reads_what_is_not_there)(number(3))


@pytest.mark.parametrize("drawn", [False, True])
def test_tests_of_loops_may_draw_random_numbers(drawn):
    w = tf.Variable(1.0)

    @tf.function
    def f(n):
        scale = tf.random.uniform((), 2.0, 2.0) if drawn else 2.0
        i = tf.constant(0)
        while tf.random.uniform(()) < 2.0 and i < n:
            i += 1
        return tf.cast(i, tf.float32) * scale * w

    assert f(tf.constant(3)).numpy() == 6
    with tf.GradientTape() as tape:
        y = f(tf.constant(3))
    with pytest.raises(NotImplementedError, match="draw the numbers before the branch or loop"):
        tape.gradient(y, w)


def test_the_target_of_a_range_is_zero_at_first():
    def f(n):
        for i in tf.range(n):  # noqa: B007
            pass
        return i

    assert tf.function(f)(0).numpy() == 0


def changes_type():
    n = tf.constant(0)
    while tf.constant(True):
        n = tf.constant(0.0)
    return n


def changes_shape():
    n = tf.constant([1])
    while tf.constant(True):
        n = tf.constant([1, 1])
    return n


def forgets_shape():
    n = tf.constant([1])
    while tf.constant(True):
        n = tf.range(tf.random.uniform((), 2, 3, dtype=tf.int32))
    return n


def breaks_invariant():
    n = tf.constant([1])
    while tf.constant(True):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(n, tf.TensorShape([1]))])
        n = tf.range(tf.random.uniform((), 2, 3, dtype=tf.int32))
    return n


def changes_structure():
    n = [tf.constant(0)]
    while tf.constant(True):
        n = [*n, tf.constant(0)]
    return n


def becomes_none():
    n = tf.constant(0)
    while tf.constant(True):
        n = None
    return n


def changes_objects_in_a_dict():
    box = {"kind": Pair, "n": tf.constant(0)}
    while box["n"] < 3:
        box["kind"] = object
        box["n"] += 1
    return box["n"]


def changes_python_condition():
    c = True
    while c:
        c = tf.constant(True)


def breaks_python_loop():
    for i in [1, 2]:
        if tf.constant(i) > 1:
            break


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (changes_type, TypeError, "'n' has dtype int32 before the loop, but dtype float32 after one iteration"),
        (changes_shape, ValueError, r"'n' has shape \(1,\) before the loop, but shape \(2,\) after one iteration"),
        (forgets_shape, ValueError, r"'n' has shape \(1,\) before the loop, but shape \(None,\) after one iteration"),
        (breaks_invariant, ValueError, r"'n' has shape \(None,\) after one iteration, which does not conform"),
        (changes_structure, TypeError, "'n' does not have the same nested structure"),
        (becomes_none, ValueError, "'n' is None at the end of the iteration"),
        (changes_objects_in_a_dict, TypeError, r"'box\['kind'\]' must be a tensor, since the loop changes it"),
        (changes_python_condition, NotImplementedError, "started as non-Tensor, then changed to Tensor"),
        (breaks_python_loop, NotImplementedError, "not supported in Python for"),
    ],
)
def test_loops_must_keep_what_they_carry(function, error, text):
    with pytest.raises(error, match=text):
        tf.function(function)()


Pair = collections.namedtuple("Pair", ["row", "count"])


def grows_row(n):
    row, pair = tf.constant([0]), Pair(tf.constant([0.0]), 0)
    for i in range(n):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(row, tf.TensorShape([None]))])
        row = tf.concat((row, [i]), 0)
        pair = Pair(pair.row + 1, pair.count + 1)
    return row, pair.row, pair.count


def test_shapes_may_change_where_invariants_say_so():
    for n in (0, 1, 3):
        matches(grows_row, n)
        matches(grows_row, number(n))


def writes_array(n):
    found = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    for i in range(n):
        found = found.write(i, i * i)
    return found.stack(), found.size()


def test_tensor_arrays():
    for n in (1, 4):
        matches(writes_array, n)
        matches(writes_array, number(n))


# Containers -----------------------------------------------------------------------------------------------------------


def fills(n):
    box = {"n": n, "rest": [0, {"deep": 1}]}
    if box["n"] > 1:
        box["more"] = 1
        box["rest"][1]["deep"] += n
    else:
        box["more"] = -1
    while box["n"] < 10:
        box["rest"][0] += 1
        box["n"] *= 2
    return box


@pytest.mark.parametrize("kind", [int, number])
@pytest.mark.parametrize("n", [1, 3, 12])
def test_places_in_containers_are_variables(n, kind):
    matches(fills, kind(n))


def test_places_in_containers_have_names():
    def one_sided(n):
        box = {"deep": {"n": n}}
        if box["deep"]["n"] > 0:
            box["deep"]["more"] = 1
        return box

    def in_loop(n):
        box = {}
        for i in range(n):
            box["i"] = i
        return box

    with pytest.raises(ValueError, match=r"'box\['deep'\]\['more'\]' must also be initialized in the else branch"):
        tf.function(one_sided)(number(1))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"iterate at least once to initialize box\[\\'i\\'\]"):
        tf.function(in_loop)(number(0))
    matches(in_loop, number(2))


def test_errors_of_the_program_are_its_own():
    def f(n):
        box = {"a": n}
        if box["a"] > 0:
            box["b"]["c"] = 1
        return box

    for n in (1, number(1)):
        with pytest.raises(KeyError, match="'b'"):
            tf.function(f)(n)


# The rest -------------------------------------------------------------------------------------------------------------


def test_assertions():
    def f(n):
        assert n > 0, "too small"
        return n

    assert tf.function(f)(1).numpy() == tf.function(f)(number(1)).numpy() == 1
    with pytest.raises(AssertionError):
        tf.function(f)(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="too small"):
        tf.function(f)(number(0))


def counts(xs, function):
    total = 0
    for i in function(len(xs)):
        total = total * 10 + i
    return total


@pytest.mark.parametrize(("kind", "function"), [*itertools.product([list, number], [range, tf.range])])
def test_builtins(kind, function):
    matches(counts, kind([3, 4, 5]), function)
    matches(lambda n: (abs(n), max(n, 3), min(n, 3), float(n), int(n)), number(-4))


def test_control_flow_as_functions():
    def f(n):
        i, total = tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, t + i), (0, 0))
        kind = tf.switch_case(n, {0: lambda: 10, 1: lambda: 20}, default=lambda: -1)
        return i, total, kind, tf.cond(n > 1, lambda: n, lambda: -n)

    for n in (0, 1, 3):
        matches(f, number(n))


def returns_in_finally(n):
    try:
        return 2
    finally:
        if n > 0:
            return 1  # noqa: B012
        return 0  # noqa: B012


@pytest.mark.parametrize("n", [0, 1])
def test_returns_in_finally(n):
    matches(returns_in_finally, n)
    matches(returns_in_finally, number(n))


def changes_lists(n):
    items, shorter, table = [n, n + 1], [n, n + 1], {"a": n, "b": n}
    if n > 0:
        items += [n * 11]
        del shorter[1]
        table["c"] = n
        del table["b"]
    else:
        items += [n * 12]
        del shorter[0]
        table["c"] = -n
        del table["b"]
    return items, shorter, table


@pytest.mark.parametrize("n", [3, -3])
def test_branches_change_lists(n):
    matches(changes_lists, tf.constant(n))


def lengthened_in_one(n):
    items = [n]
    if n > 0:
        items += [n]
    return items


def collects(n):
    items = []
    for i in tf.range(n):
        items.append(i)
    return items


def collects_in_place(n):
    items = [n]
    for i in tf.range(n):
        items += [i]
    return items


def takes_away(n):
    items = [n, n, n]
    while n > 0:
        n -= 1
        del items[0]
    return items


collected = []


def collects_outside(n):
    for i in tf.range(n):
        collected.append(i)
    return collected[0]


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (lengthened_in_one, ValueError, "'items[1]' must also be initialized in the else branch"),
        (collects, errors.InaccessibleTensorError, "what a loop collects belongs into a tf.TensorArray"),
        (collects_in_place, TypeError, "'items' does not have the same nested structure before and after one"),
        (takes_away, TypeError, "Collect what a loop makes in a tf.TensorArray, and carry what it takes away"),
        (collects_outside, errors.InaccessibleTensorError, "is out of scope and cannot be used here"),
    ],
)
def test_lists_keep_their_lengths(function, error, text):
    with pytest.raises(error, match=re.escape(text)):
        tf.function(function)(tf.constant(3))


class Counter:
    count = 0

    def add(self, amount):
        self.count += amount
        return amount


def test_what_methods_and_other_functions_change_is_done_while_tracing():
    log, counter, table = [], Counter(), {"iterations": 0}

    def noted(x):
        log.append("called")
        return x

    @tf.function
    def run(n):
        for i in tf.range(n):
            log.append("body")
            table["iterations"] += noted(counter.add(1))
        if n > 1:
            log.append("then")
        else:
            log.append("else")
        return table["iterations"]

    assert run(tf.constant(3)).numpy() == 3
    assert log == ["body", "called", "then", "else"]
    assert counter.count == 1


def prints_in_loops(n):
    table = {"x": 0}
    for i in tf.range(n):
        print("outer")
        for j in tf.range(i):
            print("inner")
            table["x"] += j
    return table["x"]


def test_loops_print_once_while_they_are_traced(capsys):
    assert tf.function(prints_in_loops)(tf.constant(4)).numpy() == 4
    assert capsys.readouterr().out == "outer\ninner\n"


module_object = Counter()


def counts_in_a_module(n):
    for i in tf.range(n):
        module_object.count = module_object.count + i
        module_object.last = i
    return module_object.count + module_object.last


def test_loops_carry_attributes_of_objects_of_a_module():
    assert tf.function(counts_in_a_module)(tf.constant(4)).numpy() == 9


def test_tensors_are_not_used_where_they_are_not_known():
    kept = []

    @tf.function
    def keeps(x):
        kept.append(x * 2)
        return x

    @tf.function
    def uses(x):
        return x + kept[0]

    keeps(tf.constant(1))
    for use in (uses, lambda x: kept[0] + x, lambda x: tf.add(x, kept[0])):
        with pytest.raises(errors.InaccessibleTensorError, match="Use return values, explicit Python locals"):
            use(tf.constant(1))


def returns_in_a_loop(n):
    for i in tf.range(n):
        if i == 3:
            return i
    return -1


def looks_at_a_number(n):
    return 1 if n else 2


def looks_at_several(n):
    while tf.stack([n, n]) > 0:
        n -= 1
    return n


def returns_other_structures(n):
    if n > 0:
        return n, 1
    return n, 2, 3


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (returns_in_a_loop, NotImplementedError, "a return statement cannot be placed inside this TensorFlow loop"),
        (looks_at_a_number, ValueError, "condition of conditional expression expected to be `tf.bool` scalar, got"),
        (looks_at_several, ValueError, "condition of while loop expected to be `tf.bool` scalar"),
        (returns_other_structures, TypeError, "must return the same nested structure in both branches"),
    ],
)
def test_what_tensorflow_refuses(function, error, text):
    with pytest.raises(error, match=re.escape(text)):
        tf.function(function)(tf.constant(3))


def none_before_the_loop(n):
    last = None
    for i in tf.range(n):
        last = i * 2
    return last


def test_a_loop_gives_a_value_to_what_was_none():
    assert tf.function(none_before_the_loop)(tf.constant(3)).numpy() == 4


def test_ranges_do_not_run_backwards():
    for wrong in ((5, 1), (1, 4, 0), (-2,)):
        with pytest.raises(errors.InvalidArgumentError):
            tf.range(*wrong)
    assert tf.range(3, 3).numpy().tolist() == []


def test_maximum_iterations_end_a_while_loop():
    @tf.function
    def counted(n, limit):
        x, ag = 0, tf.constant(1)
        while x < n:
            tf.autograph.experimental.set_loop_options(maximum_iterations=limit)
            x += 1
            ag *= 2
            if x == 7:
                break
        return x, ag

    def ends(n, limit):
        return [value.numpy() for value in counted(tf.constant(n), limit)]

    assert [ends(8, 5), ends(3, 5), ends(8, tf.constant(2)), ends(8, 0), ends(20, 10)] == [
        [5, 32], [3, 8], [2, 4], [0, 1], [7, 128]
    ]  # fmt: skip


def test_a_for_loop_has_its_own_number_of_iterations():
    @tf.function
    def items(n):
        x = 0
        for _ in tf.range(n):
            tf.autograph.experimental.set_loop_options(maximum_iterations=5)
            x += 1
        return x

    assert items(tf.constant(8)).numpy() == 8      # as in TensorFlow, which sets the option itself
