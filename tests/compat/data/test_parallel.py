"""TensorFlow's spelling: datasets whose elements threads compute ahead."""

import gc
import subprocess
import sys
import threading

import pytest

import autograph.compat.tensorflow as tf
from autograph.compat.tensorflow.data.parallel import ParallelMap, Prefetched

Dataset = tf.data.Dataset


def called(function, dtype=tf.int64):
    """A function for `map` that calls Python."""
    return lambda x: tf.py_function(function, [x], dtype)


def meeting(count):
    """A function that returns when `count` threads are in it."""
    barrier = threading.Barrier(count, timeout=30)

    def wait(x):
        barrier.wait()
        return x

    return wait


def test_calls_run_at_the_same_time():
    found = Dataset.range(6).map(called(meeting(3)), num_parallel_calls=3)
    assert [int(x) for x in found] == [0, 1, 2, 3, 4, 5]


def test_sources_of_an_interleaving_run_at_the_same_time():
    wait = called(meeting(2))
    found = Dataset.range(2).interleave(
        lambda x: Dataset.from_tensors(x).map(wait), cycle_length=2, num_parallel_calls=2
    )
    assert [int(x) for x in found] == [0, 1]


def test_results_may_come_as_they_are_ready():
    free = threading.Event()

    def slow_at_first(x):
        if x == 0:
            assert free.wait(30)
        return x

    found = iter(Dataset.range(3).map(called(slow_at_first), num_parallel_calls=2, deterministic=False))
    assert int(next(found)) == 1
    free.set()
    assert sorted(int(x) for x in found) == [0, 2]


def test_prefetching_runs_ahead_of_the_reader():
    read = []

    def note(x):
        read.append(int(x))
        enough.set() if len(read) == 3 else None
        return x

    enough = threading.Event()
    found = iter(Dataset.range(9).map(called(note)).prefetch(3))
    assert enough.wait(30)
    assert [int(x) for x in found] == list(range(9)) == read


@pytest.mark.parametrize("ahead", [lambda data: data, lambda data: data.prefetch(2)])
@pytest.mark.parametrize("threads", [None, 2])
def test_errors_come_in_their_place_and_reading_goes_on(ahead, threads):
    def checked(x):
        return tf.debugging.check_numerics(1 / tf.cast(x - 2, tf.float32), "not finite")

    found = ahead(Dataset.range(5).map(checked, num_parallel_calls=threads))
    iterator = iter(found)
    assert [float(next(iterator)) for _ in range(2)] == [-0.5, -1.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"):
        next(iterator)
    assert [float(x) for x in iterator] == [1.0, 0.5]
    assert len(list(found.ignore_errors())) == 4


def test_threads_end_with_their_iterator():
    before = set(threading.enumerate())
    found = iter(Dataset.range(10**9).map(lambda x: x + 1, num_parallel_calls=3).prefetch(4).batch(2).prefetch(2))
    assert next(found).numpy().tolist() == [1, 2]
    started = set(threading.enumerate()) - before
    assert len(started) == 5
    del found
    gc.collect()
    for thread in started:
        thread.join(30)
        assert not thread.is_alive()


def test_iterators_that_ended_stay_ended():
    for found in (Prefetched(lambda: iter([1]), 2), ParallelMap(abs, iter([-1]), 2, True)):
        assert list(found) == [1]
        assert list(found) == []


def test_nothing_hangs_at_exit():
    program = """
import time
import autograph.compat.tensorflow as tf

def forever():
    yield 1
    time.sleep(10**6)

blocked = iter(tf.data.Dataset.from_generator(forever, tf.int32, ()).prefetch(3))
waiting = iter(tf.data.Dataset.range(10**9).map(lambda x: x, num_parallel_calls=2).prefetch(1))
print(int(next(blocked)), int(next(waiting)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "1 0\n"
