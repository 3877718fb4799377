# What looks at the caller is often imported where it is used; a logger's `warn` is another one.
# >>> sorted(old(1)), log_all([1], print)
def old(*args):
    if args:
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.warn("old is old", DeprecationWarning, stacklevel=2)
    return args


def log_all(xs, warn_):
    class log:
        warn = staticmethod(warn_)

    for x in xs:
        log.warn("%s %s", x, xs)

# ------------------------------------------------------------ becomes
def old(*args):
    if args:
        import warnings
        with ag__.call(warnings.catch_warnings)():
            ag__.call(warnings.simplefilter)("ignore")
            warnings.warn("old is old", DeprecationWarning, stacklevel=2)
    return args


def log_all(xs, warn_):
    class log:
        warn = staticmethod(warn_)

    def loop_body(x):
        ag__.call(log.warn)("%s %s", x, xs)
    ag__.for_stmt(xs, loop_body)
