"""TensorFlow's spelling: `tf.image`."""

import numpy as np
import pytest

import autograph.compat.tensorflow as tf

IMAGES = np.random.default_rng(0).random((2, 6, 4, 3), np.float32)
BYTES = (IMAGES[0] * 255).astype(np.uint8)


def ramp(*sizes):
    """An image of one channel whose values grow by 1 to the right, and by 10 downwards."""
    return np.add.outer(10 * np.arange(sizes[0]), np.arange(sizes[1]))[..., None].astype(np.float32)


@pytest.mark.parametrize(
    ("method", "expected"),
    [("bilinear", [[5.5, 7.5], [25.5, 27.5]]), ("nearest", [[11, 13], [31, 33]]), ("area", [[5.5, 7.5], [25.5, 27.5]])],
)
def test_smaller(method, expected):
    small = tf.image.resize(ramp(4, 4), (2, 2), method)
    assert small[..., 0].numpy().tolist() == expected


@pytest.mark.parametrize("method", ["bilinear", "bicubic", "nearest", "area"])
def test_resizing_keeps_what_is_constant_and_shifts_with_what_is_added(method):
    for sizes in ((3, 9), (12, 2), (6, 4)):
        assert np.allclose(tf.image.resize(np.ones((6, 4, 1), np.float32), sizes, method), 1)
        more = tf.image.resize(IMAGES + 1, sizes, method)
        assert np.allclose(more, tf.image.resize(IMAGES, sizes, method) + 1, atol=1e-5)
    assert tf.image.resize(BYTES, (3, 3), method).dtype == (tf.uint8 if method == "nearest" else tf.float32)


def test_resizing_linearly_keeps_ramps():
    middle = tf.image.resize(ramp(8, 8), (4, 4), antialias=True)[1:-1, 1:-1, 0].numpy()
    assert np.allclose(middle, (tf.image.resize(ramp(8, 8), (4, 4), "area")[1:-1, 1:-1, 0]))
    assert tf.image.resize(IMAGES, (12, 12), preserve_aspect_ratio=True).shape == (2, 12, 8, 3)
    assert tf.image.resize_with_pad(IMAGES, 12, 12).shape == (2, 12, 12, 3)
    with pytest.raises(ValueError, match="Resize method is not implemented: lanczos"):
        tf.image.resize(IMAGES, (2, 2), "lanczos")


def test_sizes_that_only_the_graph_knows():
    data = tf.data.Dataset.from_generator(
        lambda: iter([ramp(4, 4), ramp(6, 2)]), output_signature=tf.TensorSpec([None, None, 1], tf.float32)
    )
    resized = data.map(lambda image: tf.image.resize(image, [2, 2]))
    assert resized.element_spec == tf.TensorSpec([2, 2, 1], tf.float32)
    assert [image.shape for image in resized.as_numpy_iterator()] == [(2, 2, 1)] * 2
    assert np.array_equal(next(iter(resized)), tf.image.resize(ramp(4, 4), (2, 2)))


def test_gradients():
    x = tf.Variable(ramp(4, 4))
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(tf.image.resize(x, (2, 2), "area"))
    assert np.allclose(tape.gradient(total, x), 0.25)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(tf.image.adjust_contrast(x, 2.0))
    with pytest.raises(LookupError, match="AdjustContrastv2"):
        tape.gradient(total, x)


def test_parts():
    four = ramp(4, 4)
    assert tf.image.central_crop(four, 0.5)[..., 0].numpy().tolist() == [[11, 12], [21, 22]]
    assert tf.image.crop_to_bounding_box(four, 1, 2, 1, 2)[..., 0].numpy().tolist() == [[12, 13]]
    assert tf.image.pad_to_bounding_box(four[:1, :1] + 1, 1, 0, 2, 2)[..., 0].numpy().tolist() == [[0, 0], [1, 0]]
    assert tf.image.resize_with_crop_or_pad(four, 2, 6)[..., 0].numpy().tolist() == [
        [0, 10, 11, 12, 13, 0], [0, 20, 21, 22, 23, 0],
    ]  # fmt: skip
    assert np.array_equal(tf.image.flip_left_right(IMAGES), IMAGES[:, :, ::-1])
    assert np.array_equal(tf.image.flip_up_down(IMAGES[0]), IMAGES[0, ::-1])
    assert np.array_equal(tf.image.rot90(IMAGES, 3), np.rot90(IMAGES, 3, (1, 2)))
    assert tf.image.transpose(IMAGES).shape == (2, 4, 6, 3)
    for wrong in (lambda: tf.image.central_crop(four, 1.5), lambda: tf.image.crop_to_bounding_box(four, 3, 0, 2, 1)):
        with pytest.raises(ValueError, match="central_fraction|height must be"):
            wrong()
    with pytest.raises(ValueError, match="3 or 4 dimensions"):
        tf.image.flip_left_right(four[..., 0])


def test_types():
    ends = np.array([[[0.0, 1.0, 0.5]]], np.float32)
    assert tf.image.convert_image_dtype(ends, tf.uint8).numpy().tolist() == [[[0, 255, 127]]]
    assert tf.image.convert_image_dtype(np.array([[[0, 255]]], np.uint8), tf.float32).numpy().tolist() == [[[0.0, 1.0]]]
    assert tf.image.convert_image_dtype(np.array([[[255]]], np.uint8), tf.int16).numpy().tolist() == [[[255 * 128]]]
    assert tf.image.convert_image_dtype(2 * ends, tf.uint8, saturate=True).numpy().tolist() == [[[0, 255, 255]]]


def test_colors():
    hsv = tf.image.rgb_to_hsv(IMAGES)
    assert np.allclose(tf.image.hsv_to_rgb(hsv), IMAGES, atol=1e-6)
    assert np.allclose(tf.image.adjust_hue(IMAGES, 1.0), IMAGES, atol=1e-5)
    gray = tf.image.adjust_saturation(IMAGES, 0.0)
    assert np.allclose(gray, np.max(IMAGES, -1, keepdims=True))
    assert tf.image.rgb_to_grayscale(IMAGES).shape == (2, 6, 4, 1)
    assert np.allclose(tf.image.adjust_brightness(IMAGES, 0.5), IMAGES + 0.5)
    assert tf.image.adjust_brightness(BYTES, 1.0).numpy().min() == 255
    assert np.allclose(tf.image.adjust_contrast(IMAGES, 1.0), IMAGES, atol=1e-6)
    standard = tf.image.per_image_standardization(IMAGES).numpy()
    assert np.allclose(standard.mean((1, 2, 3)), 0, atol=1e-5)
    assert np.allclose(standard.std((1, 2, 3)), 1, atol=1e-5)


def test_at_random():
    flipped = tf.image.random_flip_left_right(np.stack([IMAGES[0]] * 64)).numpy()
    same = [np.array_equal(each, IMAGES[0]) for each in flipped]
    assert 8 < sum(same) < 56
    assert all(np.array_equal(each, IMAGES[0][:, ::-1]) for each, kept in zip(flipped, same) if not kept)
    part = tf.image.random_crop(ramp(9, 9), [2, 3, 1])[..., 0].numpy()
    assert np.array_equal(part - part[0, 0], ramp(2, 3)[..., 0])
    changed = tf.function(lambda x: tf.image.random_brightness(x, 0.5))
    assert not np.allclose(changed(IMAGES), changed(IMAGES))
    with pytest.raises(ValueError, match="upper must be > lower"):
        tf.image.random_contrast(IMAGES, 2, 1)


def test_files(tmp_path):
    pytest.importorskip("PIL")
    path = str(tmp_path / "image.png")
    tf.io.write_file(path, tf.image.encode_png(BYTES))
    read = tf.function(lambda name: tf.image.decode_image(tf.io.read_file(name), channels=3))
    assert np.array_equal(read(path), BYTES)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unknown image file format"):
        tf.image.decode_png(b"no image")
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        tf.io.read_file("missing.png")
