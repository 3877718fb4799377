"""TensorFlow's spelling: convolutions and pooling, against loops."""

import itertools

import numpy as np
import pytest

import autograph.compat.tensorflow as tf

pytestmark = pytest.mark.once
both = pytest.mark.parametrize("wrap", [lambda function: function, tf.function], ids=["eager", "graph"])


def padded(x, size, stride, padding, dilation=1, fill=0.0):
    """The input with TensorFlow's padding around its two spatial dimensions."""
    pads = [(0, 0)]
    for length, window in zip(x.shape[1:3], size):
        span = (window - 1) * dilation + 1
        total = max((-(-length // stride) - 1) * stride + span - length, 0) if padding == "SAME" else 0
        pads.append((total // 2, total - total // 2))
    return np.pad(x, [*pads, (0, 0)], constant_values=fill)


def windows(x, size, stride, dilation=1):
    """What a window comes to lie on, place by place."""
    spans = [(each - 1) * dilation + 1 for each in size]
    rows = range(0, x.shape[1] - spans[0] + 1, stride)
    columns = range(0, x.shape[2] - spans[1] + 1, stride)
    parts = [
        x[:, i : i + spans[0] : dilation, j : j + spans[1] : dilation] for i, j in itertools.product(rows, columns)
    ]
    return np.stack(parts, 1).reshape(len(x), len(rows), len(columns), *size, -1)


def image(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


@both
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (2, 1), (3, 1), (1, 2)])
def test_convolutions(wrap, padding, stride, dilation):
    x, filters = image(2, 7, 6, 3), image(3, 2, 3, 4)
    found = wrap(lambda x: tf.nn.conv2d(x, filters, stride, padding, dilations=dilation))(tf.constant(x))
    parts = windows(padded(x, (3, 2), stride, padding, dilation), (3, 2), stride, dilation)
    assert np.allclose(found, np.einsum("nhwijc,ijcf->nhwf", parts, filters), atol=1e-5)
    first = wrap(lambda x: tf.nn.conv2d(x, filters, [1, 1, stride, stride], padding, "NCHW", dilation))
    assert np.allclose(np.moveaxis(first(tf.constant(np.moveaxis(x, -1, 1))).numpy(), 1, -1), found, atol=1e-5)


@both
def test_other_convolutions(wrap):
    x, filters = image(2, 7, 3), image(3, 3, 4)
    lines = wrap(lambda x: tf.nn.conv1d(x, filters, 2, "SAME"))(tf.constant(x))
    as_images = tf.nn.conv2d(x[:, :, None], filters[:, None], 2, "SAME")
    assert np.allclose(lines, as_images[:, :, 0], atol=1e-6)
    x, filters = image(2, 5, 5, 3), image(2, 2, 3, 2)
    each = wrap(lambda x: tf.nn.depthwise_conv2d(x, filters, [1, 1, 1, 1], "VALID"))(tf.constant(x))
    expected = np.einsum("nhwijc,ijcm->nhwcm", windows(x, (2, 2), 1), filters)
    assert np.allclose(each, expected.reshape(2, 4, 4, 6), atol=1e-5)
    explicit = wrap(lambda x: tf.nn.conv2d(x, filters, 1, [[0, 0], [1, 0], [0, 1], [0, 0]]))(tf.constant(x))
    assert explicit.shape == (2, 5, 5, 2)


@both
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("size", "stride"), [(2, 2), (3, 1), (3, 2)])
def test_pooling(wrap, padding, size, stride):
    x = image(2, 7, 6, 3)
    largest = wrap(lambda x: tf.nn.max_pool2d(x, size, stride, padding))(tf.constant(x))
    expected = windows(padded(x, (size, size), stride, padding, fill=-np.inf), (size, size), stride).max((3, 4))
    assert np.array_equal(largest, expected)
    mean = wrap(lambda x: tf.nn.avg_pool2d(x, size, stride, padding))(tf.constant(x))
    expected = np.nanmean(windows(padded(x, (size, size), stride, padding, fill=np.nan), (size, size), stride), (3, 4))
    assert np.allclose(mean, expected, atol=1e-6)


@both
def test_gradients(wrap):
    x, filters = (tf.constant(image(*shape), tf.float64) for shape in ((1, 4, 4, 2), (2, 2, 2, 3)))
    x, filters = tf.cast(x, tf.float64), tf.cast(filters, tf.float64)

    def loss(x, filters):
        y = tf.nn.relu(tf.nn.conv2d(x, filters, 1, "SAME"))
        return tf.reduce_sum(tf.nn.max_pool2d(y, 2, 2, "VALID") ** 2) + tf.reduce_sum(tf.nn.avg_pool2d(y, 3, 1, "SAME"))

    @wrap
    def gradients(x, filters):
        with tf.GradientTape() as tape:
            tape.watch([x, filters])
            found = loss(x, filters)
        return tape.gradient(found, [x, filters])

    for place, found in enumerate(gradients(x, filters)):
        for at in list(np.ndindex(*found.shape))[::5]:
            shift = np.zeros(found.shape)
            shift[at] = 1e-6
            moved = [[x, filters], [x, filters]]
            moved[0][place], moved[1][place] = moved[0][place] + shift, moved[1][place] - shift
            slope = (loss(*moved[0]) - loss(*moved[1])) / 2e-6
            assert abs(slope - found[at]) < 1e-6


def test_of_equal_numbers_the_first_gets_the_gradient():
    x = tf.ones([1, 2, 2, 1])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool2d(x, 2, 2, "VALID")
    assert tape.gradient(y, x).numpy().ravel().tolist() == [1, 0, 0, 0]


def test_any_number_of_examples():
    @tf.function(input_signature=[tf.TensorSpec([None, 4, 4, 1])])
    def f(x):
        y = tf.nn.max_pool2d(tf.nn.conv2d(x, tf.ones([3, 3, 1, 2]), 1, "SAME"), 2, 2, "SAME")
        assert y.shape.as_list() == [None, 2, 2, 2]
        return y

    assert [f(tf.ones([n, 4, 4, 1])).shape[0] for n in (1, 3)] == [1, 3]


def test_what_does_not_fit():
    x, filters = tf.ones([1, 4, 4, 2]), tf.ones([3, 3, 3, 1])
    with pytest.raises(ValueError, match="the filters are for 3 channels, but the input has 2"):
        tf.nn.conv2d(x, filters, 1, "SAME")
    with pytest.raises(ValueError, match="padding must be 'SAME', 'VALID' or a list of pairs, not 'FULL'"):
        tf.nn.max_pool2d(x, 2, 2, "FULL")
    with pytest.raises(ValueError, match="is larger than the input"):
        tf.nn.max_pool2d(x, 5, 1, "VALID")
    with pytest.raises(ValueError, match="an input of 4 dimensions is expected"):
        tf.nn.conv2d(x[0], filters, 1, "SAME")
    with pytest.raises(ValueError, match="the sizes of images must be known while tracing"):
        tf.function(lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME")).get_concrete_function(tf.TensorSpec([1, None, 4, 1]))
