"""TensorFlow's spelling: eager tensors, their types and texts, and what ops refuse."""

import subprocess
import sys

import numpy as np
import pytest

import autograph.compat.tensorflow as tf


@pytest.mark.parametrize(
    ("value", "text", "representation"),
    [
        (5, "tf.Tensor(5, shape=(), dtype=int32)", "<tf.Tensor: shape=(), dtype=int32, numpy=5>"),
        (2.5, "tf.Tensor(2.5, shape=(), dtype=float32)", "<tf.Tensor: shape=(), dtype=float32, numpy=2.5>"),
        (True, "tf.Tensor(True, shape=(), dtype=bool)", "<tf.Tensor: shape=(), dtype=bool, numpy=True>"),
        ("a", "tf.Tensor(b'a', shape=(), dtype=string)", "<tf.Tensor: shape=(), dtype=string, numpy=b'a'>"),
        (
            [1, -1],
            "tf.Tensor([ 1 -1], shape=(2,), dtype=int32)",
            "<tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 1, -1], dtype=int32)>",
        ),
        (
            [[1.0], [0.0]],
            "tf.Tensor(\n[[1.]\n [0.]], shape=(2, 1), dtype=float32)",
            "<tf.Tensor: shape=(2, 1), dtype=float32, numpy=\narray([[1.],\n       [0.]], dtype=float32)>",
        ),
    ],
)
def test_tensors_look_as_documented(value, text, representation):
    tensor = tf.constant(value)
    assert str(tensor) == text
    assert repr(tensor) == representation


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, tf.int32),
        (2**40, tf.int64),
        (1.0, tf.float32),
        ([1, 2.5], tf.float32),
        ([], tf.float32),
        (1j, tf.complex128),
        (np.float64(1), tf.float64),
        (np.arange(3), tf.int64),
        ([True], tf.bool),
        (["a", b"b"], tf.string),
    ],
)
def test_python_values_get_the_default_types(value, dtype):
    assert tf.constant(value).dtype is dtype


def test_python_numbers_adopt_the_type_of_a_tensor():
    assert (tf.constant(1.5) + 1).dtype is tf.float32
    assert (2 * tf.constant([1, 2], tf.int64)).dtype is tf.int64
    assert (tf.constant(7) / 2).dtype is tf.float64
    assert (tf.constant(7) // 2).numpy() == 3


def test_types_are_strict():
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        tf.add(tf.Variable(1, dtype=tf.float32), tf.Variable(1, dtype=tf.int32))
    assert str(error.value) == (
        "cannot compute AddV2 as input #1(zero-based) was expected to be a float tensor "
        "but is a int32 tensor [Op:AddV2]"
    )
    with pytest.raises(TypeError, match=r"Cannot convert 2\.5 to EagerTensor of dtype int32"):
        tf.constant(2.5, tf.int32)
    with pytest.raises(ValueError, match="unsupported type"):
        tf.constant(None)
    with pytest.raises(ValueError, match="non-rectangular"):
        tf.constant([[1], [1, 2]])


def test_sizes_must_fit():
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        tf.matmul(tf.zeros([100, 100]), tf.zeros([1, 100]))
    assert str(error.value) == "Matrix size-incompatible: In[0]: [100,100], In[1]: [1,100] [Op:MatMul]"
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.gather(tf.constant([0.0]), [1])


def test_integers_are_not_divided_by_zero():
    for divide in (lambda x, y: x // y, lambda x, y: x % y):
        for function in (divide, tf.function(divide)):
            assert function(tf.constant([7, -7]), tf.constant(4)).shape == [2]
            with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
                function(tf.constant([7, -7]), tf.constant([1, 0]))
            assert np.isnan(function(tf.constant(0.0), tf.constant(0.0)).numpy())


def test_ops_keep_the_type_of_tensors():
    x = tf.constant([[1, 2], [3, 4]])
    assert tf.reduce_sum(x).dtype is tf.int32
    assert tf.reduce_mean(x).numpy() == 2
    assert tf.cumsum(x).numpy().tolist() == [[1, 2], [4, 6]]
    assert tf.argmax(x, axis=1).dtype is tf.int64
    assert tf.concat((tf.constant([0]), [tf.constant(7, tf.int64)]), 0).dtype is tf.int32
    assert tf.one_hot([0, 2], 3).numpy().tolist() == [[1, 0, 0], [0, 0, 1]]
    assert tf.where(x > 2, x, 0).numpy().tolist() == [[0, 0], [3, 4]]
    assert [part.numpy().tolist() for part in tf.split(x, 2, axis=1)] == [[[1], [3]], [[2], [4]]]
    assert tf.transpose(x)[0, tf.newaxis].shape == (1, 2)


def test_tensors_are_immutable_and_not_hashable():
    x = tf.constant([1, 2])
    with pytest.raises(TypeError):
        x[0] = 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    assert {x.ref(): 1}[x.ref()] == 1
    x.numpy()[0] = 9
    assert x.numpy().tolist() == [1, 2]


def test_variables():
    v = tf.Variable([1.0, 2.0], name="v")
    assert repr(v) == "<tf.Variable 'v:0' shape=(2,) dtype=float32, numpy=array([1., 2.], dtype=float32)>"
    v.assign_add([1.0, 1.0])
    v.assign_sub([0.5, 0.5])
    assert (v * 2).numpy().tolist() == [3.0, 5.0]
    with pytest.raises(ValueError, match="Shape mismatch"):
        v.assign([1.0, 2.0, 3.0])


def test_tensor_shapes():
    assert str(tf.TensorShape([1])) == "(1,)"
    assert str(tf.TensorShape([None, 2])) == "(None, 2)"
    assert str(tf.TensorShape(None)) == "<unknown>"
    assert tf.TensorShape([1, None]).is_compatible_with([1, 5])


def test_print_goes_to_the_standard_error(capsys):
    tf.print("x", tf.constant([1.0, 2.5]), [1, tf.constant(2)], {"a": tf.constant(True)})
    tf.print(tf.range(10))
    assert capsys.readouterr().err == "x [1 2.5] [1, 2] {'a': 1}\n[0 1 2 ... 7 8 9]\n"


def test_importing_the_library_does_not_import_the_spelling():
    program = "import sys, autograph; assert not any('compat' in name for name in sys.modules if 'autograph' in name)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_numbers_as_print_shows_them(capsys):
    tf.print(1 / tf.constant(3.0), tf.constant(2.0), tf.constant(1e10), np.array([0.1]), -7, np.float32(0.5))
    assert capsys.readouterr().err == "0.333333343 2 1e+10 [0.1] -7 0.5\n"


def test_other_modules_of_tensorflow():
    assert tf.compat.v1.constant(3).numpy() == 3
    assert tf.compat.v1.Tensor is tf.Tensor
    assert tf.math.reduce_max(tf.nn.softmax(tf.constant([1.0, 1.0]))).numpy() == 0.5
    assert tf.linalg.inv(tf.eye(2) * 2)[0, 0].numpy() == 0.5
