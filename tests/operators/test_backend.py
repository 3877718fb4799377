"""Who owns a value, who is tracing, and what is said of constructs that a backend does not stage."""

import pickle
import threading
from types import SimpleNamespace

import pytest

import autograph as ag
import autograph.operators as ag__
from autograph.backends import discovery
from autograph.errors import StagingError
from autograph.operators.backend import (
    ACTIVE,
    BACKENDS,
    STAGED,
    WATCHED,
    Backend,
    Watch,
    owner,
    register,
    responsible,
    traced_by,
    tracing,
    unregister,
)
from tests.recording import Recorder, Staged, recorded


class Lazy(Backend):
    """Owns values, stages nothing."""

    name = "lazy"

    def owns(self, value):
        return isinstance(value, Staged)


class Joined:
    """A backend that imports nothing of this library."""

    def owns(self, value):
        return isinstance(value, Staged)

    def if_stmt(self, test, body, orelse, state):
        return "joined"


@pytest.fixture
def registered():
    discovery.register_available()      # of libraries that other tests have imported
    added, before = [], (dict(STAGED), list(WATCHED))

    def add(backend, **options):
        register(backend, **options)
        added.append(backend)
        return backend

    yield add
    for backend in added:
        unregister(backend)
    assert BACKENDS == ACTIVE == [] and (STAGED, WATCHED) == before


def test_nobody_owns_anything_at_first():
    assert owner(Staged("x")) is None
    assert tracing() is None


def test_the_last_registered_owner_wins(registered):
    registered(Recorder())
    last = registered(Recorder())
    assert owner(Staged("x")) is last
    assert owner(5) is owner([Staged("x")]) is None


def test_third_parties_join_by_structure(registered):
    registered(Joined())
    assert ag__.if_stmt(Staged("x"), lambda: 1, lambda: 2) == "joined"
    assert ag__.if_stmt(5, lambda: 1, lambda: 2) == 1


def test_a_backend_may_own_types(registered):
    asked, typed = registered(Recorder()), registered(Recorder(), types=(Staged,))
    typed.owns = None  # it is not asked
    asked.owns = lambda value: type(value) is complex or isinstance(value, Staged)
    assert owner(Staged("x")) is responsible(1, Staged("x")) is typed
    assert owner(5) is None and owner(5j) is None and owner([]) is None

    class Special(Staged):
        """Of another type."""

    assert owner(Special("x")) is asked
    other = registered(Recorder(), types=(Staged, Special))
    assert owner(Staged("x")) is owner(Special("x")) is other
    unregister(typed)
    assert owner(Staged("x")) is other
    unregister(other)
    assert owner(Staged("x")) is owner(Special("x")) is asked
    register(typed, types=(Staged,))
    register(other)


def test_who_traces_may_keep_track_of_containers(registered):
    backend, other = registered(Recorder(), types=(Staged,)), registered(Recorder())
    numbers = [1, 2]
    backend.owns = lambda value: value is numbers
    assert owner(numbers) is None
    with traced_by(backend):
        assert owner(numbers) is backend and owner([]) is None and owner(1) is None
        ag__.if_stmt(numbers, lambda: 1)
        ag__.if_exp(numbers, lambda: 1, lambda: 2)
        ag__.not_(numbers)
        ag__.and_(lambda: numbers, lambda: 1)
        ag__.for_stmt(numbers, lambda item: None)
        ag__.assert_stmt(lambda: numbers)
        with traced_by(other):
            assert owner(numbers) is None
    assert backend.constructs == ["if_stmt", "if_exp", "not_", "and_", "for_stmt", "assert_stmt"]


@pytest.mark.parametrize("types", [(), (Staged,)])
def test_every_operator_finds_the_owner(registered, types):
    backend = registered(Recorder(), types=types)
    x = Staged("x")
    ag__.if_stmt(x, lambda: 1)
    ag__.if_exp(x, lambda: 1, lambda: 2)
    ag__.while_stmt(lambda: x, lambda: None)
    ag__.for_stmt(x, lambda item: None)
    ag__.for_stmt([1], lambda item: None, (), lambda: x)
    ag__.and_(lambda: x, lambda: 1)
    ag__.or_(lambda: x, lambda: 1)
    ag__.not_(x)
    ag__.compare(1, "<", lambda: x, "<", lambda: 2)
    ag__.in_(1, x)
    ag__.list_comp(x, lambda item: item)
    ag__.set_comp([1], lambda item: item, lambda item: x)
    list(ag__.gen_exp([1], lambda item: item, lambda item: x))
    ag__.assert_stmt(lambda: x)
    ag__.len_(x)
    ag__.sum_([], start=x)
    assert backend.constructs == [
        "if_stmt", "if_exp", "while_stmt", "for_stmt", "not_", "for_stmt", "and_", "or_", "not_", "and_", "in_",
        "list_comp", "set_comp", "gen_exp", "assert_stmt", "len", "sum",
    ]  # fmt: skip


def test_the_innermost_trace_counts(registered):
    outer, inner = registered(Recorder()), registered(Recorder())
    with traced_by(outer):
        assert tracing() is outer
        with traced_by(inner), traced_by(outer), traced_by(inner):
            assert tracing() is inner
        assert tracing() is outer
    assert tracing() is None


def test_a_trace_ends_with_an_exception(registered):
    with pytest.raises(KeyError), traced_by(registered(Recorder())):
        raise KeyError
    assert tracing() is None and ACTIVE == []


def test_other_threads_do_not_trace(registered):
    seen = []
    with traced_by(registered(Recorder())):
        thread = threading.Thread(target=lambda: seen.extend([tracing(), ag__.call(len)]))
        thread.start()
        thread.join()
    assert seen == [None, len]


def test_watched_backends_are_asked_where_a_function_of_convert_is_called(registered):
    @ag.convert
    def function(x):
        return x if x else "none"

    watched = registered(Lazy(), watch=True)
    watched.enter = lambda converted: lambda *args: ("entered", converted(*args))
    assert tracing() is None and function(0) == "none"
    watched.tracing = lambda: True
    assert tracing() is watched and function(0) == ("entered", "none")
    other = registered(Recorder())
    assert responsible(1, Staged("x")) is other
    with traced_by(other):
        assert tracing() is other and function(0) == "none"


def test_the_state_of_a_watched_backend_may_be_its_librarys(registered):
    library = SimpleNamespace(value=(idle := object()))
    backend = Lazy()
    backend.enter = lambda converted: lambda *args: ("entered", converted(*args))
    function = ag.convert(lambda x: x)
    registered(backend, watch=Watch(backend, library, idle))
    assert tracing() is None and function(0) == 0
    library.value = None
    assert tracing() is backend and function(0) == ("entered", 0)
    other = registered(Lazy(), watch=True)
    assert tracing() is backend and function(0) == ("entered", 0)
    other.tracing = lambda: True
    assert tracing() is other and function(0) == 0


def test_there_is_one_list_of_watched_backends():
    assert pickle.loads(pickle.dumps(WATCHED)) is WATCHED


def test_declining_leaves_it_to_python(registered):
    registered(Recorder()).if_stmt = lambda *args: NotImplemented
    with pytest.raises(TypeError, match="no concrete value"):
        ag__.if_stmt(Staged("x"), lambda: 1, None)


def stages_nothing(run):
    x, xs = Staged("x"), [1, Staged("x")]
    return {
        "`if` statements": lambda: ag__.if_stmt(x, run, run),
        "conditional expressions": lambda: ag__.if_exp(x, run, run),
        "`while` loops": lambda: ag__.while_stmt(lambda: x, run),
        "`for` loops": lambda: ag__.for_stmt(x, run),
        "`and` and chained comparisons": lambda: ag__.compare(1, "<", lambda: x, "<", lambda: 2),
        "`or`": lambda: ag__.or_(lambda: x, run),
        "`not`": lambda: ag__.not_(x),
        "`in`": lambda: ag__.not_in(x, [1]),
        "list comprehensions": lambda: ag__.list_comp(xs, lambda x: x, lambda x: x == 1),
        "set comprehensions": lambda: ag__.set_comp(x, run),
        "dict comprehensions": lambda: ag__.dict_comp(x, run, run),
        "generator expressions": lambda: ag__.gen_exp(x, run),
        "`assert`": lambda: ag__.assert_stmt(lambda: x),
        "range()": lambda: ag__.range_(x),
        "max()": lambda: ag__.max_([], default=x),
    }


@pytest.mark.parametrize("construct", stages_nothing(None))
def test_what_is_not_staged_is_named_with_the_users_line(registered, construct):
    registered(Lazy())
    with pytest.raises(StagingError) as caught:
        stages_nothing(lambda *_: pytest.fail("ran a body"))[construct]()
    assert f"the backend lazy does not stage {construct}. " in str(caught.value)
    assert caught.value.filename == __file__
    assert construct in open(__file__).readlines()[caught.value.lineno - 1]


def test_plain_values_are_declined(registered):
    lazy = registered(Lazy())
    with traced_by(lazy):
        assert ag__.list_comp([1], str) == ["1"]
        assert ag__.in_(1, [1])
        ag__.for_stmt([1], print)
        ag__.while_stmt(lambda: False, print)
        assert ag__.call(print) is ag__.ref(print) is ag__.raise_(print) is print
        assert ag__.len_([1]) == 1


def test_builtins_go_to_methods_of_their_name(registered):
    class WithLength(Lazy):
        def len_(self, value):
            return "staged length"

    registered(WithLength())
    assert ag__.len_(Staged("x")) == "staged length"


def test_recorded_cleans_up():
    with recorded(tracing=True) as backend:
        assert BACKENDS == ACTIVE == [backend]
    assert BACKENDS == ACTIVE == []
