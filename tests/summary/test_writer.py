"""Writers: what they write is what TensorBoard reads."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import wave

import numpy as np
import pytest

import autograph as ag
from tests.events import events_in, values_in


@pytest.fixture
def writer(tmp_path):
    with ag.summary.create_file_writer(tmp_path / "run") as writer:
        yield writer


def written(writer):
    writer.flush()
    return values_in(writer.logdir)


def plugin(writer):
    """The plugin that shows the only summary."""
    writer.flush()
    ((value,),) = (event.summary.value for event in events_in(writer.logdir))
    return value.metadata.plugin_data.plugin_name


def test_scalars(writer):
    writer.scalar("loss", 0.5, 0)
    writer.scalar("loss", np.float32(0.25), np.int64(1))
    writer.scalar("loss", np.array([[2]]), ag.Variable(7))
    writer.scalar("loss", ag.Variable(3.0), 8)
    assert written(writer) == [("loss", 0, 0.5), ("loss", 1, 0.25), ("loss", 7, 2.0), ("loss", 8, 3.0)]


@pytest.mark.parametrize("value", [np.arange(3), "text", 1j, None])
def test_a_scalar_is_one_real_number(writer, value):
    with pytest.raises(ValueError, match="the scalar 'loss' is one real number, not"):
        writer.scalar("loss", value, 0)
    assert written(writer) == []


def test_a_histogram_counts_values(writer):
    writer.histogram("weights", [0.0, 0.1, 1.0, 1.0, np.nan, np.inf], 3, buckets=2)
    assert written(writer) == [("weights", 3, [[0.0, 0.5, 2.0], [0.5, 1.0, 2.0]])]
    assert plugin(writer) == "histograms"


@pytest.mark.parametrize("values", [np.random.default_rng(0).normal(size=500), np.full(5, 2.5), np.zeros(0)])
def test_a_histogram_is_that_of_tensorboard(writer, values):
    from tensorboard.plugins.histogram.summary_v2 import histogram_pb
    from tensorboard.util.tensor_util import make_ndarray

    writer.histogram("weights", values, 0)
    ((_, _, rows),) = written(writer)
    expected = make_ndarray(histogram_pb("weights", values).value[0].tensor)
    np.testing.assert_allclose(rows, expected, rtol=1e-12)


@pytest.mark.parametrize("shape", [(4, 6), (4, 6, 1), (4, 6, 2), (4, 6, 3), (5, 4, 6, 4)])
def test_images_are_png(writer, shape):
    from PIL import Image

    writer.image("picture", np.linspace(0, 1, np.prod(shape)).reshape(shape), 1)
    ((_, _, (width, height, *pictures)),) = written(writer)
    assert (width, height) == (b"6", b"4") and len(pictures) == (3 if len(shape) == 4 else 1)
    picture = np.asarray(Image.open(io.BytesIO(pictures[0])))
    assert picture.shape[:2] == (4, 6) and picture.min() == 0 and picture.dtype == np.uint8
    assert plugin(writer) == "images"


def test_pixels_are_clipped(writer):
    from PIL import Image

    writer.image("floats", np.array([[-1, 0.5, 2, np.nan]]), 0)
    writer.image("integers", np.array([[-1, 128, 300, 0]]), 0)
    pictures = [parts[2] for _, _, parts in written(writer)]
    assert [np.asarray(Image.open(io.BytesIO(each))).tolist() for each in pictures] == [
        [[0, 127, 255, 0]], [[0, 128, 255, 0]]
    ]  # fmt: skip


def test_an_image_has_a_shape_of_images(writer):
    with pytest.raises(ValueError, match=r"the image 'x' has a shape .*, not an array of shape \(3,\)"):
        writer.image("x", np.arange(3), 0)


def test_sounds_are_wav(writer):
    writer.audio("a", np.array([0.0, 1.0, -2.0]).reshape(1, 3, 1), 8000, 0)
    ((_, _, (sound,)),) = written(writer)    # without its label, which TensorBoard leaves out
    with wave.open(io.BytesIO(sound)) as file:
        assert (file.getnchannels(), file.getframerate()) == (1, 8000)
        assert np.frombuffer(file.readframes(3), "<i2").tolist() == [0, 32767, -32767]
    assert plugin(writer) == "audio"


def test_texts(writer):
    writer.text("note", "rate **0.1**", 0)
    writer.text("table", [["a", "b"]], 0)
    assert written(writer) == [("note", 0, b"rate **0.1**"), ("table", 0, [[b"a", b"b"]])]
    with pytest.raises(ValueError, match="the text 'note' is a str, or a list or array of them, not int"):
        writer.text("note", 3, 0)


# Default --------------------------------------------------------------------------------------------------------------


def test_without_a_writer_nothing_is_written():
    assert ag.summary.default_writer() is None
    assert ag.summary.scalar("loss", 1.0, 0) is False


def test_the_innermost_writer_is_the_default(tmp_path):
    outer, inner = (ag.summary.create_file_writer(tmp_path / name) for name in ("outer", "inner"))
    with outer.as_default():
        with inner:
            assert ag.summary.scalar("x", 1, 0)
        ag.summary.histogram("y", [1, 2], 0)
        ag.summary.text("z", "word", 0)
    assert ag.summary.default_writer() is None
    assert [name for name, _, _ in values_in(tmp_path / "inner")] == ["x"]
    assert [name for name, _, _ in values_in(tmp_path / "outer")] == ["y", "z"]
    outer.scalar("open", 1, 0)


def test_a_default_for_all_threads(tmp_path):
    from autograph.summary.writer import EVERYWHERE

    writer = ag.summary.create_file_writer(tmp_path)
    writer.set_as_default()
    try:
        threads = [
            threading.Thread(target=lambda k=k: [ag.summary.scalar(f"t{k}", i, i) for i in range(50)]) for k in range(4)
        ]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    finally:
        EVERYWHERE.clear()
        writer.close()
    found = values_in(tmp_path)
    assert len(found) == 200
    assert [step for name, step, _ in found if name == "t2"] == list(range(50))


# Files ----------------------------------------------------------------------------------------------------------------


def test_a_closed_writer_says_so(tmp_path):
    with ag.summary.create_file_writer(tmp_path) as writer:
        pass
    writer.close()
    with pytest.raises(ValueError, match="is closed: write within its `with`"):
        writer.scalar("loss", 1, 0)
    assert repr(writer).endswith(", closed>")


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError):
        ag.summary.create_file_writer(tmp_path / "file" / "run")


def run(text: str, *args: str) -> str:
    done = subprocess.run([sys.executable, "-c", text, *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_left_is_written_at_the_end_of_the_process(tmp_path):
    run(
        "import sys, autograph as ag\n"
        "writer = ag.summary.create_file_writer(sys.argv[1])\n"
        "for i in range(300): writer.scalar('loss', i, i)\n",
        str(tmp_path),
    )
    assert [step for _, step, _ in values_in(tmp_path)] == list(range(300))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_writes_a_file_of_its_own(tmp_path):
    run(
        "import os, sys, autograph as ag\n"
        "writer = ag.summary.create_file_writer(sys.argv[1])\n"
        "writer.scalar('parent', 0, 0)\n"
        "child = os.fork()\n"
        "writer.scalar('child' if child == 0 else 'parent', 1, 1)\n"
        "if child: assert os.waitpid(child, 0)[1] == 0\n",
        str(tmp_path),
    )
    found = sorted((name, step) for name, step, _ in values_in(tmp_path))
    assert found == [("child", 1), ("parent", 0), ("parent", 1)]


def test_importing_autograph_does_not_import_tensorboard():
    text = "import sys, autograph as ag; ag.summary.scalar('x', 1, 0); print(*sys.modules)"
    assert not [name for name in run(text).split() if name.partition(".")[0] in ("tensorboard", "tensorflow", "PIL")]


def test_without_tensorboard_the_error_names_the_extra(tmp_path):
    text = (
        "import sys; sys.modules['tensorboard'] = None\n"
        "import autograph as ag\n"
        "try: ag.summary.create_file_writer(sys.argv[1])\n"
        "except ImportError as error: print(error)\n"
    )
    assert "pip install 'autograph-py[tensorboard]'" in run(text, str(tmp_path))
