"""TensorBoard, started by `autograph tensorboard`, asked over HTTP, and shown by Chromium without a window."""

from __future__ import annotations

import base64
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
DRIVER = shutil.which("chromedriver")
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1400,1000""".split()


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
            except urllib.error.HTTPError:
                if time.monotonic() > end:
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


class Browser:
    """A page in Chromium, driven by the WebDriver protocol."""

    def __init__(self, driver: str) -> None:
        self._url = driver
        options = {"binary": CHROMIUM, "args": FLAGS}
        wanted = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}}
        self._url += f"/session/{self._post('session', wanted)['sessionId']}"

    def _post(self, path: str, body: Any) -> Any:
        request = urllib.request.Request(f"{self._url}/{path}", json.dumps(body).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)["value"]

    def open(self, url: str) -> None:
        self._post("url", {"url": url})

    def run(self, script: str, *args: Any) -> Any:
        """What the body of a function of JavaScript returns. It finds elements in shadow trees, too, by `find`."""
        return self._post("execute/sync", {"script": _TEXTS + script, "args": args})

    def wait_for(self, script: str, *args: Any) -> Any:
        """What a script returns, once that is true."""
        end = time.monotonic() + PATIENCE
        while not (found := self.run(script, *args)):
            assert time.monotonic() < end, f"never true: {script}; the page shows: {self.run('return all()')}"
            time.sleep(0.3)
        return found

    def screenshot(self, path: Path) -> None:
        with urllib.request.urlopen(f"{self._url}/screenshot", timeout=PATIENCE) as answer:
            path.write_bytes(base64.b64decode(json.load(answer)["value"]))

    def close(self) -> None:
        urllib.request.urlopen(urllib.request.Request(self._url, method="DELETE"), timeout=PATIENCE).close()


_TEXTS = """
    const find = (selector, root = document) => {
        const found = [...root.querySelectorAll(selector)];
        for (const each of root.querySelectorAll('*'))
            if (each.shadowRoot) found.push(...find(selector, each.shadowRoot));
        return found;
    };
    const texts = selector => find(selector).map(each => each.textContent.trim());
    const all = () => texts('h1, h2, h3, text, title, button, .name, .title').filter(Boolean).slice(0, 200);
"""


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """Start Chromium without a window."""
    assert DRIVER is not None
    process = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = None
        while not found:
            line = process.stdout.readline()
            assert line, "chromedriver has ended"
            found = re.search(r"started successfully on port (\d+)", line)
        page = Browser(f"http://127.0.0.1:{found[1]}")
        try:
            yield page
        finally:
            page.close()
    finally:
        process.terminate()
        process.wait()
