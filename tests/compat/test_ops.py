"""TensorFlow's spelling: each op eagerly, in a graph, and in a graph that knows no sizes, against NumPy."""

import numpy as np
import pytest

import autograph.compat.tensorflow as tf

pytestmark = pytest.mark.once

A = np.array([[1.0, -2.5, 3.0], [0.5, 4.0, -1.5]], np.float32)
B = np.array([[2.0, 0.5, 1.0], [1.0, 3.0, 2.0]], np.float32)
P = np.abs(A)
I = np.array([[3, -4, 5], [7, 0, -2]], np.int32)  # noqa: E741
J = np.array([[2, 3, -3], [4, 5, 6]], np.int32)
T = np.array([[True, False, True], [False, False, True]])
F = np.array([[True, True, False], [False, True, True]])
V = np.array([3, 1, 3, 2, 1], np.int32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def updated(x, at, values):
    found = x.copy()
    found[at[:, 0]] = values
    return found


OPS = {  # the op, its arguments, and what NumPy gives
    "abs": (tf.abs, [I], np.abs(I)),
    "add biases to channels": (
        lambda x: tf.nn.bias_add(x, [1.0, 2.0], data_format="NCHW"), [A.reshape(1, 2, 3, 1)],
        A.reshape(1, 2, 3, 1) + np.array([1, 2], np.float32).reshape(2, 1, 1)
    ),
    "add": (tf.add, [A, B], A + B),
    "argmax": (tf.argmax, [A], np.argmax(A, 0)),
    "argmax of rows": (lambda x: tf.argmax(x, axis=1, output_type=tf.int32), [A], np.argmax(A, 1).astype(np.int32)),
    "argmin": (lambda x: tf.argmin(x, 1), [A], np.argmin(A, 1)),
    "cast": (lambda x: tf.cast(x, tf.int32), [A], A.astype(np.int32)),
    "ceil": (tf.math.ceil, [A], np.ceil(A)),
    "clip_by_value": (lambda x: tf.clip_by_value(x, -1, 1), [A], np.clip(A, -1, 1)),
    "concat": (lambda x, y: tf.concat([x, y], 1), [A, B], np.concatenate([A, B], 1)),
    "concat of columns": (lambda x, y: tf.concat([x, y], -1), [I, J], np.concatenate([I, J], -1)),
    "cond": (lambda x: tf.cond(x[0, 0] > 0, lambda: x, lambda: -x), [A], A),
    "convert_to_tensor": (lambda x: tf.convert_to_tensor([x[0], x[1]]), [A], A),
    "cumsum": (lambda x: tf.cumsum(x, 1), [I], np.cumsum(I, 1, dtype=np.int32)),
    "cumsum backwards": (
        lambda x: tf.cumsum(x, 1, exclusive=True, reverse=True), [I], np.array([[1, 5, 0], [-2, -2, 0]], np.int32)
    ),
    "divide": (tf.divide, [A, B], A / B),
    "divide integers": (tf.divide, [I, J], I / J),
    "einsum": (lambda x, y: tf.einsum("ij,kj->ik", x, y), [A, B], A @ B.T),
    "embedding_lookup of short rows": (
        lambda x, i: tf.nn.embedding_lookup(x, i, max_norm=1.0), [A, V % 2],
        (A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1))[V % 2]
    ),
    "equal": (tf.equal, [I, I], I == I),
    "exp": (tf.exp, [A], np.exp(A)),
    "expand_dims": (lambda x: tf.expand_dims(x, 1), [A], A[:, None]),
    "eye": (lambda x: tf.eye(2, 3) + x, [A], np.eye(2, 3, dtype=np.float32) + A),
    "fill": (lambda x: tf.fill([2, 3], x[0, 0]), [I], np.full((2, 3), 3, np.int32)),
    "floor": (tf.floor, [A], np.floor(A)),
    "floordiv": (lambda x, y: x // y, [I, J], I // J),
    "floormod": (lambda x, y: x % y, [I, J], I % J),
    "gather": (lambda x, i: tf.gather(x, i, axis=1), [A, V % 3], A[:, V % 3]),
    "greater": (tf.greater, [A, B], A > B),
    "greater_equal": (lambda x, y: x >= y, [I, J], I >= J),
    "identity": (tf.identity, [A], A),
    "less": (tf.less, [I, J], I < J),
    "less_equal": (lambda x, y: x <= y, [A, B], A <= B),
    "linspace": (lambda x: tf.linspace(0.0, x[0, 0], 5), [A], np.linspace(0, 1, 5, dtype=np.float32)),
    "linspace of columns": (
        lambda x: tf.linspace(x[0], x[1], 3, axis=1), [A], np.linspace(A[0], A[1], 3, axis=1)
    ),
    "log": (tf.math.log, [P], np.log(P)),
    "logical_and": (tf.logical_and, [T, F], T & F),
    "logical_not": (tf.logical_not, [T], ~T),
    "logical_or": (lambda x, y: x | y, [T, F], T | F),
    "matmul": (lambda x, y: tf.matmul(x, y, transpose_b=True), [A, B], A @ B.T),
    "matmul of integers": (lambda x, y: tf.transpose(x) @ y, [I, J], I.T @ J),
    "matmul to another type": (
        lambda x, y: tf.matmul(x, y, transpose_b=True, output_type=tf.float64), [A, B], (A @ B.T).astype(float)
    ),
    "maximum": (tf.maximum, [A, B], np.maximum(A, B)),
    "minimum": (tf.minimum, [I, J], np.minimum(I, J)),
    "multiply": (tf.multiply, [I, J], I * J),
    "negative": (tf.negative, [A], -A),
    "nest": (
        lambda x: tf.add_n(tf.nest.flatten(tf.nest.map_structure(lambda a: a * 2, {"a": x, "b": (x, x)}))), [I], I * 6
    ),
    "embedding_lookup": (tf.nn.embedding_lookup, [A, np.array([1, 0, 1])], A[[1, 0, 1]]),
    "log_softmax": (tf.nn.log_softmax, [A], np.log(softmax(A))),
    "relu": (tf.nn.relu, [A], np.maximum(A, 0)),
    "sigmoid": (tf.nn.sigmoid, [A], 1 / (1 + np.exp(-A))),
    "softmax": (tf.nn.softmax, [A], softmax(A)),
    "softmax_cross_entropy": (
        tf.nn.softmax_cross_entropy_with_logits, [softmax(B), A], -(softmax(B) * np.log(softmax(A))).sum(-1)
    ),
    "sparse_softmax_cross_entropy": (
        tf.nn.sparse_softmax_cross_entropy_with_logits, [np.array([2, 0], np.int32), A],
        -np.log(softmax(A))[[0, 1], [2, 0]],
    ),
    "tanh": (tf.nn.tanh, [A], np.tanh(A)),
    "top_k": (lambda x: tf.nn.top_k(x, 2)[0], [A], -np.sort(-A)[:, :2]),
    "top_k indices": (lambda x: tf.nn.top_k(x, 2)[1], [A], np.argsort(-A)[:, :2].astype(np.int32)),
    "not_equal": (tf.not_equal, [I, J], I != J),
    "one_hot": (lambda x: tf.one_hot(x, 4), [V], np.eye(4, dtype=np.float32)[V]),
    "ones": (lambda x: tf.ones([2, 3], tf.int32) * x, [I], I),
    "ones_like": (tf.ones_like, [I], np.ones_like(I)),
    "pad": (lambda x: tf.pad(x, [[1, 0], [0, 2]]), [I], np.pad(I, [(1, 0), (0, 2)])),
    "pad with a number": (lambda x: tf.pad(x, [[1, 0], [0, 2]], "CONSTANT", 9)[0], [I], np.full(5, 9, np.int32)),
    "pow": (tf.pow, [P, B], P**B),
    "range": (lambda x: tf.range(x[0, 0], 9, 2), [I], np.arange(3, 9, 2, dtype=np.int32)),
    "rank": (lambda x: tf.rank(x), [A], np.int32(2)),
    "reduce_all": (lambda x: tf.reduce_all(x, 0), [T], T.all(0)),
    "reduce_any": (lambda x: tf.reduce_any(x, 1), [T], T.any(1)),
    "reduce_max": (lambda x: tf.reduce_max(x, 0), [A], A.max(0)),
    "reduce_mean": (lambda x: tf.reduce_mean(x, [0, 1]), [A], A.mean()),
    "reduce_mean of integers": (tf.reduce_mean, [I], np.int32(1)),
    "reduce_min": (lambda x: tf.reduce_min(x, -1, keepdims=True), [I], I.min(-1, keepdims=True)),
    "reduce_prod": (tf.reduce_prod, [J], J.prod(dtype=np.int32)),
    "reduce_sum": (lambda x: tf.reduce_sum(x, 1), [I], I.sum(1, dtype=np.int32)),
    "reshape": (lambda x: tf.reshape(x, [3, -1]), [A], A.reshape(3, -1)),
    "reverse": (lambda x: tf.reverse(x, [1]), [A], A[:, ::-1]),
    "round": (tf.round, [A], np.round(A)),
    "shape": (tf.shape, [A], np.array([2, 3], np.int32)),
    "sign": (tf.sign, [A], np.sign(A)),
    "sin": (tf.sin, [A], np.sin(A)),
    "size": (tf.size, [A], np.int32(6)),
    "slice": (lambda x: tf.slice(x, [0, 1], [2, -1]), [A], A[:, 1:]),
    "split": (lambda x: tf.split(x, 3, axis=1)[1], [A], A[:, 1:2]),
    "split by sizes": (lambda x: tf.split(x, [1, 2], axis=1)[1], [A], A[:, 1:]),
    "sqrt": (tf.sqrt, [P], np.sqrt(P)),
    "square": (tf.square, [I], I * I),
    "squeeze": (lambda x: tf.squeeze(x[:1]), [A], A[0]),
    "stack": (lambda x, y: tf.stack([x, y], 1), [A, B], np.stack([A, B], 1)),
    "stop_gradient": (tf.stop_gradient, [A], A),
    "subtract": (tf.subtract, [I, J], I - J),
    "switch_case": (lambda x: tf.switch_case(x[0, 0] - 2, [lambda: x, lambda: -x]), [I], -I),
    "tensor_scatter_nd_update": (
        tf.tensor_scatter_nd_update, [A, np.array([[1]]), B[:1]], updated(A, np.array([[1]]), B[:1])
    ),
    "tile": (lambda x: tf.tile(x, [2, 1]), [A], np.tile(A, [2, 1])),
    "transpose": (tf.transpose, [A], A.T),
    "transpose of conjugates": (lambda x: tf.transpose(x, conjugate=True), [A + 1j * B], (A - 1j * B).T),
    "unique": (lambda x: tf.unique(x)[0], [V], np.array([3, 1, 2], np.int32)),
    "unique indices": (lambda x: tf.unique(x)[1], [V], np.array([0, 1, 0, 2, 1], np.int32)),
    "unstack": (lambda x: tf.unstack(x, num=3, axis=1)[2], [A], A[:, 2]),
    "where": (tf.where, [T, A, B], np.where(T, A, B)),
    "where it holds": (tf.where, [T], np.argwhere(T)),
    "while_loop": (lambda x: tf.while_loop(lambda n, y: n < 3, lambda n, y: (n + 1, y * 2), (0, x))[1], [A], A * 8),
    "scatter_nd": (
        lambda x: tf.scatter_nd([[1], [0], [1]], x[0], [3]), [A], np.array([-2.5, 4, 0], np.float32)
    ),
    "tensor_scatter_nd_add": (
        lambda x: tf.tensor_scatter_nd_add(x, [[0], [0]], x), [A], A + np.array([[1], [0]], np.float32) * A.sum(0)
    ),
    "sequence_mask": (lambda x: tf.sequence_mask(x[:2], 4), [V], np.array([[1, 1, 1, 0], [1, 0, 0, 0]], bool)),
    "count_nonzero": (tf.math.count_nonzero, [I], np.int64(5)),
    "confusion_matrix": (
        lambda x: tf.math.confusion_matrix(x, x * 0 + 1, 4), [V],
        np.outer([0, 2, 1, 2], [0, 1, 0, 0]).astype(np.int32),
    ),
    "unsorted_segment_sum": (
        lambda x: tf.math.unsorted_segment_sum(x, [1, 1], 2), [I], np.stack([I[0] * 0, I.sum(0)]).astype(np.int32)
    ),
    "multiply_no_nan": (tf.math.multiply_no_nan, [A * np.float32(np.inf), A * 0], A * 0),
    "xlogy": (tf.math.xlogy, [B, P], B * np.log(P)),
    "l2_normalize": (lambda x: tf.math.l2_normalize(x, 1), [A], A / np.sqrt((A * A).sum(1, keepdims=True))),
    "gelu": (lambda x: tf.nn.gelu(x) - tf.nn.gelu(x, True) > 0.001, [A], A > 99),
    "silu": (tf.nn.silu, [A], A / (1 + np.exp(-A))),
    "log_sigmoid": (tf.math.log_sigmoid, [A], -np.log1p(np.exp(-A))),
    "in_top_k": (lambda x: tf.math.in_top_k([2, 2], x, 1), [A], np.array([True, False])),
    "band_part": (lambda x: tf.linalg.band_part(x, 0, -1), [A], np.triu(A)),
    "trace": (tf.linalg.trace, [A[:, :2]], np.float32(5)),
    "diag": (lambda x: tf.linalg.diag(x), [A], A[:, :, None] * np.eye(3, dtype=np.float32)),
    "matvec": (lambda x: tf.linalg.matvec(x, x[0]), [A], A @ A[0]),
    "qr": (lambda x: tf.matmul(*tf.linalg.qr(x)), [A], A),
    "svd": (lambda x: tf.linalg.svd(x)[0], [A], np.linalg.svd(A)[1]),
    "lstsq": (
        lambda x, y: tf.linalg.lstsq(tf.transpose(x), tf.transpose(y)), [A, B], np.linalg.lstsq(A.T, B.T, None)[0]
    ),
    "meshgrid": (lambda x: tf.meshgrid(x, x[:2])[1], [V], np.meshgrid(V, V[:2])[1]),
    "zeros": (lambda x: tf.zeros([2, 3]) + x, [A], A),
    "zeros_like": (tf.zeros_like, [T], np.zeros_like(T)),
}  # fmt: skip
KNOWS_SIZES = {"one_hot", "sparse_softmax_cross_entropy", "split", "tensor_scatter_nd_update"}


def same(found, expected):
    expected = np.asarray(expected)
    assert found.dtype.as_numpy_dtype == expected.dtype
    assert np.shape(found) == expected.shape
    assert np.allclose(found, expected, atol=1e-6) if expected.dtype.kind == "f" else np.array_equal(found, expected)


@pytest.mark.parametrize("name", OPS)
def test_eagerly_and_in_a_graph(name):
    op, args, expected = OPS[name]
    tensors = [tf.constant(each) for each in args]
    same(op(*tensors), expected)
    same(tf.function(lambda *given: op(*given))(*tensors), expected)


@pytest.mark.parametrize("name", [name for name in OPS if name not in KNOWS_SIZES])
def test_in_a_graph_that_knows_no_sizes(name):
    op, args, expected = OPS[name]
    specs = [tf.TensorSpec([None] * np.ndim(each), each.dtype) for each in args]
    same(tf.function(lambda *given: op(*given)).get_concrete_function(*specs)(*map(tf.constant, args)), expected)


def test_ops_have_their_public_names():
    for module in (tf, tf.math, tf.linalg, tf.random):
        for name, op in vars(module).items():
            if callable(op) and getattr(op, "__module__", "").startswith("autograph.compat.tensorflow.ops"):
                assert getattr(module, op.__name__.rstrip("_")) is op, f"{name} is called {op.__name__}"
    assert tf.add.__name__ == "add" and "AddV2" in tf.add.__doc__


def test_logical_ops_take_their_operands_by_name():
    x, y = tf.constant([True, False]), tf.constant([True, True])
    assert tf.logical_and(x=x, y=y).numpy().tolist() == [True, False]
    assert tf.logical_xor(x, y=y, name="differ").numpy().tolist() == [False, True]
    assert tf.logical_not(x=x).numpy().tolist() == [False, True]


def test_paddings_may_be_tensors():
    @tf.function
    def padded(x, n):
        return tf.pad(x, [[n, 0], [0, 1]])

    for x in (A, I):
        assert np.array_equal(padded(tf.constant(x), tf.constant(2)), np.pad(x, [(2, 0), (0, 1)]))


TWO = [
    tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum, tf.pow, tf.matmul, tf.equal, tf.less,
    tf.greater, lambda x, y: tf.stack([x, y]), lambda x, y: tf.concat([x, y], 0), lambda x, y: tf.where(x > 0, x, y),
]  # fmt: skip


@pytest.mark.parametrize("op", TWO)
def test_types_are_strict(op):
    x, y = tf.ones([2, 2]), tf.ones([2, 2], tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"cannot compute \w+ as input #1\(zero-based\) was"):
        op(x, y)
    with pytest.raises(TypeError, match="that does not match type float32 of argument"):
        tf.function(op)(x, y)


@pytest.mark.parametrize("op", [tf.exp, tf.math.log, tf.sqrt, tf.sin, tf.tanh, tf.sigmoid, tf.floor])
def test_some_ops_take_no_integers(op):
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not in the list of allowed values"):
        op(tf.constant(1))
    with pytest.raises(TypeError, match="not in list of allowed values"):
        tf.function(op)(tf.constant(1))


def test_other_values_take_on_the_type_of_a_tensor():
    x, v = tf.constant([1.0, 2.0]), tf.constant([3, 1, 2])
    for found in (x * np.float64(1.5), np.float64(1.5) * x, x + True, x + np.arange(2)):
        assert found.dtype is tf.float32
    assert (np.arange(3) + v).dtype is tf.int32
    for wrong in (lambda: v * 1.5, lambda: 1.5 - v, lambda: v == 1.5, lambda: tf.maximum(v, "a"), lambda: v / x):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.add(v, 1.5)
    assert tf.constant(True, tf.int32).numpy() == 1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x, b: b + b, lambda x, b: tf.abs(b), lambda x, b: tf.pow(tf.constant([1], tf.uint8), 1),
        lambda x, b: tf.reduce_sum(b), lambda x, b: tf.nn.softmax(tf.constant(2.5)), lambda x, b: b < b,
        lambda x, b: tf.logical_not(x), lambda x, b: tf.gather(x, 1.0), lambda x, b: tf.argmax(2),
    ],
)  # fmt: skip
def test_what_ops_do_not_take(wrong):
    with pytest.raises(tf.errors.InvalidArgumentError):
        wrong(tf.constant([1.0, 2.0]), tf.constant([True, False]))


def test_structures_must_be_alike():
    add = lambda a, b: a + b  # noqa: E731
    with pytest.raises(TypeError, match="don't have the same nested structure"):
        tf.nest.map_structure(add, [1, (2,)], [3, [4]])
    assert tf.nest.map_structure(add, [1, (2,)], [3, [4]], check_types=False) == [4, (6,)]
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        tf.nest.assert_same_structure([1, 2], [1])
    with pytest.raises(ValueError, match="Could not pack sequence"):
        tf.nest.pack_sequence_as([1, 2], [5])
    tf.nest.assert_same_structure({"b": 1, "a": 2}, {"a": 3, "b": 4})


def test_random_numbers():
    tf.random.set_seed(1)
    drawn = tf.random.normal([1000], 2.0, 3.0), tf.random.uniform([1000], -1.0, 1.0), tf.random.truncated_normal([1000])
    tf.random.set_seed(1)
    again = tf.function(lambda: tf.random.normal([1000], 2.0, 3.0))()
    assert np.array_equal(drawn[0], again)
    assert abs(np.mean(drawn[0]) - 2) < 0.3 and abs(np.std(drawn[0]) - 3) < 0.3
    assert np.min(drawn[1]) >= -1 and np.max(drawn[1]) < 1 and np.abs(drawn[2]).max() <= 2
    whole = tf.random.uniform([100], maxval=3, dtype=tf.int32)
    assert set(whole.numpy().tolist()) == {0, 1, 2}


def test_the_type_of_the_indices_of_the_largest_elements():
    assert tf.nn.top_k(A, 2).indices.dtype == tf.int32
    assert tf.nn.top_k(A, 2, index_type=tf.int64).indices.dtype == tf.int64
