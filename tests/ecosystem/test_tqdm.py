"""tqdm: bars around loops of staged functions, and staged functions in loops with bars."""

import io

from tests.ecosystem.probes import Probes, package

tqdm = package("tqdm")
PROBES = Probes()


@PROBES("5", "0")
def a_loop(n):
    total = 0
    for i in tqdm.tqdm(range(n), file=io.StringIO()):
        if i % 2:
            total += i
    return total


@PROBES("[1.0, -2.0, 3.0]")
def a_list(xs):
    kept = []
    for x in tqdm.tqdm(xs, disable=True):
        if x > 0:
            kept.append(x * 2)
    return kept


@PROBES("3")
def by_hand(n):
    bar = tqdm.tqdm(total=n, file=io.StringIO())
    for _ in range(n):
        bar.update(1)
    bar.close()
    return bar.n


@PROBES("[3, 1, 2]")
def around_a_staged_function(stage, xs):
    score = stage(lambda x: x * x if x > 1 else 0)
    return [score(x) for x in tqdm.tqdm(xs, disable=True)]


test_probe = PROBES.test()
