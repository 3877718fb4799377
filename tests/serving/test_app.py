"""The HTTP interface: TensorFlow Serving's two formats, arrays, limits, and errors as JSON."""

from __future__ import annotations

import io
import json
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx2")
pytest.importorskip("safetensors")

from starlette.testclient import TestClient

from autograph.serving.app import Limits, Service
from autograph.serving.model import Model
from tests.serving import models

pytestmark = pytest.mark.usefixtures("default_engine")
PREDICT = "/v1/models/demo:predict"
ROWS = [[1, 2, 3], [4, 5, 6]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return models.save_model(tmp_path_factory.mktemp("saved") / "demo")


@pytest.fixture(scope="module")
def model(folder):
    return Model(folder)


def client_of(model: Model, **limits: Any) -> TestClient:
    return TestClient(Service(model, "demo", Limits(**limits)).app(), raise_server_exceptions=False)


@pytest.fixture(scope="module")
def client(model):
    return client_of(model)


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def posted(client: TestClient, document: Any = None, status: int = 200, path: str = PREDICT, **options: Any) -> Any:
    response = client.post(path, json=document, **options) if document else client.post(path, **options)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    return json.loads(response.content)


# Formats --------------------------------------------------------------------------------------------------------------


def test_rows_and_columns(client):
    wanted = (np.array(ROWS, "f4") @ models.WEIGHTS).tolist()
    assert posted(client, {"instances": ROWS}) == {"predictions": wanted}
    assert posted(client, {"instances": [{"x": row} for row in ROWS]}) == {"predictions": wanted}
    assert posted(client, {"inputs": ROWS}) == {"outputs": wanted}
    assert posted(client, {"inputs": {"x": ROWS}, "signature_name": "serving_default"}) == {"outputs": wanted}


def test_several_outputs_have_names(client):
    query = {"inputs": {"x": ROWS, "scale": 2}, "signature_name": "both"}
    assert posted(client, query) == {
        "outputs": {"scaled": [[2, 4, 6], [8, 10, 12]], "bounds": {"low": [1, 4], "high": [3, 6]}}
    }
    query = {"inputs": {"x": ROWS, "n": 3}, "signature_name": "power"}
    assert posted(client, query) == {"outputs": {"output_0": (np.array(ROWS) ** 3).tolist(), "output_1": 3.0}}


def test_rows_of_structures(client):
    rows = [{"parts": {"a": 0.5, "b": [1]}}, {"parts": {"a": 1.5, "b": [2]}}]
    assert posted(client, {"instances": rows, "signature_name": "nested"}) == {"predictions": [1.5, 3.5]}


def test_arrays_in_and_out(client):
    x = np.array(ROWS, "f4")
    for kind in ("application/x-npy", "application/octet-stream"):
        options = {"content": npy(x), "headers": {"content-type": kind, "accept": "application/x-npy"}}
        response = client.post(PREDICT, **options)
        assert (response.status_code, response.headers["content-type"]) == (200, "application/x-npy")
        np.testing.assert_array_equal(np.load(io.BytesIO(response.content)), x @ models.WEIGHTS)
    assert posted(client, content=npy(np.asfortranarray(x))) == {"outputs": (x @ models.WEIGHTS).tolist()}
    # A function may change its arguments: the body is memory of its own.
    assert posted(client, path=f"{PREDICT}?signature_name=doubled", content=npy(x.astype("f8"))) == {
        "outputs": (x * 2).tolist()
    }


def test_an_array_is_used_where_it_lies(model, monkeypatch):
    seen = []
    monkeypatch.setattr(model, "call", lambda function, given, rows: seen.append(given["x"]) or given["x"])
    client_of(model).post(PREDICT, content=npy(np.array(ROWS, "f4")))
    (x,) = seen
    assert type(x.base.base.obj) is bytearray and x.flags.writeable


def test_numbers_that_json_does_not_have(client):
    body = b'{"inputs": [[NaN, 1, Infinity]]}'
    (found,) = posted(client, content=body)["outputs"]
    assert all(map(math.isnan, found))
    body = b'{"inputs": {"x": [[1, 2, -Infinity]], "n": 1}, "signature_name": "power"}'
    text = client.post(PREDICT, content=body).text
    assert text == '{"outputs": {"output_0": [[1.0, 2.0, -Infinity]], "output_1": 1.0}}'


def test_status_metadata_and_health(client):
    (status,) = client.get("/v1/models/demo").json()["model_version_status"]
    assert (status["state"], status["version"]) == ("AVAILABLE", "1")
    assert client.get("/v1/models/demo/versions/1").status_code == 200
    found = client.get("/v1/models/demo/metadata").json()
    assert found["model_spec"]["name"] == "demo"
    signatures = found["metadata"]["signature_def"]["signature_def"]
    assert signatures["serving_default"] == signatures["__call__"]
    assert signatures["__call__"]["inputs"]["x"] == {
        "dtype": "DT_FLOAT", "name": "x",
        "tensor_shape": {"dim": [{"size": "-1", "name": ""}, {"size": "3", "name": ""}], "unknown_rank": False},
    }  # fmt: skip
    assert [*signatures["both"]["outputs"]] == ["scaled", "bounds"]
    assert signatures["both"]["calls"][1] == {"x": "f64[?,3]", "scale": "py.float"}
    assert client.get("/healthz").json() == {"status": "ok"}


# Errors ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body, status, problem",
    [
        (b"{", 400, "the body is neither JSON nor an array"),
        (b"[" * 100_000, 400, "the body is neither JSON nor an array"),
        (b"\xff\xfe", 400, "the body is neither JSON nor an array"),
        (b"[1]", 400, 'either "instances" or "inputs"'),
        (b'{"instances": [], "inputs": []}', 400, 'either "instances" or "inputs"'),
        (b'{"instances": []}', 400, "at least one example"),
        (b'{"inputs": [], "shape": 1}', 400, "the unknown key 'shape'"),
        (b'{"inputs": 1, "signature_name": "cal"}', 404, "there is no function 'cal'; there are: __call__, both"),
        (b'{"inputs": 1, "signature_name": 5}', 400, "is no text"),
        (b'{"inputs": {"y": 1}}', 400, "there is no input 'y'; there are: x"),
        (b'{"inputs": {}}', 400, "the input 'x' is missing, which is f32[?,3]"),
        (b'{"inputs": [[1, 2]]}', 400, "`x` is f32[1,2], and not f32[?,3]"),
        (b'{"inputs": [[1, 2, 3], [1]]}', 400, "`x` is no array f32[?,3]"),
        (b'{"inputs": [["1", "2", "3"]]}', 400, "which is no array f32[?,3]"),
        (b'{"inputs": [[null, 2, 3]]}', 400, "which is no array f32[?,3]"),
        (b'{"inputs": [[1e300, 2, 3]]}', 400, "`x` is no array f32[?,3]: overflow"),
        (b'{"instances": [{"x": [1, 2, 3]}, {"y": 1}]}', 400, "instance 1 does not have the inputs of the first"),
        (b'{"inputs": [[1, 2, 3]], "signature_name": "both"}', 400, "has several inputs, so give them by name"),
        (b'{"inputs": {"x": [[1, 2, 3]], "scale": "2"}, "signature_name": "both"}', 400, "`scale` is '2', and not a"),
        (b'{"inputs": {"x": [[1, 2, 3]], "n": 1.5}, "signature_name": "power"}', 400, "`n` is 1.5, and not a number"),
        (b'{"instances": [{"x": [1, 2, 3], "n": 2}], "signature_name": "power"}', 400, "one number (py.int) for all"),
        (b'{"inputs": {"parts": {"a": [1]}}, "signature_name": "nested"}', 400, "`parts` has the parts a, b"),
        (b'{"inputs": {"parts": {"a": [1], "b": [[1.5]]}}, "signature_name": "nested"}', 400, "no array i64[?]"),
        (b'{"inputs": -2, "signature_name": "checked"}', 400, "ValueError: negative: -2"),
        (b'{"inputs": 0, "signature_name": "checked"}', 400, "ZeroDivisionError: division by zero"),
        (npy(np.ones((1, 3))), 400, "`x` is f64[1,3], and not f32[?,3]"),
        (npy(np.ones((1, 3), "f4"))[:-1], 400, "has not 11 bytes"),
        (npy(np.ones((1, 3), "f4"))[:60], 400, "the header of the array cannot be read"),
        (npy(np.array([{}]))[:-5], 400, "arrays of dtype object are not accepted"),
        (b"\x93NUMPY\x03\x00" + bytes(100), 400, "the header of the array cannot be read"),
    ],
)
def test_bodies_that_do_not_fit(client, body, status, problem):
    (found,) = posted(client, status=status, content=body).items()
    assert found[0] == "error" and problem in found[1]
    assert "\n" not in found[1] and ".py" not in found[1]


def test_other_addresses_and_methods(client):
    for path in ("/v1/models/other:predict", "/v1/models/demo/versions/2:predict"):
        assert "there is no model" in posted(client, {"inputs": 1}, 404, path)["error"]
    assert client.get("/").json() == {"error": "Not Found"}
    response = client.get(PREDICT)
    assert (response.status_code, response.headers["allow"]) == (405, "POST") and "error" in response.json()
    assert client.post("/healthz").status_code == 405


def test_results_that_are_no_array(client):
    body = b'{"inputs": {"x": [[1, 2, 3]], "n": 1}, "signature_name": "power"}'
    found = posted(client, status=400, content=body, headers={"accept": "application/x-npy"})
    assert "the result is not one array" in found["error"]


def test_errors_within_are_not_told(model, monkeypatch):
    service = Service(model, "demo", Limits())
    monkeypatch.setattr(service, "_answer", lambda *args: 1 / 0)
    client = TestClient(service.app(), raise_server_exceptions=False)
    assert posted(client, {"inputs": ROWS}, 500) == {"error": "internal error"}


# Limits ---------------------------------------------------------------------------------------------------------------


def test_large_bodies_are_refused(model):
    client = client_of(model, bytes=100)
    assert "may have 100 at most" in posted(client, {"inputs": [[1, 2, 3]] * 50}, 413)["error"]
    chunks = iter([b" " * 60, b" " * 60])       # without a length
    assert "more than the 100 bytes" in posted(client, status=413, content=chunks)["error"]
    assert "outputs" in posted(client, {"inputs": ROWS})
    assert "too many requests" in posted(client_of(model, bodies=10), {"inputs": ROWS}, 503)["error"]


def test_long_calls_and_full_queues(tmp_path):
    sleeper = Model(models.save_sleeper(tmp_path / "sleeper"), [models.PAUSE])
    service = Service(sleeper, "demo", Limits(seconds=0.2, threads=1, waiting=1))
    with TestClient(service.app()) as client, ThreadPoolExecutor(8) as pool:
        assert posted(client, {"inputs": 0.01}) == {"outputs": 0.01}
        assert posted(client, {"inputs": 0.5}, 504) == {"error": "the call did not end in 0.2 s"}
        found = [*pool.map(lambda _: client.post(PREDICT, json={"inputs": 0.1}), range(8))]
        codes = {each.status_code for each in found}
        assert 503 in codes and codes <= {200, 503, 504}
        assert all(each.headers.get("retry-after") == "1" for each in found if each.status_code == 503)


def test_answers_close_the_connection_while_it_stops(model):
    service = Service(model, "demo", Limits())
    client = TestClient(service.app())
    assert "connection" not in client.post(PREDICT, json={"inputs": ROWS}).headers
    service.is_stopping = True
    response = client.post(PREDICT, json={"inputs": ROWS})
    assert (response.status_code, response.headers["connection"]) == (200, "close")
    assert client.get("/healthz").status_code == 503


# Threads --------------------------------------------------------------------------------------------------------------


def test_calls_from_several_threads(model):
    """Each of many calls at the same time gets its own result, though they share compiled functions."""
    assert model.is_pure is False      # `doubled` changes its argument
    inputs = model.function()
    arrays = [np.full((n % 7 + 1, 3), n, "f4") for n in range(400)]
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(lambda x: inputs.function(x), arrays)]
    for x, result in zip(arrays, found):
        np.testing.assert_array_equal(result, x @ models.WEIGHTS)


def test_calls_that_change_variables_run_one_at_a_time(tmp_path):
    counter = Model(models.save_counter(tmp_path / "counter"))
    assert not counter.is_pure
    client = client_of(counter, threads=8)
    with ThreadPoolExecutor(8) as pool:
        [*pool.map(lambda _: posted(client, {"inputs": 50}), range(100))]
    assert posted(client, {"inputs": 0}) == {"outputs": 5000}
