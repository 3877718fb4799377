# Re-raising stays; causes stay where they are.
# >>> f("x")
# >>> f("")
def f(text):
    try:
        return int(text)
    except ValueError as error:
        if len(text) == 0:
            raise
        raise KeyError(text) from error

# ------------------------------------------------------------ becomes
def f(text):
    try:
        return ag__.int_(text)
    except ValueError as error:
        def if_body():
            raise
        ag__.if_stmt(ag__.len_(text) == 0, if_body)
        raise ag__.raise_(KeyError(text)) from ag__.raise_(error)
