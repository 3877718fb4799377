"""Traits of ops: facts that passes, gradients and engines ask of ops, besides effect and types.

A trait is the set of the names of all ops that have it. It is defined here, with its meaning; the declarations of ops
name the traits that they have:

    declare("add", …, traits=[COMMUTATIVE, RING, (NEUTRAL, (0, "iu"))])

Others ask `node.op in COMMUTATIVE`. A relation maps the name of an op to that of another one, or to another fact:

    NEUTRAL["add"]

An in-place operator has the traits of the plain one through `plain(node.op) in COMMUTATIVE`.

Importing `autograph.runtime.ops` fills the traits, so no module may copy one at import time.
"""

from __future__ import annotations

from typing import Any


class Trait(set[str]):
    """The names of the ops that have a trait."""

    def __init__(self, meaning: str) -> None:
        super().__init__()
        self.meaning = meaning


class Relation(dict[str, Any]):
    """Another op, or another fact, for each op that has one."""

    def __init__(self, meaning: str) -> None:
        super().__init__()
        self.meaning = meaning


def mark(names: str, *traits: Trait) -> None:
    """Add traits to ops, in the file that declares them."""
    for trait in traits:
        trait.update(names.split())


def plain(op: str) -> str:
    """The operator that an in-place operator applies: `add` for `iadd`; any other op itself."""
    found: str = PLAIN.get(op, op)
    return found


# Kinds of functions ---------------------------------------------------------------------------------------------------

ELEMENTWISE = Trait("computes each element of the result from the elements at its place, as ufuncs do")
CASTS = Trait("converts the elements of an array to another dtype")
SELECTS = Trait("takes each element from one of two arrays, as a mask says: `np.where`")
MASKS = Trait("keeps the elements of an array where a mask is true, and gives zeros elsewhere")
COPIES_ARRAYS = Trait("returns views of containers, but copies of arrays")
CHANGES_ARGUMENTS = Trait("mutates arguments other than the first")
MAKES_ARRAYS = Trait("its lowering allocates an array")
MAKES_RANGES = Trait("makes a range of integers")
MAKES_OBJECTS = Trait("makes an instance of a class, with its attributes, and runs no code of the class")
LOOP = Trait("a construct whose blocks run repeatedly")
CHECKS_CLASS = Trait("asks what the class of its first argument is or has, and runs no code of the class")
GRADIENT = Trait("used by derivatives only; it reads nothing but arrays, numbers and containers of these")

# How Python and NumPy do an op ----------------------------------------------------------------------------------------

STATEMENT = Trait("a statement of Python, and no expression: `x[i] = v`, `x += v`, `while`")
UFUNC_BY_VALUE = Trait("NumPy uses another ufunc for some Python numbers beside an array: for `x ** 2`, it squares")
SLOW_ON_LIST = Trait("Python takes many times as long for the items of a list as a loop in machine code")
RELEASES_LOCK = Trait("its lowering calls a function that lets other threads run meanwhile")
SLOW_IN_NUMPY = Trait("NumPy takes twice the time of a loop in machine code on one thread")
MEAN = Trait("the mean of elements")

UFUNC_IF_COMPLEX = Relation("the ufunc of a method on complex arrays; real ones it returns unchanged")
ATTRIBUTE = Relation("the attribute that a function reads: `real` for `np.real`")
REDUCES = Relation("the ufunc that combines the elements of an array: `np.add` for `np.sum`")
OUTER = Relation("the ufunc that it applies to each pair of elements of two arrays: `np.add` for `np.add.outer`")
SILENT_METHOD = Relation("the method of arrays that a function calls, if it never warns: `.max` for `np.max`")

# Forms of operators ---------------------------------------------------------------------------------------------------

IN_PLACE = Trait("an operator that writes to its first argument, or returns another object: `x += y`")
COMPARISON = Trait("compares two values: `x < y`")
EQUALITY = Trait("tests whether values are equal, or whether one equals one of several: `==`, `in`")
ORDERING = Trait("compares by order")
COMMUTATIVE = Trait("gives the same bits for swapped arguments")
BITWISE = Trait("works on the bits of integers")
PARTIAL = Trait("an operator that some kinds of numbers lack: floats have no `&`, complex numbers no `//`")

PLAIN = Relation("the operator that an in-place operator applies: `add` for `iadd`")
NEGATED = Relation("the opposite comparison: `ge` for `lt`")
MIRRORED = Relation("the comparison with swapped arguments: `gt` for `lt`")

# Integers -------------------------------------------------------------------------------------------------------------

SHIFT = Trait("shifts the bits of an integer")
FLOOR_DIVISION = Trait("divides and rounds down, or gives the remainder")

INTERVAL = Relation("the rule for the interval of its integer result: see `ops/native/intervals.py`")
NARROWS = Relation("the rule for the interval of its first argument, if this comparison holds")
SHORTENS = Relation("a rule: whether the result has fewer bits, or fewer bits that are 1, than a positive argument")

# Containers and other objects -----------------------------------------------------------------------------------------

MAKES_ITERATORS = Trait("returns an iterator over its arguments, which it reads as it is used")
AGGREGATES = Trait("reads all items of its argument, and returns their sum, extreme, or sorted order")
EXTREME = Trait("returns the least or the greatest item of an argument, or of several arguments")
OVERLOADED = Trait("differs for lists, and for numbers or arrays: `a + b`")
CONSUMES = Trait("takes all items of the iterators among its arguments before it returns anything")
GIVES_ITEM = Trait("returns an item of its first argument, or all of them one by one")
READS_ITEMS = Trait("reads or counts the items of its first argument, and neither mutates nor returns it")
ADDS_NO_ITEMS = Trait("removes or reorders items of its first argument, and adds none")
NEEDS_ITEMS = Trait("raises an error for an empty list")
GIVES_PARTS = Trait("returns an item of its first argument, or the shadow of one, or a later argument in place of it")
COPIES_ITEMS = Trait("returns a new list of the items of its first argument, if that is a list")
ITERATES = Trait("returns an iterator over the items of its argument, which it gives as they are")
VIEWS_ITEMS = Trait("returns a view of the keys, values or items of a mapping")
TAKES_ANY = Trait("takes objects of any class, and returns or writes a text")
GIVES_KEYS = Trait("returns the keys of a mapping; Python calls it for `**mapping`")
HAS_DEFAULT = Trait("may return one of its later arguments, a default")
SHALLOW = Trait("uses containers, but not their items")
LOOKS_UP = Trait("finds a place in its first argument by the second, a key or number")
KEEPS = Trait("makes its first argument refer to its last: `x.attribute = y`")
HANDLES_ERRORS = Trait("a statement of the user's that handles an exception which its own operations raise")
INSERTS = Trait("puts its last argument into a list, whatever it is")
STRUCTURAL = Trait("reads only the structure of its arguments, and not their items")
TAKES_NO_ITEMS = Trait("takes no items from an argument that is an iterator")
COMPARES_ITEMS = Trait("compares the items of its argument with one another, by a `key` that it does not keep")
SEARCHES = Trait("compares the items of its first argument with the second: `xs.index(x)`")
COMBINES_ITEMS = Trait("combines the items of its argument in order to one number or truth value")
DIGITS = Trait("writes or reads the digits of numbers, within `sys.set_int_max_str_digits`")
IDENTITY = Trait("compares identities, which differ for equal objects")

ON_LIST = Relation("the routine of machine code for a list of Python's: see `engines/native/loops/lists.py`")
ON_CONTAINER = Relation("the routine of machine code for other containers: see `engines/native/loops/containers.py`")
LOOKS_INTO = {"item": 0, "get": 0, "size": 0, "contains": 1}    # those that only look, and the argument into which
ON_ATTRIBUTE = Relation("the routine of machine code for an attribute: see `engines/native/loops/attributes.py`")
DRAWS_ITEMS = Relation("the routine of machine code for random items: see `engines/native/loops/random_items.py`")
CHOOSES_BY = Relation("the comparison of a later argument with an earlier one by which it returns the later one")
ITEMS = Relation("the rule that infers the type of the items of the list that it returns")

# Sharing of memory ----------------------------------------------------------------------------------------------------

OWN_VIEW = Trait("of an array, it returns a new view object, or nothing, and keeps no reference")
PART_OF_FIRST = Trait("its result shares memory with its first argument only, or is a part of it")
RESHAPES = Trait("may change the shape or dtype of an array that is its first argument")
OUT_BY_NAME = Trait("writes to an array passed by `out=`, but never to one passed by position")
VIEW_OF_FIRST = Trait("returns a view of its first argument, if that is an array")
VIEWS_OF_FIRST = Trait("returns a new list of views of its first argument, if that is an array")
VIEW_OR_COPY = Trait("returns a view of its first argument where possible, and else a copy")
SHARES_FIRST = Trait("returns its first argument, or a view of it, whatever that is")

SHARES = Relation("whether it returns a view of its first argument: a rule for nodes; None is unknown")

# Algebra, as passes use it --------------------------------------------------------------------------------------------

RING = Trait("adds, subtracts, multiplies, negates or returns its argument: it never fails for integers")
ARITHMETIC = Trait("adds, subtracts, multiplies or divides two numbers")
SUMMATION = Trait("a sum or mean of elements, also of none")
MATRIX_PRODUCT = Trait("the product of two matrices, and nothing more general")
LENGTH = Trait("returns the length of its argument, for an array that of the first axis")
TRANSPOSES = Trait("reverses the axes of an array, unless an argument gives another order")
CONVERSION = Trait("returns its argument, if that is a number or text of the type of the result")

NEGATION = Trait("is true if its argument is false")
BROADCASTS = Trait("returns a view of an array that repeats it along axes")
ADDS_AXES = Trait("returns a view of an array with more axes of length 1, at the places of the second argument")

NEUTRAL = Relation("the neutral right operand, and the kinds of numbers for which it is neutral")
INVOLUTION = Relation("the kinds of numbers for which it is an involution: `-(-x)`")
WITH_ONE_ARGUMENT = Relation("the op that it is with one argument, an array: `np.nonzero` for `np.where`")
AS_UFUNC = Relation("the ufunc of an operator on arrays: `np.add` for `add`")
AS_OPERATOR = Relation("the operator of a ufunc: `add` for `np.add`")
AS_UFUNC_OF = Relation("the ufunc that it is on arrays, and what gives the operands: `(\"np.add\", lambda x: (x, x))`")
COPIES_BY_DEFAULT = Relation("for a conversion to a dtype: whether it copies an array that already has the dtype")

# When an op can fail, and what it leaves in memory --------------------------------------------------------------------

TOTAL = Trait("for one array or number, it neither raises nor warns")
FILLED = Trait("makes an array of the shape in its first argument, with elements of its own")
IN_C_ORDER = Trait("makes an array in C's order, unless `order=` says otherwise")
SAME_IN_PLACE = Trait("gives the same bits when the result is written over an argument")

QUIET = Relation("whether running it neither raises nor warns: a rule for nodes")

# Elements of the result -----------------------------------------------------------------------------------------------

SORTS = Trait("its lowering for a vector gives its elements in another order, a few of them without an object")
MAKES_VIEWS = Trait("its lowering makes views of arrays for which there is no object")
ONE_BY_ONE = Trait("its lowering for arrays calls a loop of NumPy's for each element")
QUADRATIC = Trait("its lowering for arrays takes a time that grows with the square of their lengths")
DIVIDES = Trait("the same unless it divides integers by a constant")
READS_VIEWS = Trait("its lowering reads arrays, also views for which there is no object")
ARRAY_PRODUCT = Trait("sums products of the elements of its arguments: `a @ b`, `np.einsum`")
ADDITION = Trait("adds or subtracts two arguments")
MOVES = Trait("moves, repeats, drops or sums elements, with either sign, and multiplies none")
CHOOSES = Trait("returns zeros everywhere, or in place of elements that were not chosen")
GIVES_BOOLEANS = Trait("returns booleans, for numbers and arrays")
GIVES_SHAPE = Trait("returns the shape of its first argument, or a number that follows from it")
ENCODES_FLOATS = Trait("may return integers that encode floats exactly: by their bits, or as a ratio")
READS_TEXT = Trait("may parse an integer from a text")

FACTORS = Relation("the arguments that the result is proportional to: the first for `truediv`")

# Writing --------------------------------------------------------------------------------------------------------------

PRINTS = Trait("writes a text to a file, and mutates nothing else")

WRITTEN_ARGUMENT = Relation("the position of the value that it writes to some items of the first: 2 for `np.put`")

# Derivatives ----------------------------------------------------------------------------------------------------------

STRONG_ZEROS = Trait("returns gradients that may be strong zeros")
