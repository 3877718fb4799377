"""Python's messages for variables without a value, with `{}` for the name."""

from __future__ import annotations


def _messages() -> tuple[str, str]:
    texts = []

    def free() -> object:
        return variable

    def local() -> object:
        del variable  # noqa: F821
        return None

    for function in (free, local):
        try:
            function()
        except NameError as error:
            texts.append(str(error).replace("variable'", "{}'"))
    variable = None
    return texts[0], texts[1]


UNBOUND_FREE, UNBOUND_LOCAL = _messages()
