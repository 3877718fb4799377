"""The marks by which converted code is recognised: the last constant of each of its code objects."""

from __future__ import annotations

from types import CodeType

BODY = "\0body"  # a piece of a function of the user's
WHOLE = "\0whole"  # anything else


def is_body(code: CodeType) -> bool:
    """Whether `code` is that of a function that converters generated."""
    return code.co_consts[-1:] == (BODY,)


def is_converted(code: CodeType) -> bool:
    """Whether `code` came out of a conversion."""
    return code.co_consts[-1:] in ((BODY,), (WHOLE,))


class Unbound:
    """The class of `UNBOUND`, which stands for the value of a variable that has none."""

    def __repr__(self) -> str:
        return "UNBOUND"


UNBOUND = Unbound()
