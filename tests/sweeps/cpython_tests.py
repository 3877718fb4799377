"""Run CPython's own tests with the modules they test converted on import, and compare with an ordinary run.

    python tests/sweeps/cpython_tests.py [--all] [MODULE ...]

For each module the running Python's own `python -m test` is run twice, in processes of their own: as it is, and through
`autograph run --convert MODULE`. As many tests must run, no more be skipped, and none fail that passes as it is.
A MODULE that is not in the list below is tried with the test named after it; MODULE:TEST names the test.
Exit status 1 if any module falls short.
"""

from __future__ import annotations

import argparse
import importlib.util
import platform
import re
import sys

from both_ways import HEADINGS, Outcome, python, shortcomings

# A module and its tests; a test that this Python does not have is left out. These are named in the project's goals:
NAMED = """
heapq: test_heapq
bisect: test_bisect
statistics: test_statistics
textwrap: test_textwrap
difflib: test_difflib
json: test_json
fractions: test_fractions
calendar: test_calendar
configparser: test_configparser
argparse: test_argparse
csv: test_csv
shlex: test_shlex
string: test_string test_string_literals
copy: test_copy
pprint: test_pprint
colorsys: test_colorsys
urllib.parse: test_urlparse
ipaddress: test_ipaddress
random: test_random
collections: test_collections test_ordered_dict test_userdict test_userlist test_userstring test_defaultdict
dataclasses: test_dataclasses
numbers: test_abstract_numbers test_numeric_tower
codeop: test_codeop
tabnanny: test_tabnanny
stat: test_stat
cgi: test_cgi
doctest: test_doctest test_doctest2
unittest.case: test_unittest
threading: test_threading
_threading_local: test_threading_local
concurrent.futures.thread: test_concurrent_futures -m*ThreadPool*
importlib._abc: test_importlib
rlcompleter: test_rlcompleter
runpy: test_runpy
zipapp: test_zipapp
trace: test_trace
bdb: test_bdb
"""
# These are quick,
QUICK = """
__future__: test_future_stmt test_future
_collections_abc: test_collections
_markupbase: test_htmlparser
_py_abc: test_abc
_pylong: test_int
_strptime: test_strptime
_sitebuiltins: test_site
_weakrefset: test_weakset
abc: test_abc
base64: test_base64
bz2: test_bz2
cmd: test_cmd
code: test_code_module
contextlib: test_contextlib test_contextlib_async
copyreg: test_copyreg
cProfile: test_cprofile
dbm.dumb: test_dbm_dumb
decimal: test_decimal
enum: test_enum
filecmp: test_filecmp
fileinput: test_fileinput
fnmatch: test_fnmatch
functools: test_functools
genericpath: test_genericpath
getopt: test_getopt
getpass: test_getpass
gettext: test_gettext
glob: test_glob
graphlib: test_graphlib
gzip: test_gzip
hashlib: test_hashlib
hmac: test_hmac
html: test_html test_htmlparser
http.client: test_httplib
http.cookiejar: test_http_cookiejar
http.cookies: test_http_cookies
http.server: test_httpservers
inspect: test_inspect
keyword: test_keyword
linecache: test_linecache
locale: test_locale
lzma: test_lzma
mimetypes: test_mimetypes
modulefinder: test_modulefinder
netrc: test_netrc
ntpath: test_ntpath
nturl2path: test_urllib
opcode: test__opcode test_opcodes
operator: test_operator
optparse: test_optparse
pickletools: test_pickletools
pkgutil: test_pkgutil
platform: test_platform
plistlib: test_plistlib
posixpath: test_posixpath
profile: test_profile
pstats: test_pstats
py_compile: test_py_compile
pyclbr: test_pyclbr
quopri: test_quopri
reprlib: test_reprlib
sched: test_sched
secrets: test_secrets
smtplib: test_smtplib
sqlite3: test_sqlite3
stringprep: test_stringprep
struct: test_struct
symtable: test_symtable
sysconfig: test_sysconfig
tempfile: test_tempfile
timeit: test_timeit
token: test_tokenize
tokenize: test_tokenize
tomllib: test_tomllib
tracemalloc: test_tracemalloc
types: test_types test_dynamicclassattribute
uuid: test_uuid
warnings: test_warnings
wave: test_wave
webbrowser: test_webbrowser
wsgiref: test_wsgiref
xdrlib: test_xdrlib
xmlrpc: test_xmlrpc test_docxmlrpc
zoneinfo: test_zoneinfo
"""
# and these are not.
SLOW = """
_compat_pickle: test_pickle
_pydatetime: test_datetime
_pydecimal: test_decimal
_pyio: test_io test_memoryio test_fileio
asyncio: test_asyncio
compileall: test_compileall
concurrent.futures: test_concurrent_futures
datetime: test_datetime
email: test_email
ftplib: test_ftplib
imaplib: test_imaplib
importlib: test_importlib
io: test_io
lib2to3: test_lib2to3
logging: test_logging
mailbox: test_mailbox
os: test_os
pathlib: test_pathlib
pdb: test_pdb
pickle: test_pickle
poplib: test_poplib
pydoc: test_pydoc
queue: test_queue
re: test_re
selectors: test_selectors
shelve: test_shelve
shutil: test_shutil
signal: test_signal
ssl: test_ssl
subprocess: test_subprocess
tarfile: test_tarfile
typing: test_typing
unittest: test_unittest
urllib: test_urllib test_urllib2 test_urllib_response test_urlparse test_robotparser
venv: test_venv
weakref: test_weakref
xml: test_xml_etree test_minidom test_sax test_pulldom test_xml_dom_minicompat
zipfile: test_zipfile
"""
# What cannot pass, and why:
#   ast: its test reads the documentation of the first subclass of ast.expr, which is gast's once gast is imported
#   codecs, encodings, zipimport: the interpreter holds on to objects of the modules that were imported first
#   dis: its test looks at the bytecode of its own functions
#   test.support, traceback: their tests count the frames that their own functions take, up to the recursion limit


def cases(names: list[str], everything: bool) -> dict[str, list[str]]:
    """The modules to try, each with its tests."""
    table = {name: tests for name, tests in rows(NAMED + QUICK + SLOW)}
    chosen = names or [name for name, _ in rows(NAMED + QUICK + (SLOW if everything else ""))]
    found = {}
    for name in chosen:
        module, _, tests = name.partition(":")
        tests = tests.replace(",", " ") or table.get(module, f"test_{module.replace('.', '_')}")
        existing = [test for test in tests.split() if not test.startswith("-") and exists(f"test.{test}")]
        if existing and exists(module):
            found[module] = existing + [option for option in tests.split() if option.startswith("-")]
        elif names:
            print(f"this Python has no module {module}, or no test {tests}")
    return found


def rows(text: str) -> list[tuple[str, str]]:
    """The rows of a table."""
    return [(name, tests) for name, _, tests in (line.partition(": ") for line in text.split("\n") if line)]


def exists(module: str) -> bool:
    """Whether this Python has a module of that name."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def run(tests: list[str], converting: list[str], timeout: float) -> Outcome:
    """Run tests; what unittest printed, which it may have done several times, tells how it went."""
    status, seconds, output = python(["-m", "test", "-v", *tests], converting, timeout)
    if isinstance(status, str):  # tests of threads and processes hang now and then, whatever runs them
        print(f"    {' '.join(tests)} {status}, {'converted' if converting else 'plain'}; once more", flush=True)
        status, seconds, output = python(["-m", "test", "-v", *tests], converting, timeout)
    ran = sum(map(int, re.findall(r"^Ran (\d+) tests? in ", output, re.MULTILINE)))
    skipped = sum(map(int, re.findall(r"^(?:OK|FAILED) \(.*?skipped=(\d+)", output, re.MULTILINE)))
    failed = set(re.findall(r"^(?:ERROR|FAIL|UNEXPECTED SUCCESS): (.*)", output, re.MULTILINE))
    return Outcome(status, ran, skipped, failed, seconds, output)


def main() -> int:
    """Try the modules; print a table, and what falls short."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", metavar="MODULE", nargs="*", help="only these; MODULE or MODULE:TEST[,TEST...]")
    parser.add_argument("--all", action="store_true", help="also the modules whose tests take longer")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for each run (600)")
    parser.add_argument("--output", action="store_true", help="show what the converted tests that fall short printed")
    options = parser.parse_args()
    short = also = total = 0
    found = cases(options.modules, options.all)
    print(" " * 27 + HEADINGS)
    for module, tests in found.items():
        plain = run(tests, [], options.timeout)
        converted = run(tests, [module], options.timeout)
        lacks = shortcomings(plain, converted)
        short += bool(lacks)
        also += bool(plain.failed)
        total += converted.run
        print(f"{module:27} {plain}     {converted}  {'FALLS SHORT' if lacks else 'ok'}", flush=True)
        for lack in lacks:
            print(f"    {lack}")
        if lacks and options.output:
            print(converted.output)
    print(
        f"Python {platform.python_version()}: {len(found) - short} of {len(found)} modules pass their tests converted"
        f" as they do plain ({total} tests; {also} of them fail some plain)"
    )
    return 1 if short or not found else 0


if __name__ == "__main__":
    sys.exit(main())
