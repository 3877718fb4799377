"""Run the reference cases of TensorFlow's AutoGraph with only the imports changed, and say which of them fail.

    python tests/sweeps/tensorflow_cases.py CHECKOUT [--passed FILE]

CHECKOUT is a folder that holds `tensorflow/python/autograph/tests` of TensorFlow's repository. Needs `absl-py`.

With `--module tensorflow`, where TensorFlow is installed, and `--passed FILE`, TensorFlow itself runs the cases, and
the names of those that pass are kept in the file. With `--passed FILE` alone only these cases count. Exit status 1 if
more than one of them fails.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

HERE = "autograph.compat.tensorflow"


def rewritten(text: str, module: str) -> str:
    """The text of a test with its imports changed."""
    text = re.sub(r"^from tensorflow\.python\.autograph\.tests import (\w+)", r"import \1", text, flags=re.MULTILINE)
    if module == "tensorflow":
        return text
    changes = {
        r"^import tensorflow\.compat\.v1 as tf": f"from {HERE}.compat import v1 as tf",
        r"^import tensorflow as tf": f"import {HERE} as tf",
        r"^from tensorflow\.python\.autograph\.lang import (\w+)": rf"from {HERE}.python import autograph as \1",
    }
    for pattern, new in changes.items():
        text = re.sub(pattern, new, text, flags=re.MULTILINE)
    return text


def outcomes(checkout: Path, module: str, workers: int) -> dict[str, str]:
    """Each case, and the error of those that fail; an empty text for those that pass."""
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted((checkout / "tensorflow/python/autograph/tests").glob("*.py")):
            Path(folder, path.name).write_text(rewritten(path.read_text(), module))
        report = Path(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", "."]
        if workers > 1:
            command[4:4] = ["-n", str(workers)]
        environment = {**os.environ, "PYTHONPATH": folder, "TF_CPP_MIN_LOG_LEVEL": "3"}
        subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        found: dict[str, str] = {}
        for case in ElementTree.parse(report).iter("testcase"):
            if case.find("skipped") is None:
                wrong = next((part for kind in ("failure", "error") for part in case.iter(kind)), None)
                name = f"{case.get('classname')}.{case.get('name')}"
                found[name] = "" if wrong is None else (wrong.get("message") or "failed").strip()
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--module", default=HERE)
    parser.add_argument("--passed", type=Path)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    found = outcomes(options.checkout, options.module, options.workers)
    if options.module == "tensorflow" and options.passed:
        options.passed.write_text("\n".join(sorted(name for name, text in found.items() if not text)) + "\n")
    elif options.passed:
        found = {name: found.get(name, "did not run") for name in options.passed.read_text().split("\n") if name}
    failed = {name: text for name, text in found.items() if text}
    for name, text in failed.items():
        print(f"{name}: {text[:300]}")
    print(f"{len(found) - len(failed)} of {len(found)} cases pass")
    return 0 if len(failed) <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
