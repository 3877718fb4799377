"""TensorBoard, started by `autograph tensorboard`, asked over HTTP, and shown by Chromium without a window."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PATIENCE = 120  # seconds until a server that does not answer is given up

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"]
FLAGS += ["--disable-dev-shm-usage", "--enable-unsafe-swiftshader", "--window-size=1400,900", "--hide-scrollbars"]


class Board:
    """A running TensorBoard."""

    def __init__(self, url: str) -> None:
        self.url = url

    def get(self, route: str, **query: str) -> str:
        """The answer to a request; while there is none, as the events are not read yet, ask again."""
        url = f"{self.url}data/{route}?{urllib.parse.urlencode(query)}"
        end = time.monotonic() + PATIENCE
        while True:
            try:
                with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
                    text = answer.read().decode()
                if text not in ("{}", "[]"):
                    return text
            except urllib.error.HTTPError as error:
                if error.code not in (400, 404) or time.monotonic() > end:
                    raise
            assert time.monotonic() < end, f"nothing at {url}"
            time.sleep(0.3)

    def json(self, route: str, **query: str) -> Any:
        return json.loads(self.get(route, **query))


@contextlib.contextmanager
def tensorboard(folder: Path) -> Iterator[Board]:
    """Start the command on a folder."""
    command = [sys.executable, "-m", "autograph", "tensorboard", "--port", "0", "--reload", "1", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"TensorBoard shows .* at (http://127\.0\.0\.1:\d+/) \(Ctrl\+C ends it\)\n", line)
        assert found, (line, process.poll(), process.stderr.read() if process.poll() is not None else "")
        yield Board(found[1])
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, errors
