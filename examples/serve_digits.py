"""A classifier of handwritten digits is trained, saved, served, and asked over HTTP: it says what it said before.

    python examples/serve_digits.py [--short]    # after: pip install "autograph-py[save,serve,examples]"

The training is that of digits.py. The server is a process of its own, which has neither this file nor digits.py, but
the saved directory only. It is asked in three ways: rows of JSON, columns of JSON, and an array in the format .npy.
"""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import digits
import numpy as np
from reporting import table

import autograph as ag
from autograph import nn


class Classifier(ag.Module):
    """The digit of each image, and how sure that is."""

    def __init__(self, network: ag.Module) -> None:
        self.network = network

    @ag.function
    def __call__(self, images: Any) -> Any:
        chances = nn.softmax(self.network(images))
        return {"digit": chances.argmax(axis=-1), "chance": chances.max(axis=-1)}


def trained(short: bool) -> tuple[Classifier, Any, Any]:
    """A trained classifier, and images and labels to test it."""
    images, labels, test_images, test_labels = digits.data()
    epochs = 10 if short else 40
    network, optimizer = digits.build(epochs * -(-len(images) // digits.BATCH))
    ag.function(digits.train)(network, optimizer, images, labels, epochs)
    network.eval()
    return Classifier(network), test_images, test_labels


def save(classifier: Classifier, folder: Path) -> None:
    """Save it for batches of any length."""
    ag.save(classifier, folder, signatures={"__call__": [(ag.TensorSpec((None, 64), "f4"),)]})


@contextmanager
def server(folder: Path, *options: str) -> Iterator[str]:
    """The address at which a server predicts; it is stopped in the end."""
    command = [sys.executable, "-m", "autograph", "serve", str(folder), "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    assert process.stdout is not None
    try:
        found = re.search(r"http://\S+", process.stdout.readline())
        if found is None:
            raise RuntimeError("the server did not start")
        yield f"{found[0]}:predict"
    finally:
        process.send_signal(signal.SIGTERM)
        print(process.communicate()[0].strip())


def ask(address: str, body: bytes, kind: str = "application/json") -> bytes:
    """The answer to a request."""
    answer: bytes = urllib.request.urlopen(urllib.request.Request(address, body, {"Content-Type": kind})).read()
    return answer


def are_same(answer: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether an answer has the same digits, and the same chances: BLAS rounds in other places with other threads."""
    return answer["digit"] == wanted["digit"].tolist() and np.allclose(answer["chance"], wanted["chance"], rtol=1e-6)


def main(short: bool = False) -> dict[str, Any]:
    classifier, images, labels = trained(short)
    wanted = classifier(images)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "digits"
        save(classifier, folder)
        with server(folder) as address:
            rows = json.loads(ask(address, json.dumps({"instances": images.tolist()}).encode()))["predictions"]
            columns = json.loads(ask(address, json.dumps({"inputs": {"images": images.tolist()}}).encode()))["outputs"]
            file = io.BytesIO()
            np.save(file, images)
            array = json.loads(ask(address, file.getvalue(), "application/x-npy"))["outputs"]
    found = {
        "images": len(images),
        "accuracy": float(np.mean(wanted["digit"] == labels)),
        "same from rows": are_same({name: [row[name] for row in rows] for name in wanted}, wanted),
        "same from columns": are_same(columns, wanted),
        "same from .npy": array == columns,
    }
    print("\n" + table("A served classifier", ["", "figure"], list(found.items())))
    return found


if __name__ == "__main__":
    main("--short" in sys.argv)
