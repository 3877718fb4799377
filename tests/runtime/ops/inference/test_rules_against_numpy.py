"""What rules say of types is what NumPy and Python make of values: each op is run on many, and its rule is asked.

A case is an op, and arguments for it. Those that are numbers, arrays, or lists of them are values, of which the rule
gets the types; what is wrapped in `Fixed` are constants. The rule is asked three times:

    * for the types that the arguments are of: the answer must be the type of the result, if the op is not `vague`;
    * for types with unknown dimensions;
    * for inexact types.

Each time the answer must cover what the result is of.
"""

import copy
import random
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest

from autograph.runtime.graph import types
from autograph.runtime.graph.opdef import FUNCTIONS, OPS
from autograph.runtime.graph.types import ANY, ObjectType, TensorType, covers, join, type_of
from autograph.runtime.ops.arrays import casting
from autograph.runtime.ops.inference.bind_arguments import signature
from autograph.runtime.ops.python import operators
from autograph.runtime.ops.python.operators import python_function

pytestmark = pytest.mark.once

DTYPES = "?bBhHiIlLefdFD"
SHAPES = [(), (1,), (3,), (2, 3), (2, 1), (0, 3), (2, 2, 3)]


@dataclass
class Fixed:
    """An argument that is a constant of the program."""

    value: object


class Inputs:
    """Random arguments."""

    def __init__(self, seed):
        self.random = random.Random(str(seed))

    def array(self, dtype=None, shape=None):
        dtype = np.dtype(dtype or self.random.choice(DTYPES))
        shape = self.random.choice(SHAPES) if shape is None else shape
        count = int(np.prod(shape))
        numbers = [self.random.randint(0, 3) for _ in range(count)]
        if dtype.kind in "ifc" and self.random.random() < 0.3:
            numbers = [number - 2 for number in numbers]
        return np.array(numbers).astype(dtype).reshape(shape)

    def scalar(self, dtype=None):
        return self.array(dtype, ())[()]

    def python(self):
        return self.random.choice([True, 0, 1, 2, 3, -1, -2, 0.0, 0.5, 2.0, -1.5, 1j, 2 + 0j])

    def any(self):
        """A number or an array."""
        return self.random.choice([self.array, self.array, self.array, self.scalar, self.python])()

    def real(self):
        return self.array(self.random.choice("?bBhHiIlLefd"))


def result_of(name, args, kwargs):
    """What the op gives, None if it raises: rules need not know."""
    args, kwargs = copy.deepcopy((args, kwargs))
    op = OPS[name]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            if op.target:
                return type_of(op.target(*args, **kwargs))
            if name.startswith("."):
                return type_of(getattr(args[0], name[1:])(*args[1:], **kwargs))
            return type_of(python_function(name)(*args))
        except (TypeError, ValueError, OverflowError, ZeroDivisionError, IndexError, AttributeError):
            return None


def mapped(function, arg):
    """The argument with `function(value)` for each value."""
    if isinstance(arg, Fixed):
        return arg.value
    if isinstance(arg, (list, tuple)):
        return type(arg)(mapped(function, part) for part in arg)
    return function(arg)


def without_dims(type):
    return replace(type, shape=(None,) * type.ndim) if isinstance(type, TensorType) else type


def widened(inputs, type):
    """An inexact type that covers `type`."""
    if not isinstance(type, TensorType):
        return type
    others = [type_of(inputs.array(shape=(1,) * type.ndim)), types.scalar("d"), types.INT, types.FLOAT]
    wide = join(type, inputs.random.choice(others))
    return replace(wide, exact=False) if isinstance(wide, TensorType) else type


def check(name, inputs, args, kwargs={}, vague=False):
    """Whether the rule knew the type of this case; None if the case raises."""
    values, options = mapped(lambda value: value, list(args)), {key: mapped(lambda x: x, kwargs[key]) for key in kwargs}
    truth = result_of(name, values, options)
    if truth is None:
        return None
    ways = {
        "exact": type_of,
        "no dims": lambda x: without_dims(type_of(x)),
        "inexact": lambda x: widened(inputs, type_of(x)),
        "some inexact": lambda x: inputs.random.choice([type_of, lambda x: widened(inputs, type_of(x))])(x),
    }
    answers = {}
    for way, function in ways.items():
        asked = [mapped(function, arg) for arg in args]
        named = {key: mapped(function, arg) for key, arg in kwargs.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", DeprecationWarning)
            answer = answers[way] = OPS[name].infer(*asked, **named)
        shown = f"{name}{tuple(map(show, asked))} {dict((k, show(v)) for k, v in named.items())}"
        assert covers(answer, truth), f"{way}: {shown} is {truth}, not {answer}"
        if way == "exact" and not vague:
            assert answer == truth, f"{shown} is {truth}, which the rule does not know: {answer}"
    return answers["exact"] == truth


def show(arg):
    return f"[{', '.join(map(show, arg))}]" if isinstance(arg, (list, tuple)) else str(arg)


def check_many(name, cases, vague=False):
    """Check cases, of which some must not raise."""
    inputs = Inputs(name)
    done = [check(name, inputs, *case, vague=vague or is_vague(case)) for case in cases]
    assert any(each is not None for each in done), "all cases raise"


def is_vague(case):
    """Whether an axis is a value."""
    args, kwargs = (*case, {})[:2]
    return isinstance(kwargs.get("axis"), int) or any(type(arg) is int for arg in args[1:])


# ---------------------------------------------------------------------------------------------------- operators

BINARY = [*operators.BINARY, *operators.COMPARISONS]
UNARY = [*operators.UNARY, "abs"]


@pytest.mark.parametrize("name", BINARY)
def test_binary_operators(name):
    inputs = Inputs(name)
    pairs = [(inputs.any(), inputs.any()) for _ in range(150)]
    pairs += [(inputs.python(), inputs.python()) for _ in range(60)]
    pairs += [(inputs.scalar(), each()) for each in (inputs.python, inputs.scalar) for _ in range(50)]
    check_many(name, [(pair,) for pair in pairs], vague=name == "pow")


@pytest.mark.parametrize("name", BINARY)
def test_binary_operators_of_constants(name):
    inputs = Inputs(name)
    pairs = [(inputs.any(), Fixed(inputs.python())) for _ in range(150)]
    pairs += [(inputs.python(), Fixed(inputs.python())) for _ in range(60)]
    pairs += [(Fixed(inputs.python()), inputs.any()) for _ in range(50)]
    pairs += [(inputs.array(shape=(3, 2)), Fixed([1.0, 2.0])), (Fixed([1, 2]), inputs.array(shape=(2, 3)))]
    check_many(name, [(pair,) for pair in pairs], vague=name == "pow")


@pytest.mark.parametrize("name", operators.BINARY)
def test_in_place_operators(name):
    inputs = Inputs(name)
    pairs = [(inputs.any(), inputs.any()) for _ in range(120)]
    pairs += [(inputs.array(shape=(3, 3)), inputs.array(shape=(3, 3))) for _ in range(50)]
    check_many(f"i{name}", [(pair,) for pair in pairs], vague=name == "pow")


@pytest.mark.parametrize("name", UNARY)
def test_unary_operators(name):
    inputs = Inputs(name)
    check_many(name, [((inputs.any(),),) for _ in range(60)])


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 0.5, 1.0, 2.0, 1j])
def test_powers_to_constants_are_known(exponent):
    inputs = Inputs(exponent)
    numbers = [inputs.array() for _ in range(50)] + [inputs.scalar() for _ in range(50)]
    numbers += [1, 2.0, 1j, True] if exponent != 0.5 else [1j]
    check_many("pow", [((number, Fixed(exponent)),) for number in numbers])


OBJECTS = ["ab", "%s", b"c", [1], [2.0], (1, "a"), (), None, {1}, {1: 2}, range(3)]
OBJECTS += [np.arange(3), 2, True, 1.5, np.int64(2)]


@pytest.mark.parametrize("name", [name for name in BINARY if name != "pow"])
def test_operators_of_other_objects(name):
    cases = [((Fixed(a), Fixed(b)),) for a in OBJECTS for b in OBJECTS]
    check_many(name, cases, vague=True) if name not in ("matmul", "lshift") else None
    for a in OBJECTS:
        for b in OBJECTS:
            for op in (name, f"i{name}"):
                if op in OPS and (truth := result_of(op, [a, b], {})):
                    assert covers(OPS[op].infer(type_of(a), type_of(b)), truth), (op, a, b)


# ------------------------------------------------------------------------------------------------------- ufuncs

UFUNCS = sorted({name for function, name in FUNCTIONS.items() if isinstance(function, np.ufunc)})


@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs(name):
    inputs, ufunc = Inputs(name), OPS[name].target
    cases = [(tuple(inputs.any() for _ in range(ufunc.nin)),) for _ in range(40 * ufunc.nin)]
    for shapes in ([(2, 3), (3,)], [(3,), (3, 2)], [(4, 2, 3), (3, 5)]):
        cases += [(tuple(inputs.array(shape=shape) for shape in shapes),) for _ in range(20) if ufunc.signature]
    if name == "np.isnat":
        cases = [((np.array(["2020"], "M8[D]"),),)]
    check_many(name, cases)


@pytest.mark.parametrize("name", ["np.add", "np.sqrt", "np.divmod", "np.less", "np.matmul", "np.maximum"])
def test_options_of_ufuncs(name):
    inputs, ufunc = Inputs(name), OPS[name].target
    cases = []
    for _ in range(40):
        args = tuple(inputs.array("bilfd"[inputs.random.randint(0, 4)], (3, 3)) for _ in range(ufunc.nin))
        out = np.empty((3, 3), "d" if name != "np.less" else "?")
        cases += [
            (args, {"dtype": Fixed(np.float64)}),
            (args, {"casting": Fixed("unsafe"), "dtype": Fixed("f4")}),
            (args, {"out": out} if ufunc.nout == 1 else {"out": (out, Fixed(None))}),
            ((*args, out),),
            (args, {"where": np.ones((2, 3, 3), bool)}),
        ]
    check_many(name, cases)


@pytest.mark.parametrize("name", ["np.add", "np.multiply", "np.maximum", "np.logical_and", "np.subtract", "np.power"])
def test_methods_of_ufuncs(name):
    inputs = Inputs(name)
    reductions, outers, cuts = [], [], []
    for _ in range(40):
        array = inputs.array(shape=(2, 3))
        for axis in (0, 1, -1, None, (0, 1)):
            reductions.append(((array,), {"axis": Fixed(axis)}))
            reductions.append(((array, Fixed(axis)), {"keepdims": Fixed(True)}))
        outers += [((inputs.any(), inputs.any()),)]
        cuts.append(((array, Fixed([0, 1, 0]), Fixed(1)),))
    check_many(f"{name}.reduce", [*reductions, (([1, 2.0],),), ((np.ones(3), Fixed(0), Fixed("f4")),)])
    check_many(f"{name}.accumulate", [((array, Fixed(1)),) for (array, *_), *_ in reductions])
    check_many(f"{name}.outer", outers)
    check_many(f"{name}.reduceat", cuts)
    check_many(f"{name}.at", [((np.ones(3), np.array([0, 1]), 2.0),)])


# -------------------------------------------------------------------------------------------------- elementwise


POINTWISE = """
    round around angle fix i0 iscomplex isreal isneginf isposinf sinc unwrap isclose
""".split()


@pytest.mark.parametrize("name", [*POINTWISE, "real", "imag", "nan_to_num"])
def test_pointwise_functions(name):
    inputs = Inputs(name)
    count = 2 if name == "isclose" else 1
    if f"np.{name}" in OPS:
        check_many(f"np.{name}", [(tuple(inputs.any() for _ in range(count)),) for _ in range(120)])


def test_clip_where_and_others():
    inputs = Inputs(1)
    any = inputs.any
    check_many("np.clip", [((any(), any(), any()),) for _ in range(120)])
    check_many("np.clip", [((any(), any(), Fixed(None)),) for _ in range(50)])
    check_many(".clip", [((inputs.array(), any(), any()),) for _ in range(60)])
    check_many(".clip", [((inputs.array(),), {"max": any()}) for _ in range(50)])
    check_many(".round", [((number, Fixed(1)),) for _ in range(50) for number in (inputs.array(), inputs.scalar())])
    check_many(".conj", [((inputs.any(),),) for _ in range(50)])
    check_many("np.round", [((inputs.any(), inputs.random.choice([1, Fixed(2)])),) for _ in range(50)])
    check_many("np.where", [((any(), any(), any()),) for _ in range(120)])
    check_many("np.interp", [((any(), [0.0, 1.0, 2.0], inputs.array(shape=(3,))),) for _ in range(60)])
    check_many("np.real_if_close", [((any(),),) for _ in range(50)], vague=True)
    for _ in range(40):
        tests = [inputs.array("?", (3,)), inputs.array("?", (2, 3))]
        check("np.select", inputs, (tests, [any(), any()], Fixed(0)))
        check("np.select", inputs, (tests, [any(), any()], any()))
    for name in ("allclose", "array_equal", "array_equiv"):
        check_many(f"np.{name}", [((any(), any()),) for _ in range(50)])


def test_where_with_one_argument_gives_indices():
    answer = OPS["np.where"].infer(types.array(bool, 3, 4))
    assert answer == ObjectType("tuple", (types.array(np.intp, None),) * 2)


# -------------------------------------------------------------------------------------------------- reductions

REDUCTIONS = """
    np.sum np.prod np.mean np.std np.var np.min np.max np.amin np.amax np.argmin np.argmax np.any np.all np.ptp
    np.count_nonzero np.nansum np.nanprod np.nanmean np.nanstd np.nanvar np.nanmin np.nanmax np.nanargmin np.nanargmax
    .sum .prod .mean .std .var .min .max .argmin .argmax .any .all
""".split()
REDUCTIONS += ["np.median", "np.nanmedian"]
ARG = ("argmin", "argmax", "nanargmin", "nanargmax")


def reducible(inputs):
    return inputs.array(shape=inputs.random.choice([(2, 3), (2, 3), (3,), (2, 2, 3), ()]))


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    inputs, cases = Inputs(name), []
    for _ in range(25):
        array = reducible(inputs)
        for axis in (Fixed(None), Fixed(0), Fixed(-1), 1, Fixed((0, 1))):
            cases += [((array,), {"axis": axis}), ((array, axis),), ((array,), {"axis": axis, "keepdims": Fixed(True)})]
        if "dtype" in str(signature(getattr(np, name.strip(".").removeprefix("np.")))):
            cases.append(((array,), {"axis": Fixed(0), "dtype": Fixed("f4")}))
            cases.append(((array,), {"axis": Fixed(0), "out": np.empty(3, "f4")}))
        cases += [((array,),), ((inputs.any(),),)]
    check_many(name, cases)


@pytest.mark.parametrize("name", ["quantile", "percentile", "nanquantile", "nanpercentile"])
def test_quantiles(name):
    inputs, cases = Inputs(name), []
    for _ in range(50):
        array = inputs.array(inputs.random.choice("bilfd"), inputs.random.choice([(2, 3), (3,), (2, 2, 3)]))
        for q in (0.5, Fixed(0.5), Fixed([0.1, 0.2]), np.array([0.1, 0.4]), np.float32(0.3)):
            cases += [((array, q),), ((array, q), {"axis": Fixed(0)})]
            cases += [((array, q, Fixed(-1)), {"keepdims": Fixed(True)})]
        cases.append(((array, Fixed(0.5)), {"method": Fixed("nearest")}))
    check_many(f"np.{name}", cases)


@pytest.mark.parametrize("name", ["np.cumsum", "np.cumprod", "np.nancumsum", ".cumsum", "np.cumulative_sum"])
def test_cumulative(name):
    inputs, cases = Inputs(name), []
    for _ in range(25):
        array = reducible(inputs)
        cases += [((array,),), ((array,), {"axis": Fixed(-1)}), ((array,), {"axis": Fixed(0), "dtype": Fixed("f4")})]
        if name == "np.cumulative_sum":
            cases += [((array,), {"axis": Fixed(0), "include_initial": Fixed(True)})]
        else:
            cases += [((array, 1),), ((inputs.any(),),)]
    if name in OPS:
        check_many(name, cases)


def test_other_reductions():
    inputs = Inputs(2)
    for _ in range(40):
        matrix, weights = inputs.array(shape=(2, 3)), inputs.array(shape=(2, 3))
        for axis in (Fixed(None), Fixed(0), 1):
            vague = axis == 1
            check("np.average", inputs, (matrix,), {"axis": axis}, vague)
            check("np.average", inputs, (matrix, axis, weights), {}, vague)
            check("np.average", inputs, (matrix, axis, weights), {"returned": Fixed(True)}, vague)
            check("np.average", inputs, (matrix, axis), {"keepdims": Fixed(True)}, vague)
        cube = inputs.array(shape=(2, 2, 3))
        for name in ("np.trace", ".trace"):
            check(name, inputs, (matrix,))
            check(name, inputs, (matrix,), {"dtype": Fixed("f4")})
            check(name, inputs, (cube, Fixed(1), Fixed(0), Fixed(2)))
        check("np.trapezoid", inputs, (matrix, Fixed(None), inputs.python()))
        check("np.trapezoid", inputs, (matrix, inputs.array(shape=(3,))))
        check("np.trapezoid", inputs, (matrix,), {"axis": Fixed(0)})


def test_differences():
    inputs = Inputs(3)
    for _ in range(40):
        matrix, row = inputs.array(shape=(2, 3)), inputs.array(shape=(3,))
        for n in (Fixed(1), Fixed(2), Fixed(5), 1, Fixed(0)):
            check("np.diff", inputs, (matrix, n), {}, n == 1)
            check("np.diff", inputs, (row, n), {"prepend": inputs.python(), "append": inputs.array(shape=(2,))}, n == 1)
            check("np.diff", inputs, (matrix, n, Fixed(0)), {"append": inputs.array(shape=(1, 3))}, n == 1)
        check("np.ediff1d", inputs, (matrix,))
        check("np.ediff1d", inputs, (row, inputs.array(shape=(2,)), inputs.scalar()))
        check("np.gradient", inputs, (row,))
        check("np.gradient", inputs, (row, 2.0))
        check("np.gradient", inputs, (matrix,))
        check("np.gradient", inputs, (matrix,), {"axis": Fixed(1)})
        check("np.gradient", inputs, (matrix, 1.0, 2.0))


# ------------------------------------------------------------------------------------------- creation and casts


def known(name, *cases):
    """All answers to these are those of NumPy; values among the arguments are of no consequence."""
    inputs = Inputs(name)
    for case in cases:
        args, kwargs = case if len(case) == 2 and isinstance(case[1], dict) else (case, {})
        assert check(name, inputs, args, kwargs) is not None, f"{name}{args} raises"


F = Fixed


@pytest.mark.parametrize("name", ["np.zeros", "np.ones", "np.empty"])
def test_filled(name):
    known(name, (F(3),), (F((2, 3)),), (F(()),), (F([2, 3]),), (F((2, 3)), F("f4")), ((F(3),), {"dtype": F(int)}))
    assert str(OPS[name].infer((types.INT, 3))) == "f64[?,3]"
    assert str(OPS[name].infer(types.INT, np.int8)) == "i8[?]"
    assert str(OPS[name].infer(ObjectType("tuple", (types.INT, types.INT)))) == "f64[?,?]"


@pytest.mark.parametrize("name", ["np.zeros_like", "np.ones_like", "np.empty_like"])
def test_like(name):
    inputs = Inputs(name)
    check_many(name, [((inputs.any(),),) for _ in range(60)])
    check_many(name, [((inputs.any(),), {"dtype": F("i2"), "shape": F((4, 5))}) for _ in range(20)])


def test_full():
    inputs = Inputs(4)
    check_many("np.full", [((F((2, 3)), inputs.any()),) for _ in range(60)])
    check_many("np.full", [((F(3), inputs.any()), {"dtype": F("f4")}) for _ in range(20)])
    check_many("np.full_like", [((inputs.any(), inputs.any()),) for _ in range(50)])


def test_arange():
    inputs = Inputs(5)
    known("np.arange", (F(5),), (F(2), F(5)), (F(2), F(9), F(2)), (F(5.0),), (F(0), F(1), F(0.1)), (F(5), F(0), F(-2)))
    known("np.arange", (F(5), F(0)), ((F(5),), {"dtype": F("f4")}), ((F(1), F(4)), {"step": F(2)}), (F(np.float32(3)),))
    known("np.arange", ((F(1),), {"stop": F(4)}), (F(0.5), F(4)), (F(np.int16(0)), F(np.int16(5))))
    for _ in range(40):
        numbers = [inputs.scalar("BHLld?"[inputs.random.randint(0, 5)]), inputs.random.choice([1, 2, 0.5, True])]
        args = [abs(inputs.random.choice(numbers)) for _ in range(inputs.random.randint(1, 2))]
        check("np.arange", inputs, args, vague=True)
    assert str(OPS["np.arange"].infer(types.INT)) == "i64[?]"
    assert str(OPS["np.arange"].infer(0, types.INT, 2)) == "i64[?]"


@pytest.mark.parametrize("name", ["np.linspace", "np.logspace", "np.geomspace"])
def test_spaced(name):
    inputs, cases = Inputs(name), []
    for _ in range(25):
        args = inputs.any(), inputs.any()
        cases += [(args,), ((*args, F(5)),), (args, {"num": F(0), "endpoint": F(False)}), (args, {"axis": F(-1)})]
        cases += [(args, {"dtype": F("f4")})]
        if name == "np.linspace":
            cases += [(args, {"retstep": F(True)}), ((*args, F(3), F(True), F(True), F("f4")),)]
        if name == "np.logspace":
            cases += [(args, {"base": 2})]
    check_many(name, cases)
    assert str(OPS[name].infer(types.FLOAT, 1.0, types.INT)) == "f64[?]"


def test_grids():
    inputs = Inputs(6)
    known("np.eye", (F(3),), (F(3), F(4)), ((F(3),), {"k": F(1), "dtype": F(int)}))
    known("np.identity", (F(3),), (F(3), F("f4")))
    known("np.tri", (F(3),), (F(3), F(4), F(1), F("i1")))
    known("np.indices", (F((2, 3)),), (F([2, 3]), F("f4")), ((F((2, 3)),), {"sparse": F(True)}))
    for name in ("bartlett", "blackman", "hamming", "hanning"):
        known(f"np.{name}", (F(5),), (F(-1),), (F(1),))
    known("np.kaiser", (F(5), 14.0))
    rows = [inputs.array(shape=(length,)) for length in (2, 3, 4)]
    for options in ({}, {"indexing": F("ij")}, {"sparse": F(True)}, {"indexing": F("ij"), "sparse": F(True)}):
        for count in (1, 2, 3):
            known("np.meshgrid", (rows[:count], options), ([2.0, *rows[:count]], options))


def test_parts():
    inputs = Inputs(7)
    for _ in range(50):
        row, matrix = inputs.array(shape=(3,)), inputs.array(shape=(2, 3))
        for k in (F(0), F(1), F(-1), F(5), 1):
            check("np.diag", inputs, (row, k), vague=k == 1)
            check("np.diag", inputs, (matrix, k), vague=k == 1)
            check("np.diagflat", inputs, (matrix, k), vague=k == 1)
            known("np.tril", (row, k), (matrix, k))
        known("np.triu", (inputs.array(shape=(2, 2, 3)),))
        known("np.vander", (row,), (row, F(5)))
    known("np.fromiter", (F([1, 2]), F(float), F(2)))
    check("np.fromiter", inputs, (F([1, 2]), F(float)), vague=True)
    known("np.frombuffer", ((F(b"1234"),), {"dtype": F("i2"), "count": F(2)}))


@pytest.mark.parametrize("name", ["np.array", "np.asarray", "np.ascontiguousarray", "np.asfortranarray", "np.copy"])
def test_arrays_of_what_there_is(name):
    inputs = Inputs(name)
    values = [inputs.any() for _ in range(60)]
    values += [[inputs.any() for _ in range(3)] for _ in range(60)]
    values += [[inputs.python() for _ in range(3)] for _ in range(60)]
    values += [[(inputs.scalar(), 1.0), (inputs.python(), 2)] for _ in range(50)]
    values += [[], [[]], [[1, 2], [3, 4]], ((1.0,),), [[inputs.array(shape=(3,))], [inputs.array(shape=(3,))]]]
    check_many(name, [((value,),) for value in values])
    if name != "np.copy":
        check_many(name, [((value, F("c16")),) for value in values])
    known("np.array", (([1, 2],), {"ndmin": F(3)}), ((3.0,), {"ndmin": F(1), "copy": F(True)}))


def test_arrays_of_lists_of_unknown_length():
    infer = OPS["np.array"].infer
    assert str(infer(ObjectType("list", (types.FLOAT,)))) == "f64[?]"
    assert str(infer(ObjectType("list", (types.INT,)))) == "~f64[?]"        # f64[0], if there is nothing in it
    assert str(infer(ObjectType("range", (types.INT,)))) == "~f64[?]"
    assert str(infer(ObjectType("list", (types.INT,)), dtype=int)) == "i64[?]"
    assert infer(ObjectType("list")) == ANY
    assert infer(ObjectType("list", (types.array("d", 3),))) == ANY


def test_casts():
    inputs = Inputs(8)
    for dtype in ("f4", int, np.uint8, np.dtype("c16"), bool, "M8[s]"):
        values = [inputs.array(inputs.random.choice("?bBhHiIlLefd")) for _ in range(30)]
        values += [inputs.scalar(inputs.random.choice("?bBlfd")) for _ in range(30)]
        check_many(".astype", [((value, F(dtype)),) for value in values])
        check_many(".astype", [((value,), {"dtype": F(dtype), "copy": F(False)}) for value in values])
    for dtype in ("f4", "u1", "i8", "c16", "?"):
        arrays = [inputs.array(shape=(2, 8)) for _ in range(30)] + [inputs.array(shape=(8,)) for _ in range(20)]
        check_many(".view", [((array, F(dtype)),) for array in arrays + [np.float32(1), np.ones(())]])
    check_many(".view", [((inputs.array(),),) for _ in range(20)])


@pytest.mark.parametrize("name", [f"np.{cls.__name__}" for cls in casting.CLASSES])
def test_constructors(name):
    inputs = Inputs(name)
    values = [inputs.any() for _ in range(60)] + [[1, 2.0], [[True]], F("1"), [inputs.array(shape=(2,))]]
    check_many(name, [((value,),) for value in values] + [((),)], vague=np.dtype(getattr(np, name[3:])).char in "qQ")


def test_times():
    day, hours = np.array(["2020-01-01"], "M8[D]"), np.array([3, 4], "m8[h]")
    inputs = Inputs(9)
    for name in ("add", "sub", "lt", "eq"):
        for a in (day, hours, day[0], hours[0]):
            for b in (day, hours, day[0], hours[0]):
                check(name, inputs, (a, b))
    known("mul", (hours, 2), (2.0, hours))
    known("truediv", (hours, hours[0]), (hours, 2))
    known("np.timedelta64", (3, F("s")))
    known("np.max", (hours,), (day,))


# ------------------------------------------------------------------------------------------------ of all ops


MODULES = ("operators", "ufuncs", "elementwise", "reduce", "creation", "casting")
OURS = [name for name, op in OPS.items() if op.infer.__module__.rpartition(".")[2] in MODULES]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_rules_never_raise():
    inputs = Inputs(10)
    strange = [ANY, types.STR, types.NONE, types.INT, types.array("d", 3, None), types.inexact(types.scalar("d"))]
    strange += [types.MaybeUnbound(types.INT)]
    strange += [ObjectType("list", (types.INT,)), types.array(object, 3), types.array("U5")]
    strange += [None, 1, "a", [1, [2, 3]], (types.INT, "x"), slice(None), np, object(), np.ones(3), {1: types.INT}]
    for name in OURS:
        for count in [OPS[name].template.count("{}")] if OPS[name].template else range(4):
            for _ in range(5):
                OPS[name].infer(*(inputs.random.choice(strange) for _ in range(count)))


def test_the_unknown_stays_unknown():
    for name in ("add", "lt", "np.add", "np.sum", ".sum", "np.where", "np.array", "np.clip", "pow", "neg"):
        args = [ANY] * (3 if name in ("np.where", "np.clip") else OPS[name].template.count("{}") or 1)
        assert OPS[name].infer(*args) == ANY


def test_arrays_of_objects_hold_anything():
    infer = OPS["np.sum"].infer
    assert infer(types.array(object, 3)) == ANY
    assert OPS["add"].infer(types.array(object), types.array(object)) == ANY
