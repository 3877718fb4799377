# The inside of a string is never re-indented.
# >>> f(1), f.__doc__
def f(n):
    """A docstring
    of two lines.
    """
    text = ""
    if n > 0:
        text = """
  first
    second
"""
        more = f'''
{n}
      {"x" if n else ""}'''
        text += more
    return text

# ------------------------------------------------------------ becomes
def f(n):
    """A docstring
    of two lines.
    """
    text = ""

    def if_body():
        nonlocal text
        text = """
  first
    second
"""
        more = ag__.fstring(lambda: f'''
{n}
      {ag__.if_exp(n, lambda: "x", lambda: "")}''')
        text += more
    ag__.if_stmt(n > 0, if_body, None, ('text',))
    return text
