"""Work for modules of the standard library, on what comes with Python: its own sources, and the language reference.

Each job takes the modules it is named after, as they are or converted, and yields answers that can be compared.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

Modules = Any  # the module to work with; several where the job names several


@dataclass(frozen=True)
class Job:
    """What to do with which modules, in a few words and in code."""

    modules: tuple[str, ...]
    title: str
    work: Callable[..., Iterator[object]]


JOBS: list[Job] = []


def job(modules: str, title: str) -> Callable[[Callable[..., Iterator[object]]], None]:
    def add(work: Callable[..., Iterator[object]]) -> None:
        JOBS.append(Job(tuple(modules.split()), title, work))

    return add


_TOPICS = (
    "assert assignment attribute-access booleans break calls class comparisons compound continue conversions debugger "
    "del exceptions for function if import lambda numbers objects raise return strings try types while with yield"
).split()


@cache
def reference() -> dict[str, str]:
    """Topics of the language reference, as `help()` shows them."""
    from pydoc_data.topics import topics

    return {name: topics[name] for name in _TOPICS if name in topics}


@cache
def source(name: str) -> str:
    """The source of a module."""
    return inspect.getsource(__import__(name, fromlist=["_"]))


def words() -> list[str]:
    return re.findall(r"\w+", " ".join(reference().values()))


# ----------------------------------------------------------------------------------------------------------------------


@job("heapq", "sort, merge and rank words")
def heaps(heapq: Modules) -> Iterator[object]:
    heap: list[str] = []
    for word in words()[:6000]:
        heapq.heappush(heap, word)
    yield from [heapq.heappop(heap) for _ in range(len(heap))]
    yield from heapq.merge(*(sorted(text.split()[:80]) for text in reference().values()), key=str.lower)
    yield heapq.nlargest(9, words(), key=len)


@job("bisect", "insert words in order")
def ranks(bisect: Modules) -> Iterator[object]:
    ranked: list[str] = []
    for word in words()[:4000]:
        yield bisect.bisect_left(ranked, word), bisect.bisect(ranked, word)
        bisect.insort(ranked, word)


@job("difflib", "two files, compared line by line")
def differences(difflib: Modules) -> Iterator[object]:
    threads = source("concurrent.futures.thread").splitlines()
    processes = source("concurrent.futures.process").splitlines()
    yield from difflib.unified_diff(threads, processes, "thread.py", "process.py")
    yield from difflib.ndiff(threads[:60], processes[:60])
    yield difflib.SequenceMatcher(None, reference()["if"], reference()["while"], autojunk=False).ratio()
    yield difflib.get_close_matches("whlie", words())


@job("textwrap", "the language reference, in columns")
def paragraphs(textwrap: Modules) -> Iterator[object]:
    for text in reference().values():
        for width in (24, 40, 72):
            yield from textwrap.wrap(textwrap.dedent(text), width, break_on_hyphens=width > 40)
        yield textwrap.shorten(text, 60)


@job("statistics fractions", "the lengths of lines, in figures")
def numbers(statistics: Modules, fractions: Modules) -> Iterator[object]:
    for text in reference().values():
        lengths = [len(line) for line in text.splitlines()]
        yield statistics.mean(lengths), statistics.stdev(lengths), statistics.multimode(lengths)
        yield statistics.quantiles(lengths), statistics.median_grouped(lengths)
        yield tuple(statistics.linear_regression(range(len(lengths)), lengths))
        for length in lengths[:40]:
            yield str(fractions.Fraction(length**0.5).limit_denominator(1000))


@job("json.encoder json.decoder json.scanner json", "how often words occur, there and back")
def documents(encoder: Modules, decoder: Modules, scanner: Modules, json: Modules) -> Iterator[object]:
    for name, text in reference().items():
        told = {"topic": name, "words": Counter(text.split()), "share": [text.count(c) / len(text) for c in "aeiou«é»"]}
        written = json.dumps(told, indent=2)
        yield written
        yield json.loads(written)
        yield json.loads(json.dumps(text.splitlines(), sort_keys=True))
        try:
            json.loads(written.replace(",", ",,", 1))
        except ValueError as error:
            yield str(error)


@job("shlex", "code, split as by a shell")
def tokens(shlex: Modules) -> Iterator[object]:
    for line in source("textwrap").splitlines():
        try:
            yield shlex.split(line, comments=True)
        except ValueError as error:
            yield str(error)


@job("csv", "tables, and what separates their columns")
def tables(csv: Modules) -> Iterator[object]:
    for delimiter in ",;\t|":
        lines = [delimiter.join(text.split()[:6]) for text in reference().values()]
        dialect = csv.Sniffer().sniff("\n".join(lines), ",;\t|")
        yield dialect.delimiter, dialect.quotechar
        yield from (dict(row) for row in csv.DictReader(lines, delimiter=delimiter))


@job("configparser", "settings, written and read")
def settings(configparser: Modules) -> Iterator[object]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_dict({name: Counter(text.lower().split("\n")[0].split()) for name, text in reference().items()})
    for section in parser.sections():
        yield dict(parser[section])
    yield [str(len(parser)), *parser]


@job("argparse", "command lines, and help")
def commands(argparse: Modules) -> Iterator[object]:
    parser = argparse.ArgumentParser(prog="demo", description=reference()["if"][:400])
    parser.add_argument("files", nargs="*")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="say more")
    parser.add_argument("-n", "--number", type=int, default=3, help="how many (default: %(default)s)")
    parser.add_argument("--mode", choices=["fast", "slow"])
    yield parser.format_help()
    for line in ("a b -vv", "--number 7 c", "-n5 --mode slow", "--mode=fast -- -n", "-vvv -n 1 x y"):
        yield vars(parser.parse_args(line.split()))


@job("urllib.parse ipaddress", "addresses in the sources; networks")
def addresses(parse: Modules, ipaddress: Modules) -> Iterator[object]:
    text = " ".join(source(name) for name in ("argparse", "difflib", "statistics", "random", "ipaddress"))
    for url in re.findall(r"https?://[^\s<>'\"]+", text):
        yield tuple(parse.urlsplit(url)), parse.urljoin(url, "../x?q=1"), parse.quote(url)
        yield parse.parse_qs("u=" + parse.quote_plus(url))
    for size in range(16, 24):
        network = ipaddress.ip_network(f"10.{size}.0.0/{size}")
        yield from map(str, network.subnets(prefixlen_diff=3))
        yield [str(n) for n in ipaddress.collapse_addresses(network.subnets(prefixlen_diff=2))]


@job("calendar", "eleven years, month by month")
def months(calendar: Modules) -> Iterator[object]:
    for year in range(1996, 2027, 3):
        yield calendar.calendar(year)
        yield from (calendar.month(year, month) for month in range(1, 13))


@job("random", "seeded draws")
def draws(random: Modules) -> Iterator[object]:
    dice = random.Random(2024)
    deck = list(range(52))
    for _ in range(40):
        dice.shuffle(deck)
        yield [*deck]
        yield dice.gauss(0, 1), dice.choices("abc", [1, 2, 3], k=9), dice.sample(deck, 5), dice.betavariate(2, 3)


@job("pprint copy", "nested structures")
def structures(pprint: Modules, copy: Modules) -> Iterator[object]:
    for text in reference().values():
        branch = {word: [len(word), {word.upper()}] for word in text.split()[:30]}
        copied = copy.deepcopy(branch)
        yield copied == branch, copied is not branch
        yield pprint.pformat(copied, width=60)


@job("ast", "programs, taken apart and put together")
def programs(ast: Modules) -> Iterator[object]:
    for name in ("heapq", "textwrap", "colorsys", "shlex"):
        for statement in ast.parse(source(name)).body:
            yield ast.unparse(statement)
            yield ast.dump(statement)
