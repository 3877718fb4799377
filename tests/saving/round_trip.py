"""Programs for `test_round_trip.py`: saves functions of the corpus in one process, and runs them in another one.

    round_trip.py save FOLDER THEMES     save each function, with what its calls do plain, or the reason why not
    round_trip.py run FOLDER ENGINE      load each one, and compare what the calls do; the source is not there any more
"""

from __future__ import annotations

import json
import math
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np

import autograph as ag
from autograph.errors import SaveError
from tests import outcomes

NAMES: dict[str, Any] = {"np": np, "math": math}    # by which arguments are made where the source is missing


def save(folder: Path, themes: list[str]) -> None:
    from tests import corpus_staged

    reasons: dict[str, str] = {}
    wanted: dict[str, Any] = {}
    for entry in corpus_staged.entries():
        if entry.theme not in themes and themes != ["all"]:
            continue
        function, calls = ag.function(entry.function), list(dict.fromkeys(entry.calls))
        for arguments in [*calls, *calls, *reversed(calls)]:
            outcomes.run(function, arguments, vars(entry.module))
        try:
            ag.save(function, folder / str(entry))
        except SaveError as error:
            reasons[str(entry)] = str(error)
            continue
        wanted[str(entry)] = {each: outcomes.run(entry.function, each, vars(entry.module)) for each in calls}
    (folder / "reasons.json").write_text(json.dumps(reasons, indent=1))
    (folder / "wanted.pickle").write_bytes(pickle.dumps(wanted))


def run(folder: Path, engine: str) -> None:
    assert "tests.corpus_staged" not in sys.modules
    wanted = pickle.loads((folder / "wanted.pickle").read_bytes())
    differs, uncovered, equal = {}, 0, 0
    for name, calls in wanted.items():
        function = ag.load(folder / name, engine=engine)
        for arguments, outcome in calls.items():
            try:
                found = outcomes.run(function, arguments, NAMES)
            except NameError:   # the arguments need the source
                continue
            if found.exception and found.exception[0] == "SignatureError":
                uncovered += 1      # the call ran as plain Python before
            elif found == outcome and found.raised_at == outcome.raised_at:
                equal += 1
            else:
                differs[f"{name}({arguments})"] = f"{found}, and not {outcome}"
    print(json.dumps({"equal": equal, "uncovered": uncovered, "differs": differs}))


if __name__ == "__main__":
    if sys.argv[1] == "save":
        save(Path(sys.argv[2]), sys.argv[3].split(","))
    else:
        run(Path(sys.argv[2]), sys.argv[3])
