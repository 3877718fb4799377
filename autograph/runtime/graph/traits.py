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

ELEMENTWISE = Trait("computes each element of the result of the elements at its place, as ufuncs do")
CASTS = Trait("gives the elements of an array in another dtype")
SELECTS = Trait("takes each element from one of two arrays, as a third says: `np.where`")
MASKS = Trait("gives the elements of an array where a mask is true, and zeros elsewhere")
COPIES_ARRAYS = Trait("gives views of containers, but copies of arrays")
CHANGES_ARGUMENTS = Trait("changes arguments other than the first")
MAKES_ARRAYS = Trait("makes an array, where it is lowered to machine code")
MAKES_RANGES = Trait("makes a range of integers")
LOOP = Trait("a construct whose blocks run again and again")
GRADIENT = Trait("only derivatives are made of it; it looks at nothing but arrays, numbers and containers of these")

# How Python and NumPy do an op ----------------------------------------------------------------------------------------

STATEMENT = Trait("Python has a statement for it, and no expression: `x[i] = v`, `x += v`, `while`")
UFUNC_BY_VALUE = Trait("NumPy does another ufunc for some Python numbers beside an array: for `x ** 2`, it squares")
SLOW_IN_NUMPY = Trait("NumPy takes twice the time of a loop in machine code, or one thread")
MEAN = Trait("the mean of elements")

UFUNC_IF_COMPLEX = Relation("the ufunc that a method is on complex arrays; real ones it gives back as they are")
ATTRIBUTE = Relation("the attribute that a function gets: `np.real` to `real`")
REDUCES = Relation("the ufunc by which it combines the elements of an array: `np.sum` to `np.add`")
SILENT_METHOD = Relation("the method of arrays that a function comes to, if that never warns: `np.max` to `.max`")

# Forms of operators ---------------------------------------------------------------------------------------------------

IN_PLACE = Trait("an operator that writes into its first argument, or gives another object: `x += y`")
COMPARISON = Trait("compares two values: `x < y`")
EQUALITY = Trait("asks whether values are equal, or one of several: `==`, `in`")
ORDERING = Trait("a comparison of which is less")
COMMUTATIVE = Trait("gives the same bits when its two arguments change places")
BITWISE = Trait("works on the bits of integers")
PARTIAL = Trait("an operator that some kind of numbers lacks: floats have no `&`, complex numbers no `//`")

PLAIN = Relation("the operator that is not in place: `iadd` to `add`")
NEGATED = Relation("the comparison that holds if this one does not: `lt` to `ge`")
MIRRORED = Relation("the comparison with the arguments in the other order: `lt` to `gt`")

# Integers -------------------------------------------------------------------------------------------------------------

SHIFT = Trait("moves the bits of an integer")
FLOOR_DIVISION = Trait("divides and rounds down, or gives what remains then")

INTERVAL = Relation("the rule that tells between which integers its result lies: see `ops/native/intervals.py`")
NARROWS = Relation("the rule that tells between which integers its first argument lies if this comparison holds")
SHORTENS = Relation("a rule: whether it has fewer bits, or fewer that are 1, than an argument that is positive")

# Containers and other objects -----------------------------------------------------------------------------------------

MAKES_ITERATORS = Trait("gives an iterator over its arguments, which are looked at as that is used")
AGGREGATES = Trait("goes through all items of its argument, and gives their sum, the least or greatest, or their order")
EXTREME = Trait("gives the least or the greatest of the items of an argument, or of several arguments")
OVERLOADED = Trait("does one thing to lists, and another to numbers or arrays: `a + b`")
CONSUMES = Trait("takes all items of the iterators among its arguments, before it gives anything")
GIVES_ITEM = Trait("gives an item of its first argument, or all of them one by one")
READS_ITEMS = Trait("reads the items of its first argument, or counts them, and neither changes it nor gives it back")
ADDS_NO_ITEMS = Trait("takes items out of its first argument, or changes their order, and puts none in")
NEEDS_ITEMS = Trait("raises an error for an empty list")
GIVES_KEYS = Trait("gives the keys of a mapping; Python asks for it where it says `**mapping`")
HAS_DEFAULT = Trait("may give one of its later arguments back, a default")
SHALLOW = Trait("touches the containers that it gets, but nothing that is in them")
LOOKS_UP = Trait("finds a place in its first argument by a key or number, which is the second")
KEEPS = Trait("lets its first argument refer to its last from now on: `x.attribute = y`")
INSERTS = Trait("puts its last argument into a list, whatever that is")
STRUCTURAL = Trait("looks at no more than the structure of its arguments: not at what their items are")
TAKES_NO_ITEMS = Trait("looks at its argument as it is, and takes no items from it if it is an iterator")
COMPARES_ITEMS = Trait("compares the items of its argument with one another, by a `key` that it does not keep")
COMBINES_ITEMS = Trait("makes one number or truth of the items of its argument, as they come")
DIGITS = Trait("writes or reads the digits of numbers, as far as `sys.set_int_max_str_digits` lets it")
IDENTITY = Trait("tells one object from another that is equal to it")

ITEMS = Relation("the rule that infers the type of the items of the new list that it gives")

# Sharing of memory ----------------------------------------------------------------------------------------------------

OWN_VIEW = Trait("of an array, it gives a view that is an object of its own, or nothing at all, and keeps nothing")
PART_OF_FIRST = Trait("what it gives shares memory with nothing but its first argument, or is a part of that")
RESHAPES = Trait("may change the shape or dtype of its first argument, if that is an array")
OUT_BY_NAME = Trait("writes into an array that is handed over as `out=`, but never into one without a name")
VIEW_OF_FIRST = Trait("gives a view of its first argument, if that is an array")
VIEWS_OF_FIRST = Trait("gives a new list of views of its first argument, if that is an array")
VIEW_OR_COPY = Trait("gives a view of its first argument where it can, and else a copy")
SHARES_FIRST = Trait("gives its first argument back, or a view of it, whatever that is")

SHARES = Relation("whether it gives a view of its first argument: a rule that looks at the node; None is unknown")

# Algebra, as passes use it --------------------------------------------------------------------------------------------

RING = Trait("adds, subtracts, multiplies or negates, or leaves as it is: of integers, no result fails to exist")
ARITHMETIC = Trait("adds, subtracts, multiplies or divides two numbers")
SUMMATION = Trait("a sum or mean of elements, which is there also of none")
MATRIX_PRODUCT = Trait("the product of two matrices, and nothing more general")
LENGTH = Trait("gives the length of its argument, of an array that of the first axis")
TRANSPOSES = Trait("reverses the axes of an array, unless an argument gives another order")
CONVERSION = Trait("gives its argument, if that is a number or text of the very type that it gives")

NEGATION = Trait("is true if its argument is false")
BROADCASTS = Trait("gives a view of an array in which it is repeated along axes")
ADDS_AXES = Trait("gives a view of an array with more axes, of length 1, at the places of the second argument")

NEUTRAL = Relation("the right operand that leaves the left one as it is, and for which kinds of numbers that holds")
INVOLUTION = Relation("the kinds of numbers that it gives back when done twice: `-(-x)`")
AS_UFUNC = Relation("the ufunc that an operator is on arrays: `add` to `np.add`")
AS_OPERATOR = Relation("the operator that a ufunc is: `np.add` to `add`")
AS_UFUNC_OF = Relation("the ufunc that it is on arrays, and what gives the operands: `(\"np.add\", lambda x: (x, x))`")
COPIES_UNLESS_TOLD = Relation("for what gives an array of another dtype: whether it copies one that has it already")

# When an op can fail, and what it leaves in memory --------------------------------------------------------------------

TOTAL = Trait("of one array or number, it neither raises nor warns, whatever that holds")
FILLED = Trait("makes an array of the shape that is its first argument, and of numbers that it knows itself")
IN_C_ORDER = Trait("makes an array whose last axis is the one that lies together, unless `order=` says otherwise")
SAME_IN_PLACE = Trait("gives the same bits when the result is written over an argument")

QUIET = Relation("whether running it neither raises nor warns: a rule that looks at the node")

# Elements of the result -----------------------------------------------------------------------------------------------

ARRAY_PRODUCT = Trait("sums up products of the elements of its arguments: `a @ b`, `np.einsum`")
ADDITION = Trait("adds two arguments, or subtracts them")
MOVES = Trait("moves, repeats, leaves out or sums up elements, with either sign, and multiplies none")
CHOOSES = Trait("gives zeros all over, or in the place of elements that were not chosen")
GIVES_BOOLEANS = Trait("gives booleans, of numbers and arrays of them")
GIVES_FORM = Trait("gives the shape of its first argument, or a number that follows from that")
HOLDS_FLOATS = Trait("may give integers that tell floats exactly: by their bits, or as a ratio")
READS_TEXT = Trait("may make an integer of a text")

FACTORS = Relation("which of its arguments the result is a multiple of: `truediv` to the first")

# Writing --------------------------------------------------------------------------------------------------------------

PRINTS = Trait("writes a text to a file, and changes nothing else")

WRITTEN_ARGUMENT = Relation("which argument it writes into some of the items of the first: `np.put` to 2")

# Derivatives ----------------------------------------------------------------------------------------------------------

STRONG_ZEROS = Trait("gives gradients which are zero where what they belong to does not count, whatever that is")
