"""Beam search: the likeliest sentences, rather than the likeliest next letters.

    python examples/beams.py [--short]

Letters follow one another as they do in Python's language reference, which comes with Python: a table says how likely
each is after two others. The search keeps some beginnings, extends each by every letter, and goes on with the best,
until the best one is complete. The search is one staged function; the same function as plain Python is the yardstick.
"""

from __future__ import annotations

import sys
import timeit
from typing import Any

import numpy as np
from reporting import table

import autograph as ag


def chances(text: str) -> tuple[str, Any]:
    """The letters, and the logarithms of how likely each is after two others, of shape (letters, letters, letters)."""
    letters = "".join(sorted(set(text)))
    numbers = np.array([letters.index(each) for each in text])
    counts = np.full((len(letters),) * 3, 1e-3)
    np.add.at(counts, (numbers[:-2], numbers[1:-1], numbers[2:]), 1)
    return letters, np.log(counts / counts.sum(axis=-1, keepdims=True))


def search(table: Any, first: Any, second: Any, stop: Any, width: int, length: int) -> Any:
    """The best sequence found that begins with two letters and ends with `stop`, or only these letters; and its score.

    The score is the logarithm of how likely it is, by a power of its length (Wu and others, 2016).
    """
    letters = table.shape[0]
    beams = np.zeros((width, length), int)
    beams[:, 0], beams[:, 1] = first, second
    scores = np.full(width, -np.inf)
    scores[0] = 0.0
    best, best_score = beams[0], -np.inf
    for at in range(2, length):
        grown = scores[:, None] + table[beams[:, at - 2], beams[:, at - 1]]
        order = np.argsort(-grown, axis=None)[:width]
        beams, scores = beams[order // letters], np.ravel(grown)[order]
        beams[:, at] = order % letters
        for beam in range(width):
            if beams[beam, at] == stop:
                score = scores[beam] / (at + 1) ** 0.6
                if score > best_score:
                    best, best_score = beams[beam, : at + 1].copy(), score
                scores[beam] = -np.inf
        if np.max(scores) / length**0.6 < best_score:
            break
    return best, best_score


def main(short: bool = False) -> dict[str, float]:
    from pydoc_data.topics import topics

    names = "for if while try with class return function assignment numbers strings import".split()
    text = " ".join(" ".join(topics[name] for name in names).split())
    letters, logarithms = chances(text)
    staged = ag.function(search)
    rows, found = [], {"same": 1.0}
    for width in (1, 4) if short else (1, 4, 16, 64):
        arguments = logarithms, letters.index("T"), letters.index("h"), letters.index("."), width, 60
        best, score = staged(*arguments)
        times = [min(timeit.repeat(lambda: each(*arguments), number=1)) * 1e3 for each in (search, staged)]  # noqa: B023
        written = "".join(letters[each] for each in best) if score > -np.inf else "(none is complete)"
        found["same"] *= float(np.array_equal(best, search(*arguments)[0]))
        found[f"score {width}"] = float(score)
        rows.append([written, width, float(score), *times])
    found["plain"] = sum(bool(trace.plain) for trace in staged.traces)
    print(table("The likeliest sentence", ["", "beams", "score", "ms plain", "ms staged"], rows))
    return found


if __name__ == "__main__":
    main("--short" in sys.argv)
