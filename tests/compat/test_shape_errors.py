"""TensorFlow's spelling: shapes and indices that ops refuse: eagerly, in graphs that know the shapes, and in others."""

import pytest

import autograph.compat.tensorflow as tf

SIX = tf.constant([[1, 2, 3], [4, 5, 6]])

REFUSED = {
    "index": (lambda x: x[5], "slice index 5 of dimension 0 out of bounds"),
    "negative index": (lambda x: x[:, -4], "slice index -4 of dimension 1 out of bounds"),
    "index behind an ellipsis": (lambda x: x[..., 3], "slice index 3 of dimension 1 out of bounds"),
    "reshape": (lambda x: tf.reshape(x, [4]), "reshape"),
    "concat": (lambda x: tf.concat([x, [[1]]], 0), "dimension"),
    "squeeze": (lambda x: tf.squeeze(x, 0), "squeeze"),
    "unstack": (lambda x: tf.unstack(x, 3), "Dimension must be 3 but is 2|out of bounds"),
    "addition": (lambda x: x + tf.constant([1, 2]), "broadcast|Dimensions must be equal"),
    "product": (lambda x: tf.matmul(x, x), "Matrix size-incompatible|Dimensions must be equal"),
    "contraction": (lambda x: tf.einsum("ij,jk->ik", x, x), "broadcast"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_graphs_refuse_what_they_know_while_tracing(name):
    """A graph that knows the shapes raises a ValueError while tracing, another one when it runs."""
    function, text = REFUSED[name]
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        function(SIX)
    with pytest.raises(ValueError, match=text):
        tf.function(function).get_concrete_function(tf.TensorSpec([2, 3], tf.int32))
    if name != "reshape":
        unknown = tf.function(function, input_signature=[tf.TensorSpec([None, None], tf.int32)])
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            unknown(SIX)


ALWAYS = {
    "too many indices": (lambda x: x[0, 0, 0], "input has only 2 dims"),
    "one_hot": (lambda x: tf.one_hot(x, -1), "non-negative"),
    "axis": (lambda x: tf.reduce_sum(x, 3), "axis 3"),
    "new axis": (lambda x: tf.expand_dims(x, 5), "axis 5"),
    "permutation": (lambda x: tf.transpose(x, [0]), "axes"),
    "rank of a factor": (lambda x: tf.matmul(x[0], x), "ndims must be >= 2"),
}


@pytest.mark.parametrize("name", ALWAYS)
def test_errors_by_rank(name):
    function, text = ALWAYS[name]
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        function(SIX)
    with pytest.raises(ValueError, match=text):
        tf.function(function)(SIX)


@pytest.mark.parametrize("index", ["a", 1.5, tf.constant(1.0)])
@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_indices_of_other_types(index, wrap):
    with pytest.raises(TypeError, match="Only integers, slices"):
        wrap(lambda x: x[index])(SIX)


def test_good_indices_stay_good():
    @tf.function
    def parts(x, n):
        return x[0], x[-2, -3], x[..., 2], x[tf.newaxis, 1], x[n], x[0, ..., n], x[:, ::2]

    found = [part.numpy().tolist() for part in parts(SIX, tf.constant(1))]
    assert found == [[1, 2, 3], 1, [3, 6], [[4, 5, 6]], [4, 5, 6], 2, [[1, 3], [4, 6]]]


def test_negative_sizes():
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be >= 0"):
        tf.function(lambda n: tf.fill([n, 2], 1.0))(tf.constant(-1))


def test_printing_shows_strings_in_quotes_and_keys_in_order(capsys):
    tf.print(tf.constant("x"), "y", ["z", tf.constant(["u", "v"])], {"b": 1, "a": tf.constant([1, 2])})
    assert capsys.readouterr().err == "\"x\" y ['z', [\"u\" \"v\"]] {'a': [1 2], 'b': 1}\n"
