"""`autograph serve` as a process of its own: it answers, and loses nothing when it is stopped under load."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.serving import models

pytest.importorskip("uvicorn")
pytest.importorskip("safetensors")
pytestmark = [pytest.mark.once, pytest.mark.skipif(os.name == "nt", reason="signals differ")]
ROOT = Path(__file__).parent.parent.parent


@contextmanager
def server(folder, *options):
    """A server on a free port, and its address."""
    command = [sys.executable, "-m", "autograph", "serve", str(folder), "--port", "0", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        first = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", first)
        assert found, first + process.stdout.read()
        yield process, int(found[1])
    finally:
        process.kill()
        process.communicate()


def ended(process):
    """The rest of its output, and its exit status."""
    rest, _ = process.communicate(timeout=60)
    return rest, process.returncode


def test_requests_and_a_signal(tmp_path):
    folder = models.save_model(tmp_path / "demo")
    with server(folder, "--name", "nice") as (process, port):
        address = f"http://127.0.0.1:{port}/v1/models/nice:predict"
        answer = urllib.request.urlopen(address, b'{"instances": [[1, 2, 3]]}')
        assert json.load(answer) == {"predictions": [[16.0, 22.0]]}
        assert json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz")) == {"status": "ok"}
        process.send_signal(signal.SIGINT)
        assert ended(process) == ("stopped; 1 of 1 calls were answered\n", 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_nothing_is_lost_when_it_is_stopped_under_load(tmp_path, number):
    """Each request that the server has begun is answered; connections end between requests, not within."""
    folder = models.save_model(tmp_path / "demo")
    with server(folder) as (process, port):
        clients = [Client(port) for _ in range(8)]
        for client in clients:
            client.start()
        while sum(client.answered for client in clients) < 200:
            time.sleep(0.01)
        process.send_signal(number)
        rest, status = ended(process)
        for client in clients:
            client.join()
    answered = sum(client.answered for client in clients)
    assert [client.problem for client in clients] == ["refused"] * len(clients)
    assert (rest, status) == (f"stopped; {answered:,} of {answered:,} calls were answered\n", 0)


class Client(threading.Thread):
    """Sends requests, and connects anew where an answer closes the connection, until none can be made."""

    def __init__(self, port):
        super().__init__()
        self.port, self.answered, self.problem = port, 0, ""

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        while not self.problem:
            try:
                if connection.sock is None:
                    connection.connect()
            except OSError:
                self.problem = "refused"
                break
            try:
                connection.request("POST", "/v1/models/demo:predict", b'{"instances": [[1, 2, 3]]}')
                response = connection.getresponse()
                body = response.read()
            except (OSError, http.client.HTTPException) as error:
                self.problem = repr(error)
                break
            if (response.status, body) != (200, b'{"predictions": [[16.0, 22.0]]}'):
                self.problem = f"{response.status} {body!r}"
            self.answered += 1
        connection.close()


def test_calls_in_flight_are_answered_and_endless_ones_given_up(tmp_path):
    folder = models.save_sleeper(tmp_path / "sleeper")
    options = "--allow-callbacks", models.PAUSE, "--timeout", "2", "--threads", "2"
    with server(folder, *options) as (process, port):
        found: dict[float, object] = {}

        def ask(seconds):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("POST", "/v1/models/sleeper:predict", json.dumps({"inputs": seconds}))
            found[seconds] = json.load(connection.getresponse())

        asking = [threading.Thread(target=ask, args=(seconds,)) for seconds in (1.5, 600.0)]
        for thread in asking:
            thread.start()
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        for thread in asking:
            thread.join()
        assert found == {1.5: {"outputs": 1.5}, 600.0: {"error": "the call did not end in 2 s"}}
        rest, status = ended(process)
        assert status == 0 and "1 calls, which have passed their time limit, are given up" in rest


def test_errors_are_one_line(cli, spawn, tmp_path):
    folder = models.save_model(tmp_path / "demo")
    with server(folder) as (_, port):
        result = spawn("serve", "demo", "--port", port)
    assert result.returncode == 2
    assert result.stderr.startswith(f"autograph: cannot listen on 127.0.0.1:{port}: Address already in use")
    models.save_sleeper(tmp_path / "sleeper")
    assert f"allow it with --allow-callbacks {models.PAUSE}" in cli("serve", "sleeper").stderr
    assert "Directory 'nowhere' does not exist" in cli("serve", "nowhere").stderr


def test_without_the_extra(write, spawn, tmp_path):
    models.save_model(tmp_path / "demo")
    write("uvicorn.py", "raise ModuleNotFoundError(name='uvicorn')")
    result = spawn("serve", "demo", path=tmp_path)
    assert result.returncode == 2
    assert result.stderr == "autograph: uvicorn is not installed: pip install 'autograph-py[serve]'\n"
