"""How many requests `autograph serve` answers, and how fast: a small function and the classifier of digits.

    python benchmarks/serving.py [--seconds 5]

wrk (https://github.com/wg/wrk) sends requests over 1, 8 and 64 connections, from the same machine, so that it takes
processor time of its own. Then servers are stopped under load by SIGTERM, and requests without an answer are counted.
"""

from __future__ import annotations

import argparse
import http.client
import io
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import show

import autograph as ag

sys.path.append(str(Path(__file__).parent.parent / "examples"))
import serve_digits

CONNECTIONS = 1, 8, 64
SCRIPT = """
wrk.method, wrk.path, wrk.body = "{method}", "{path}", nil
wrk.headers["Content-Type"] = "{kind}"
local file = io.open("{body}", "rb")
if wrk.method == "POST" then wrk.body = file:read("*a") end
function done(summary, latency, requests)
    local e = summary.errors
    io.write(string.format("\\n= %d %d %d %d %d %d %d\\n", summary.requests, summary.duration, latency:percentile(50),
        latency:percentile(99), e.connect, e.read + e.write + e.timeout, e.status))
end
"""


def twice(x: Any) -> Any:
    """The small function."""
    return x * 2 + 1


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def bodies(images: Any) -> dict[str, list[tuple[str, str, bytes]]]:
    """The requests to each model: names, types, and bodies; without one it is `/healthz`, which calls no function."""
    image = json.dumps({"instances": images[:1].tolist()}).encode()
    return {
        "twice": [("nothing", "", b""), ("3 numbers, JSON", "application/json", b'{"instances": [[1.5, 2.5, 3.5]]}')],
        "digits": [
            ("1 image, JSON", "application/json", image),
            ("1 image, .npy", "application/x-npy", npy(images[:1])),
            ("32 images, .npy", "application/x-npy", npy(images[:32])),
            ("4096 images, .npy", "application/x-npy", npy(np.resize(images, (4096, 64)))),
        ],
    }


def load(address: str, kind: str, body: bytes, connections: int, seconds: int, folder: Path) -> list[int]:
    """Requests, microseconds, median and 99th percentile of latency, and errors: connections, answers, status."""
    (folder / "body").write_bytes(body)
    path = f"/{address.split('/', 3)[3]}" if body else "/healthz"
    method = "POST" if body else "GET"
    script = SCRIPT.format(method=method, path=path, kind=kind, body=folder / "body")
    (folder / "wrk.lua").write_text(script)
    options = ["-t", str(min(connections, 2)), "-c", str(connections), "-d", f"{seconds}s", "-s", "wrk.lua"]
    done = subprocess.run(["wrk", *options, address], cwd=folder, capture_output=True, text=True, check=True)
    return [int(each) for each in done.stdout.rpartition("= ")[2].split()]


def rates(folder: Path, images: Any, seconds: int) -> list[list[str]]:
    rows = []
    for name, requests in bodies(images).items():
        with serve_digits.server(folder / name) as address:
            for title, kind, body in requests:
                load(address, kind, body, 1, 1, folder)      # to warm up
                for connections in CONNECTIONS:
                    count, micros, median, late, *errors = load(address, kind, body, connections, seconds, folder)
                    figures = f"{count / micros * 1e6:,.0f}", f"{median / 1e3:.2f}", f"{late / 1e3:.2f}"
                    rows.append([f"{name}: {title}", str(connections), *figures, str(sum(errors))])
    return rows


class Client(threading.Thread):
    """Sends requests over one connection, and over a new one where the server closes it, until it takes no more."""

    def __init__(self, address: str, body: bytes) -> None:
        super().__init__()
        self.host, self.path = address.split("/", 3)[2:]
        self.body = body
        self.answered = self.lost = 0

    def run(self) -> None:
        connection = http.client.HTTPConnection(self.host, timeout=60)
        while not self.lost:
            try:
                if connection.sock is None:
                    connection.connect()
            except OSError:
                break
            try:
                connection.request("POST", f"/{self.path}", self.body)
                answer = connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):
                self.lost += 1
                break
            self.lost += answer.status != 200
            self.answered += answer.status == 200


def stopped(folder: Path, images: Any, connections: int) -> list[str]:
    """Stop a server under load: requests that were answered, and those that were not."""
    _, _, body = bodies(images)["digits"][1]
    with serve_digits.server(folder / "digits") as address:
        clients = [Client(address, body) for _ in range(connections)]
        for client in clients:
            client.start()
        time.sleep(1)
    for client in clients:
        client.join()
    return [str(connections), f"{sum(each.answered for each in clients):,}", str(sum(each.lost for each in clients))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=5, help="of each measurement")
    seconds = parser.parse_args().seconds
    if shutil.which("wrk") is None:
        raise SystemExit("skipped: wrk is not installed (apt-get install wrk, brew install wrk)")
    classifier, images, _ = serve_digits.trained(short=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        serve_digits.save(classifier, folder / "digits")
        ag.save(ag.function(twice), folder / "twice", signatures=[(ag.TensorSpec((None, 3), "f8"),)])
        head = ["request", "connections", "requests a second", "median ms", "99 % ms", "errors"]
        show("autograph serve", head, rates(folder, images, seconds))
        head = ["connections", "answered", "without an answer"]
        show("Stopped after 1 s of load", head, [stopped(folder, images, each) for each in CONNECTIONS])


if __name__ == "__main__":
    main()
