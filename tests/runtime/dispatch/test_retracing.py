"""When a function is traced again, why, and how that is told; with a fake tracer."""

import warnings

import numpy as np
import pytest

import autograph as ag
from autograph.errors import AutographError, RetraceWarning, StagingError, StrictError, TracingError
from autograph.runtime.dispatch import specialize
from autograph.runtime.dispatch.compilation import Hooks
from autograph.runtime.dispatch.decorator import function
from autograph.runtime.graph.signature import Event, Guard, Respecialize


def reasons(staged):
    return [trace.reason for trace in staged.traces]


# Shapes ---------------------------------------------------------------------------------------------------------------


def test_the_second_shape_leaves_the_dimension_open(tracer):
    f = function(lambda x: x.sum())
    assert [f(np.ones(n)) for n in (3, 4, 5, 6, 3, 0)] == [3, 4, 5, 6, 3, 0]
    assert tracer.texts == ["x: f64[3]", "x: f64[?]"]
    assert reasons(f) == ["`x` came as f64[3] and as f64[4], so its dimension 0 is left open from now on"]


def test_only_the_dimension_that_varies(tracer):
    f = function(lambda x: x.sum())
    for shape in [(2, 3), (4, 3), (5, 3), (5, 4), (6, 7)]:
        f(np.ones(shape))
    assert tracer.texts == ["x: f64[2,3]", "x: f64[?,3]", "x: f64[?,?]"]


def test_other_ranks_and_dtypes_are_other_traces(tracer):
    f = function(lambda x: x.sum())
    f(np.ones(3)), f(np.ones((3, 3))), f(np.ones(3, "f4"))
    assert reasons(f) == [
        "the first call",
        "`x` is f64[3,3], and was f64[3]",
        "`x` is f32[3], and was f64[3,3]",
    ]


def test_several_arrays_at_once(tracer):
    f = function(lambda x, y: x @ y)
    f(np.ones((2, 3)), np.ones(3)), f(np.ones((4, 5)), np.ones(5)), f(np.ones((1, 1)), np.ones(1))
    assert tracer.texts == ["x: f64[2,3], y: f64[3]", "x: f64[?,?], y: f64[?]"]


def test_arrays_in_structures(tracer):
    f = function(lambda state: state["w"][0].sum())
    f({"w": [np.ones(2)]}), f({"w": [np.ones(3)]}), f({"w": [np.ones(4)]})
    assert tracer.texts == ["state['w'][0]: f64[2]", "state['w'][0]: f64[?]"]


def test_a_dimension_that_must_be_known(tracer):
    def before(signature):
        if None in signature.leaves[0].type.shape:
            raise Respecialize(static=("x.shape[0]",), reason="the length of x is needed, f.py:1")

    tracer.before = before
    f = function(lambda x: x.sum())
    assert [f(np.ones(n)) for n in (3, 4, 5, 4)] == [3, 4, 5, 4]
    assert tracer.texts == ["x: f64[3]", "x: f64[?]", "x: f64[4]", "x: f64[5]"]
    assert reasons(f)[-1] == "`x` is f64[5], and was f64[4]"
    assert f.explain(np.ones(4)).where("signature", text="is part of the signature").entries == [
        Event("signature", "`x.shape[0]` is part of the signature from now on: the length of x is needed, f.py:1")
    ]


def test_lists_of_other_lengths_become_one_object(tracer):
    f = function(lambda xs: sum(xs))
    assert [f([1] * n) for n in range(1, 6)] == [1, 2, 3, 4, 5]
    assert tracer.texts == ["xs[0]: py.int", "xs: list"]
    assert reasons(f) == ["`xs` came with several lengths or keys: it is one object of the graph from now on"]


def test_lists_of_mixed_parts_stay_apart(tracer):
    f = function(lambda xs: len(xs))
    f([1, "a"]), f([1, "a", None])
    assert reasons(f) == ["the first call", "`xs` has other keys or another length"]


# Static values --------------------------------------------------------------------------------------------------------


def test_static_values_are_told(tracer):
    f = function(lambda x, mode: (x, mode))
    assert [f(1, mode) for mode in (True, "a", None)] == [(1, True), (1, "a"), (1, None)]
    assert reasons(f) == [
        "the first call",
        "the static value of `mode` is 'a', and was True",
        "the static value of `mode` is None, and was 'a'",
    ]


def test_static_argnames(tracer):
    f = function(lambda x, n: x * n, static_argnames=("n",))
    assert [f(2, n) for n in (1, 2, 1.0, True)] == [2, 4, 2.0, 2]
    assert type(f(2, 1.0)) is float
    assert tracer.texts == [f"x: py.int, n={n}" for n in (1, 2, 1.0, True)]


def test_static_argnames_of_structures_and_arrays(tracer):
    f = function(lambda x, shape: np.zeros(shape) + x, static_argnames="shape")
    assert [f(1, shape).shape for shape in ([2, 3], [2, 3], (2, 3), [2])] == [(2, 3), (2, 3), (2, 3), (2,)]
    assert len(tracer) == 3
    array = np.ones(2)
    assert f(1, shape=array.astype(int)).shape == (1, 1)


def test_an_argument_that_tracing_needs(tracer):
    def before(signature):
        if not signature.static:
            raise Respecialize(static=("n",), reason="`n` is the length of a list, f.py:3")

    tracer.before = before
    f = function(lambda x, n: x * n)
    assert [f(2, n) for n in (1, 2, 1)] == [2, 4, 2]
    assert tracer.texts == ["x: py.int, n: py.int", "x: py.int, n=1", "x: py.int, n=2"]
    told = f.explain(2, 1).where("signature").entries
    assert told == [Event("signature", "`n` is part of the signature from now on: `n` is the length of a list, f.py:3")]


def test_a_tracer_that_asks_for_the_same_again(tracer):
    def before(signature):
        raise Respecialize(static=("n",), reason="it needs `n`, f.py:3")

    tracer.before = before
    f = function(lambda n: n)
    assert f(1) == 1
    assert f.traces[-1].plain == "it needs `n`, f.py:3, although `n` is known already"
    with pytest.raises(StrictError, match="is strict about 'plain' .* it needs `n`, f.py:3, although"):
        function(lambda n: n, strict="plain")(1)


def test_texts_and_functions_that_vary_become_objects(tracer):
    f = function(lambda text, g: (text, g(1)))
    f._specializer._warned = True
    assert [f(text, abs)[0] for text in "abcdefgh"] == list("abcdefgh")
    assert [f("a", lambda x: x + n)[1] for n in range(8)] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert tracer.texts[4] == "text: str, g=abs"
    assert tracer.texts[-1] == "text: str, g: function"
    assert len(tracer) < 12
    (told, _) = f.explain("a", abs).where("signature").entries
    assert told.message == "`text` has had 5 values, the last one 'e', so it is one object of the graph from now on"


def test_containers_as_the_tracer_wants_them(tracer):
    def before(signature):
        if len(signature.leaves) == 2:
            raise Respecialize(whole=("xs",), reason="its length changes, f.py:2")

    tracer.before = before
    f = function(lambda xs: xs.append(3) or xs)
    xs = [1, 2]
    assert f(xs) is xs and xs == [1, 2, 3]
    assert tracer.texts == ["xs[0]: py.int, xs[1]: py.int", "xs: list"]


def test_containers_by_reference(tracer):
    tracer.containers = ("state['xs']", "state", "model")
    f = function(lambda state, model: None)
    f({"xs": [1]}, tracer)
    assert "ag_run(a0, a1, p0['xs'], p0, a1)" in f.traces[0].entry_source


def test_what_cannot_be_staged_is_tried_with_less_staged(tracer):
    def before(signature):
        if any(leaf.cls in (str, list) for _, leaf in signature.dynamic):
            raise AutographError("a condition is not staged", "f.py", 3)

    tracer.before = before
    f = function(lambda text, xs: (text, xs))
    assert f("a" * 40, ["b"] * 20) == ("a" * 40, ["b"] * 20)
    assert f("a" * 41, ["c"] * 20) == ("a" * 41, ["c"] * 20)
    assert tracer.texts[-1].startswith(f"text='{'a' * 41}', xs[0]='c', xs[1]='c'")
    first, second = f.explain("a" * 40, ["b"] * 20).where("signature").entries
    assert first.message == (
        "`text` is part of the signature from now on, because otherwise f.py:3: a condition is not staged"
    )
    split = "`xs` is split into its items from now on, however long it is"
    assert second.message.startswith(f"{split}, because otherwise f.py:3: ")


def test_what_cannot_be_staged_at_all_runs_plain(tracer):
    def before(signature):
        raise AutographError("a condition is not staged", "f.py", 3)

    tracer.before = before
    f = function(lambda *args: args)
    for args in [(1,), ("a" * 40,), ([1] * 20, "a" * 40), ([1] * 2000,)]:
        assert f(*args) == args
        assert f.traces[-1].plain == "f.py:3: a condition is not staged"


def test_what_is_asked_for_and_cannot_be_had_is_an_error(tracer):
    def before(signature):
        raise StagingError("this loop cannot be unrolled", "f.py", 3)

    tracer.before = before
    with pytest.raises(StagingError, match="f.py:3: this loop cannot be unrolled"):
        function(lambda *args: args)(1)


# Sameness -------------------------------------------------------------------------------------------------------------


def test_arguments_that_are_one_object(tracer):
    f = function(lambda x, y: x is y)
    a, b = np.ones(2), np.ones(2)
    assert [f(a, b), f(a, a), f(b, b), f(b, a)] == [False, True, True, False]
    assert tracer.signatures[1].same == (0, 0)
    assert reasons(f) == ["the first call", "`x` and `y` are the same object"]


def test_lists_that_are_one_list(tracer):
    f = function(lambda x, y: None)
    for call in ([1], [1]), [[1]] * 2, ([2], [2]), [[2]] * 2:
        f(*call)
    assert len(tracer) == 2
    for signature, same in zip(tracer.signatures, [False, True]):
        (x, y), _ = signature.fill([1, 2])
        assert (x is y) is same


def test_many_arrays_are_all_compared(tracer):
    f = function(lambda *xs: len({id(x) for x in xs}))
    a, b, c = np.ones(1), np.ones(1), np.ones(1)
    assert [f(a, b, c), f(a, b, a), f(a, b, b), f(a, a, a), f(c, b, a)] == [3, 2, 2, 1, 3]
    assert len(tracer) == 4


# Guards ---------------------------------------------------------------------------------------------------------------


def guard(names, expression="G['y'] == y", reason="the global `y` changed, f.py:7"):
    return Guard(expression, names, reason)


def test_a_guard_that_breaks_is_the_reason(tracer):
    world = {"y": 1}
    f = function(lambda x: x + world["y"])
    tracer.guards = [guard({"G": world, "y": 1})]
    assert f(1) == f(1) == 2
    world["y"] = 2
    tracer.guards = [guard({"G": world, "y": 2})]
    assert f(1) == f(1) == 3
    assert reasons(f) == ["the first call", "the global `y` changed, f.py:7"]
    world["y"] = 1
    assert f(1) == 2  # by the first trace
    assert [trace.calls for trace in f.traces] == [3, 2]


def test_a_guard_that_raises_is_broken(tracer):
    world = {"y": 1}
    f = function(lambda x: x)
    tracer.guards = [guard({"G": world, "y": 1})]
    f(1)
    world.clear()
    tracer.guards = []
    assert f(1) == 1
    assert reasons(f)[1] == "the global `y` changed, f.py:7"


def test_guards_on_leaves_and_with_the_same_names(tracer):
    class Model:
        depth = 3

    model = Model()
    f = function(lambda self, n: self.depth)
    first, second, third = {"v": 3}, {"v": 4}, {"v": 9}
    tracer.guards = [
        guard({"c": first}, "a0.depth == c['v']", "`self.depth` changed"),
        guard({"c": second}, "c['v'] == 4", "c changed"),
        guard({"ag_run": third, "p0": 1}, "ag_run['v'] == 9 and p0", "the names of the entry's own"),
    ]
    assert f(model, 1) == f(model, 2) == 3
    model.depth = 4
    tracer.guards = []
    assert f(model, 1) == 4
    assert reasons(f)[1] == "`self.depth` changed"


def test_guards_that_never_hold_run_the_plain_function(tracer):
    tracer.guards = [guard({}, "False", "never")]
    f = function(lambda x: x + 1)
    assert f(1) == 2
    assert f.explain(1).where("plain", text="the guards of a trace just made do not hold")


# Room -----------------------------------------------------------------------------------------------------------------


def test_the_least_used_trace_makes_room(tracer):
    f = function(lambda x, mode: mode, max_traces=2, static_argnames="mode")
    f(1, "a"), f(1, "a"), f(1, "b"), f(1, "a"), f(1, "c")
    assert [dict(trace.signature.static)["mode"].value for trace in f.traces] == ["a", "c"]
    assert f.explain(1, "a").where("dropped").entries == [
        Event("dropped", "trace 2 was dropped for trace 3: there is room for 2, see max_traces")
    ]
    f(1, "b")
    assert f.traces[-1].reason == "its trace was dropped: there is room for 2, see max_traces"
    assert len(f.traces) == 2


def test_forgetting_all(tracer):
    f = function(lambda x: x)
    f(np.ones(2)), f(np.ones(3))
    f.cache_clear()
    assert f.traces == ()
    f(np.ones(4))
    assert tracer.texts == ["x: f64[2]", "x: f64[?]", "x: f64[4]"]


# Plain, strict, warnings ----------------------------------------------------------------------------------------------


def test_a_signature_that_must_run_plainly(tracer):
    tracer.plain = "it always raises while it is traced, f.py:3"
    f = function(lambda a, *rest, b, **more: (a, rest, b, more))
    assert f(1, 2, b=3, c=4) == f(1, 2, b=3, c=4) == (1, (2,), 3, {"c": 4})
    assert len(tracer) == 1
    with pytest.raises(TracingError) as caught:
        f.graph(1, 2, b=3, c=4)
    assert str(caught.value) == (
        "<lambda> has no graph for this call, for it runs as plain Python: it always raises while it is traced, f.py:3"
    )
    assert f.explain(1, 2, b=3, c=4).where("plain").entries[0].message.startswith("runs as plain Python: it always")
    assert "the result of the plain function: it always raises" in f.pretty_printed_concrete_signatures()


@pytest.mark.parametrize("kind", ["unroll", "callback", "plain", "specialize"])
def test_what_strict_refuses(tracer, kind):
    tracer.events = [Event(kind, "so and so happened", ("user.py", 12))]
    assert function(lambda x: x, strict={"retrace"})(1) == 1
    for strict in (True, kind, [kind]):
        with pytest.raises(StrictError) as caught:
            function(lambda x: x, strict=strict)(1)
        assert str(caught.value).startswith(f"user.py:12: <lambda> is strict about '{kind}' (")
        assert str(caught.value).endswith(
            f"and so and so happened. Change the code so that this does not happen, or leave '{kind}' out of strict="
        )


def test_strict_about_plain_statements(tracer, monkeypatch):
    events = [
        Event("converted", "if", ("user.py", 1)),
        Event("plain", "if: its condition is never staged: x is None", ("user.py", 2)),
        Event("plain", "call of len: a builtin that needs no conversion", ("user.py", 2)),
    ]
    monkeypatch.setattr(Hooks, "statements", lambda function: events)
    assert function(lambda x: x, strict=True)(1) == 1
    events.append(Event("plain", "while: `eval` looks at the names of its function (line 4)", ("user.py", 3)))
    assert function(lambda x: x, strict="unroll")(1) == 1
    with pytest.raises(StrictError, match=r"user.py:3: <lambda> is strict about 'plain' .* and while: `eval` looks at"):
        function(lambda x: x, strict=True)(1)


def test_strict_about_retracing(tracer):
    f = function(lambda x: x, strict="retrace")
    f(np.ones(3))
    with pytest.raises(StrictError) as caught:
        f(np.ones(4))
    assert "would be traced again: `x` came as f64[3] and as f64[4]" in str(caught.value)


def test_strict_about_specializing(tracer):
    def before(signature):
        raise Respecialize(static=("n",), reason="it is a length, f.py:3")

    tracer.before = before
    with pytest.raises(StrictError, match="`n` would become part of the signature: it is a length, f.py:3"):
        function(lambda n: n, strict="specialize")(3)


def test_one_warning_for_a_function_that_retraces_often(tracer):
    f = function(lambda x, n: n, static_argnames="n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(20):
            f(1, n)
    (warning,) = caught
    assert warning.category is RetraceWarning
    assert warning.filename == __file__
    assert str(warning.message) == (
        "<lambda> has been traced 10 times, the last time because the static value of `n` is 9, and was 8. Each trace "
        "takes much longer than a call. Pass what varies as numbers or arrays instead of static values, make objects "
        "once instead of for each call, or do not decorate this function; <lambda>.traces tells all reasons"
    )
    assert len(f.explain(1, 0).where("often")) == 1


def test_integers_that_python_does_not_write(tracer):
    f = function(lambda n: n + 1, static_argnames="n")
    assert [f(n) - n for n in (10**5000, 10**5001)] == [1, 1]
    assert reasons(f)[1] == "the static value of `n` is an int of 16613 bits, and was an int of 16610 bits"


@pytest.mark.filterwarnings("ignore::autograph.errors.RetraceWarning")
def test_a_function_that_needs_a_trace_for_each_call_is_traced_no_more(tracer, monkeypatch):
    monkeypatch.setattr(specialize, "LONG", float("inf"))   # however long this process is made to wait
    f = function(lambda n: n + 1, static_argnames="n")
    assert [f(0) + f(n) for n in range(200)] == [n + 2 for n in range(200)]
    assert len(tracer) == 128
    assert [f.traces[0].calls, f(0), f.traces[0].calls] == [201, 1, 202]
    assert f.explain(0).where("plain").entries == [
        Event(
            "plain",
            "64 traces were dropped after hardly a call, so calls without a trace run as plain Python from "
            "now on",
        )
    ]
    f.cache_clear()
    assert f(300) == 301
    assert len(tracer) == 129


@pytest.mark.filterwarnings("ignore::autograph.errors.RetraceWarning")
def test_calls_that_take_longer_than_tracing_are_worth_it(tracer, monkeypatch):
    monkeypatch.setattr(specialize, "LONG", 0)
    f = function(lambda n: n + 1, static_argnames="n")
    assert [f(n) for n in range(200)] == [n + 1 for n in range(200)]
    assert len(tracer) == 200


@pytest.mark.filterwarnings("ignore::autograph.errors.RetraceWarning")
@pytest.mark.parametrize("strict", ["plain", "derivative"])
def test_what_must_be_staged_is_traced_again_and_again(tracer, strict):
    f = function(lambda n: n + 1, static_argnames="n", strict=strict)
    assert [f(n) for n in range(200)] == [n + 1 for n in range(200)]
    assert len(tracer) == 200


class Steps:
    def __init__(self):
        self.k1, self.p1, self.a7, self.names = 1.5, 2.5, "a", ("p2", "k2")


def steps(own, x):
    return own.k1 * x + own.p1 + len(own.a7) + len(own.names)


def test_attributes_that_are_called_as_guards_call_arguments():
    staged, own = ag.function(steps, strict="plain"), Steps()
    assert [staged(own, 2.0), staged(own, 3.0)] == [8.5, 10.0]
    assert [trace.calls for trace in staged.traces] == [2]
