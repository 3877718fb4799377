"""Convolutions and pooling, against loops, and staged."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import autograph as ag
from autograph import nn, optim
from tests.comparing import compare

NAMES = {"np": np, "nn": nn}
IMAGES = "np.random.default_rng(0).normal(size=({}, 7, 6, 3))"
PADDINGS = ["valid", "same", [(1, 0), (0, 1)]]


def extended(x, size, stride, padding, dilation=1, fill=0.0):
    """The images with their padding."""
    pads = [(0, 0)] * 2 if padding == "valid" else padding
    if padding == "same":
        spans = [(each - 1) * dilation + 1 for each in size]
        total = [max((-(-n // stride) - 1) * stride + span - n, 0) for n, span in zip(x.shape[1:3], spans)]
        pads = [(each // 2, each - each // 2) for each in total]
    return np.pad(x, [(0, 0), *pads, (0, 0)], constant_values=fill)


def positions(x, size, stride, dilation=1):
    """What is under the window, position by position: (batch, rows, columns, height, width, channels)."""
    spans = [(each - 1) * dilation + 1 for each in size]
    rows, columns = [range(0, n - span + 1, stride) for n, span in zip(x.shape[1:3], spans)]
    parts = [
        x[:, i : i + spans[0] : dilation, j : j + spans[1] : dilation] for i, j in itertools.product(rows, columns)
    ]
    return np.stack(parts, 1).reshape(len(x), len(rows), len(columns), *size, -1)


@pytest.mark.parametrize("padding", PADDINGS, ids=str)
@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (2, 1), (3, 1), (1, 2)])
def test_convolutions(padding, stride, dilation):
    call = f"nn.Conv2D(3, 4, (3, 2), {stride}, {padding!r}, {dilation}, rng=0), {IMAGES}"
    layer, x = eval(call.format(2), NAMES)
    layer.b.assign([1, 2, 3, 4])
    parts = positions(extended(x, (3, 2), stride, padding, dilation), (3, 2), stride, dilation)
    assert np.allclose(layer(x), np.einsum("nhwijc,ijcf->nhwf", parts, layer.w) + layer.b)
    compare(lambda layer, x: layer(x), call.format(2), call.format(3), names=NAMES)


@pytest.mark.parametrize("padding", PADDINGS, ids=str)
@pytest.mark.parametrize(("size", "stride"), [(2, 2), (3, 1), (3, 2)])
def test_pooling(padding, size, stride):
    x = eval(IMAGES.format(2), NAMES)
    parts = positions(extended(x, (size, size), stride, padding, fill=np.nan), (size, size), stride)
    for layer, reduce in ((nn.MaxPool, np.nanmax), (nn.AveragePool, np.nanmean)):
        assert np.allclose(layer(size, stride, padding)(x), reduce(parts, (3, 4)))
        call = f"nn.{layer.__name__}({size}, {stride}, {padding!r}), {IMAGES}"
        compare(lambda layer, x: layer(x), call.format(2), call.format(3), names=NAMES)


def test_sequences_are_images_of_one_column():
    x = np.random.default_rng(0).normal(size=(2, 7, 3))
    line, image = nn.Conv1D(3, 4, 3, 2, "same", rng=0), nn.Conv2D(3, 4, (3, 1), (2, 1), "same", rng=0)
    assert np.allclose(line(x), image(x[:, :, None])[:, :, 0])
    assert nn.Conv1D(3, 4, 3, bias=False, rng=0).state_dict().keys() == {"w"}


def test_integers_and_small_floats_keep_their_dtype():
    x = np.arange(8).reshape(1, 8, 1)
    assert nn.max_pool(x, 3, padding="same").ravel().tolist() == [2, 5, 7]
    for dtype in ("f4", "f8"):
        layer = nn.Conv1D(1, 2, 3, rng=0, dtype=dtype)
        assert layer(x.astype(dtype)).dtype == nn.average_pool(x.astype(dtype)).dtype == dtype


def test_pools_over_all_positions():
    x = eval(IMAGES.format(2), NAMES)
    assert np.array_equal(nn.global_max_pool(x), x.max((1, 2)))
    assert np.allclose(nn.global_average_pool(x), x.mean((1, 2)))
    assert nn.flatten(x).shape == (2, 126)


@pytest.mark.parametrize("wrap", [lambda function: function, ag.function], ids=["plain", "staged"])
def test_what_does_not_fit(wrap):
    x = np.ones((1, 4, 4, 2))
    with pytest.raises(ValueError, match=r"^the filters are for 3 channels, but the array has 2$"):
        wrap(lambda x: nn.Conv2D(3, 1, 3, rng=0)(x))(x)
    with pytest.raises(ValueError, match=r'^padding is "valid", "same" or a pair for each dimension, not \'full\'$'):
        wrap(lambda x: nn.max_pool(x, padding="full"))(x)
    with pytest.raises(ValueError, match=r"^a window of \(5, 5\) is larger than the array of \(4, 4\) elements$"):
        wrap(lambda x: nn.average_pool(x, 5))(x)
    with pytest.raises(ValueError, match=r"^\(3, 3\) is for 2 spatial dimensions, but there are 1$"):
        wrap(lambda x: nn.Conv2D(2, 1, 3, rng=0)(x))(x[0])
    with pytest.raises(ValueError, match=r"^\(\(1, 0\),\) is for 1 spatial dimensions, but there are 2$"):
        wrap(lambda x: nn.max_pool(x, padding=[(1, 0)]))(x)
    with pytest.raises(ValueError, match=r"^an array of shape \(batch, \*lengths, channels\) is needed"):
        wrap(lambda x: nn.max_pool(x))(x[0, 0])


@pytest.mark.once
def test_a_model_for_images_is_trained():
    """Staged as a whole, it comes to the same numbers as in single steps."""
    images, labels = 0.2 * np.random.default_rng(0).normal(size=(32, 6, 6, 1)), np.arange(32) % 2
    images[labels == 0, 2] += 1     # a row or a column
    images[labels == 1, :, 3] += 1

    def trainer():
        model = nn.Sequential(
            nn.Conv2D(1, 3, 3, padding="same", activation=nn.relu, rng=0), nn.BatchNorm(3), nn.MaxPool(2),
            nn.Conv2D(3, 3, 2, rng=1), nn.AveragePool(2, 1), nn.flatten, nn.Dense(3, 2, rng=2),
        )  # fmt: skip
        variables = model.trainable_variables
        optimizer = optim.Adam(0.05).init(variables)
        gradient = ag.value_and_grad(lambda x, y: nn.softmax_cross_entropy(model(x), y), wrt=variables)

        def train(epochs):
            losses = []
            for _ in range(epochs):
                loss, gradients = gradient(images, labels)
                optimizer.update(variables, gradients)
                losses.append(loss)
            return losses

        return model, train

    (ours, train), (theirs, plain) = trainer(), trainer()
    staged = ag.function(train)
    losses = staged(12)
    assert np.allclose(losses, plain(12)) and losses[-1] < 0.2 * losses[0]
    assert [trace.plain for trace in staged.traces if trace.plain] == []
    for mine, other in zip(ours.variables, theirs.variables):
        assert np.allclose(mine, other)
