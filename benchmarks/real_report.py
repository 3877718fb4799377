"""Tables of the results of `real.py`, and the bounds that they do not keep.

>>> size_class({"plain": 3e-6})
'1 to 10 µs'
>>> broken({"plain": 1e-6, "ratio": 2.0, "differs": []})
['slower']
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

import common

Result = dict[str, Any]
CLASSES = {"under 1 µs": 1e-6, "1 to 10 µs": 1e-5, "10 to 100 µs": 1e-4, "from 100 µs": math.inf}
MEANS = {"under 1 µs": 1.10, "1 to 10 µs": 1.05, "10 to 100 µs": 0.8, "from 100 µs": 0.25}  # staged / plain, at most
WORST = 10
BOUNDS = {
    "differs": "do something else than plain Python",
    "failed": "did not end, or died",
    "slower": "take more than 1.1 × plain + 0.25 µs",
    "first": "take more than 1.2 × plain + 0.2 ms at first, although they stay plain",
}


def size_class(result: Result) -> str:
    return next(name for name, limit in CLASSES.items() if result["plain"] < limit)


def mean(ratios: Iterable[float]) -> float:
    """The geometric mean."""
    logarithms = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else math.nan


def broken(result: Result) -> list[str]:
    """The bounds that a function does not keep."""
    if "failed" in result:
        return ["failed"]
    plain, found = result["plain"], []
    if result["differs"]:
        found.append("differs")
    if result["ratio"] * plain > 1.1 * plain + 0.25e-6:
        found.append("slower")
    stays = result.get("tier") == 0 and not any(result.get("loops_staged", ()))
    if stays and result["first"] > 1.2 * result["first_plain"] + 0.2e-3:
        found.append("first")
    return found


def show(results: list[Result]) -> None:
    measured = [each for each in results if "plain" in each]
    _classes(measured)
    for name in CLASSES:
        worst = sorted((each for each in measured if size_class(each) == name), key=lambda each: -each["ratio"])[:WORST]
        rows = [[each["name"], *_times(each)] for each in worst]
        if rows:
            common.show(f"The slowest beside plain Python, {name}", ["", "plain", "staged", "ratio"], rows)
    for bound, title in BOUNDS.items():
        against = [each for each in results if "skipped" not in each and bound in broken(each)]
        print(f"\n{len(against)} {title}")
        for each in sorted(against, key=lambda each: -each.get("ratio", 0) * each.get("plain", 0)):
            print(f"  {each['name']}: {_told(each, bound)}")
    _staging(results, measured)


def compare(ours: list[Result], theirs: list[Result]) -> None:
    """The means of two installations side by side, and the functions whose ratios differ most."""
    others = {each["name"]: each for each in theirs if "plain" in each}
    both = [(each, others[each["name"]]) for each in ours if "plain" in each and each["name"] in others]
    rows = []
    for name in CLASSES:
        pairs = [pair for pair in both if size_class(pair[0]) == name]
        means = [mean(pair[index]["ratio"] for pair in pairs) for index in range(2)]
        rows.append([name, len(pairs), *(f"{each:.2f}" for each in means)])
    common.show("Staged / plain: this one, and the other", ["", "functions", "this", "other"], rows)
    furthest = sorted(both, key=lambda pair: -abs(math.log(pair[0]["ratio"] / pair[1]["ratio"])))[: 2 * WORST]
    rows = [[a["name"], common.duration(a["plain"]), f"{a['ratio']:.2f}", f"{b['ratio']:.2f}"] for a, b in furthest]
    common.show("Where they differ most", ["", "plain", "this", "other"], rows)


def _classes(measured: list[Result]) -> None:
    rows = []
    for name in CLASSES:
        ratios = [each["ratio"] for each in measured if size_class(each) == name]
        if ratios:
            kept = "yes" if mean(ratios) <= MEANS[name] else "no"
            rows.append([name, len(ratios), f"{mean(ratios):.2f}", f"{MEANS[name]:.2f}", kept])
    head = ["a plain call takes", "functions", "staged / plain", "at most", "kept"]
    common.show(f"{len(measured)} functions of public code, staged / plain (geometric mean)", head, rows)


def _times(each: Result) -> list[str]:
    plain = each["plain"]
    return [common.duration(plain), common.duration(plain * each["ratio"]), f"{each['ratio']:.2f}"]


def _told(each: Result, bound: str) -> str:
    if bound == "first":
        return f"{common.duration(each['first'])}, plain {common.duration(each['first_plain'])}"
    if bound == "slower":
        plain, staged, ratio = _times(each)
        return f"{staged}, plain {plain}: {ratio} (tier {each['tier']}; {_first(each['reasons'])})"
    told = each["differs"] if bound == "differs" else [each["failed"].strip().splitlines()[-1]]
    return "; ".join(told)


def _first(reasons: list[str]) -> str:
    return _placeless(reasons[0]) if reasons else "traced as a whole"


def _staging(results: list[Result], measured: list[Result]) -> None:
    """How many are staged, and of those that are not, how many have loops that are."""
    tiers = Counter(str(each["tier"]) for each in measured)
    print(f"\nTiers: {', '.join(f'{count} in {tier}' for tier, count in sorted(tiers.items()))}")
    _own_loops([each for each in measured if not each["whole"] and each["loops"]])
    skipped = Counter(each["skipped"].partition(":")[0] for each in results if "skipped" in each)
    print(f"Not measured: {sum(skipped.values())} ({', '.join(f'{n} {why}' for why, n in skipped.most_common(6))})")


OWN_LOOPS = {
    "staged": "have a loop staged on its own",
    "slower": "had one staged, which is slower than plain Python",
    "short": "have one that can be staged, but does not run long enough",
    "cannot be": "have none that can be staged",
}


def _own_loops(plain: list[Result]) -> None:
    """What became of the loops of functions that cannot be traced as a whole, and why some cannot be staged."""
    print(f"Not traced as a whole, with loops: {len(plain)}, of which")
    for outcome, title in OWN_LOOPS.items():
        print(f"  {sum(each['own_loops'] == outcome for each in plain)} {title}")
    for each in plain:
        if each["own_loops"] == "cannot be":
            print(f"    {each['name']}: {'; '.join(map(_placeless, each['loop_reasons']))}")


def _placeless(reason: str) -> str:
    """A reason without its place."""
    return reason.partition(", /")[0]
