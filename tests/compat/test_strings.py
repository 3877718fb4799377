"""TensorFlow's spelling: `tf.strings`."""

import pytest

import autograph.compat.tensorflow as tf

pytestmark = pytest.mark.once
TEXTS = ["ab", "c"]
PROGRAMS = [
    (lambda t: tf.strings.length(t), [2, 1]),
    (lambda t: tf.strings.upper(t), [b"AB", b"C"]),
    (lambda t: tf.strings.join([t, t], "-"), [b"ab-ab", b"c-c"]),
    (lambda t: tf.strings.substr(t, 0, 1), [b"a", b"c"]),
    (lambda t: tf.strings.regex_replace(t, "[bc]", "x"), [b"ax", b"x"]),
    (lambda t: tf.strings.regex_full_match(t, "a.*"), [True, False]),
    (lambda t: tf.strings.reduce_join(t, separator=" "), b"ab c"),
    (lambda t: tf.strings.split(tf.strings.join([t[0], " ", t[1]])), [b"ab", b"c"]),
    (lambda t: tf.strings.as_string(tf.strings.length(t)), [b"2", b"1"]),
    (lambda t: tf.strings.as_string(1.5), b"1.500000"),
    (lambda t: tf.as_string(True), b"true"),
    (lambda t: tf.strings.to_number(["1.5", "2"]), [1.5, 2.0]),
    (lambda t: tf.strings.format("n={} of {}", (tf.strings.length(t), 3)), b"n=[2 1] of 3"),
]


@pytest.mark.parametrize("wrap", [lambda function: function, tf.function], ids=["eager", "graph"])
def test_parts_of_several_strings_are_ragged(wrap):
    assert wrap(tf.strings.split)(tf.constant(["a b", "", "c"])).to_list() == [[b"a", b"b"], [], [b"c"]]
    assert wrap(lambda t: tf.strings.unicode_split(t, "UTF-8"))(tf.constant("aé🦆")).numpy().tolist() == [
        b"a", "é".encode(), "🦆".encode(),
    ]  # fmt: skip
    assert wrap(lambda t: tf.strings.unicode_decode(t, "UTF-8"))(tf.constant(["aé", "🦆"])).to_list() == [
        [97, 233], [0x1F986],
    ]  # fmt: skip
    assert wrap(tf.strings.bytes_split)(tf.constant("ab")).numpy().tolist() == [b"a", b"b"]
    assert wrap(lambda t: tf.strings.unicode_encode(t, "UTF-8"))(tf.constant([97, 233])).numpy() == "aé".encode()


@pytest.mark.parametrize(("function", "expected"), PROGRAMS)
@pytest.mark.parametrize("wrap", [lambda function: function, tf.function], ids=["eager", "graph"])
def test_texts(wrap, function, expected):
    found = wrap(function)(tf.constant(TEXTS)).numpy()
    assert (found.tolist() if hasattr(found, "tolist") else found) == expected


def test_what_is_no_number():
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert string: a"):
        tf.strings.to_number("a")
