"""A module that has its own `ag__`."""

from tests.corpus import calls


@calls("2", "0")
def ag_names(n):
    ag__ = "mine"
    ag___ = "also"
    for ag in range(n):
        ag__ += str(ag)
        if ag:
            ag___ = ag__
    return ag__, ag___
