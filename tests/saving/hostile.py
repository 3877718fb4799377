"""A program for `test_hostile.py`: changes saved directories at random, loads them, and watches what happens.

    hostile.py FOLDER SEED COUNT

Each changed directory must load, or raise `LoadError`. Meanwhile an audit hook ends the process if a file outside of
the directory is opened, something is written, imported or started; and the memory of the process is limited.
"""

from __future__ import annotations

import collections
import json
import os
import random
import resource
import shutil
import signal
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import autograph as ag
from autograph.errors import AutographError, LoadError
from autograph.saving import directory

MEMORY = 4 * 2**30      # bytes of address space
Point = collections.namedtuple("Point", "x y")
STATE = {"count": 0, "items": [1.0, 2.0]}
TABLE = np.arange(6.0).reshape(2, 3)


class Model(ag.Module):
    def __init__(self) -> None:
        self.layer = ag.nn.Dense(3, 2, activation=np.tanh)
        self.rate, self.parts = 0.5, {"scale": ag.Variable([1.0, 2.0], name="scale")}

    @ag.function
    def __call__(self, x: Any, flag: bool = True) -> Any:
        y = self.layer(x) * self.parts["scale"] * self.rate
        return {"y": y, "point": Point(y.sum(), "text")}


@ag.function
def program(x: Any, n: Any, xs: Any) -> Any:
    STATE["count"] += 1
    total = 0.0
    for i in range(n):
        if x[i] > 1:
            total += x[i] * TABLE[1, 2]
        xs.append(total)
    while total > 10:
        total = total / 2
    if n > 100:
        raise ValueError(f"too large: {n}")
    print("total", total, sorted(xs, key=abs)[:1])
    return Point(total, xs[0]), x.astype("f4")


def originals(folder: Path) -> list[tuple[Path, tuple[Any, ...]]]:
    """Saved directories, with arguments for a call."""
    x = np.ones((4, 3))
    model = Model()
    model.__call__.compile(x)
    program.compile(np.ones(3), 2, [1.0])
    made = [(model, (x,)), (program, (np.ones(3), 2, [1.0]))]
    for number, (thing, _) in enumerate(made):
        ag.save(thing, folder / f"original{number}")
    return [(folder / f"original{number}", arguments) for number, (_, arguments) in enumerate(made)]


# Changes --------------------------------------------------------------------------------------------------------------

NASTY: list[Any] = [
    *("os.system", "os:system", "builtins.eval", "eval", "exec", "__import__", "np.load", "np.fromfile", "open"),
    *(".tofile", ".__class__", ".__reduce__", "__globals__", "__class__", "__init__", "f_globals", "call", "new"),
    *("__import__('os').system('touch /tmp/x')", "[].__class__.__base__.__subclasses__()", "(lambda: 0)()", "getattr"),
    *("../../etc/passwd", "/etc/passwd", "/dev/zero", "arrays-0000000000000000.safetensors", "x" * 5000, "", "\0"),
    *("O", "V1000000000", "<U1000000000", "f64[9999999999999,99]", "f64[-1]", "list<" * 50 + "int" + ">" * 50),
    *("1e999", "\ud800", -1, 0, 1, 2**31, 2**63, 2**200, 10**15, 1e308, -0.0, True, False, None, [], {}, [[]]),
    *({"itself": 0}, {"literal": "9" * 9000}, {"literal": "np.load"}, {"name": "os.system"}, {"value": 10**9}),
    *({"object": 0}, {"tuple": [{"object": 1}]}, {"dict": [[{"list": []}, 1]]}, "delattr", "a0 < (1).real"),
    *({"kind": "list", "items": [{"object": 0}]}, {"kind": "callback", "name": "os:system"}),
    {"kind": "array", "array": "array0", "dtype": "<f8", "shape": [2**40, 2**20]},
]  # fmt: skip


def spots(document: Any) -> Iterator[tuple[Any, ...]]:
    """The paths of all parts of a JSON document that are not nested very deeply."""
    rest: list[tuple[Any, tuple[Any, ...]]] = [(document, ())]
    while rest:
        part, path = rest.pop()
        if path:
            yield path
        items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        rest += [(inner, (*path, key)) for key, inner in items if len(path) < 60]


def change_document(document: Any, draw: random.Random) -> None:
    """Change some parts of a document, so that its checksum is right."""
    for _ in range(draw.choice([1, 1, 1, 2, 5])):
        path = draw.choice(list(spots(document)))
        owner, key = document, path[-1]
        for step in path[:-1]:
            owner = owner[step]
        kind = draw.randrange(6)
        if kind == 0:
            del owner[key]
        elif kind == 1:
            owner[key] = draw.choice(NASTY)
        elif kind == 2:     # exchange with a part elsewhere
            other = draw.choice(list(spots(document)))
            found = document
            for step in other:
                found = found[step]
            owner[key] = found      # written twice, or a cycle, which JSON cannot write
        elif kind == 3 and isinstance(owner[key], int):
            owner[key] += draw.choice([-1, 1, 10, 2**40])
        elif kind == 4 and isinstance(owner, list):
            owner.insert(draw.randrange(len(owner) + 1), owner[key])
        elif kind == 5:
            deep: Any = 1
            for _ in range(draw.choice([50, 500, 5000])):
                deep = {draw.choice(["tuple", "list"]): [deep]}
            owner[key] = deep


def change(folder: Path, others: list[Path], draw: random.Random) -> str:
    """Change a directory; gives the kind of change."""
    graph, arrays = folder / "graph.json", next(folder.glob("*.safetensors"))
    kind = draw.choice(["bits", "bits", "cut", "document", "document", "document", "document", "link", "swap", "lost"])
    file = draw.choice([graph, arrays])
    if kind == "bits":
        data = bytearray(file.read_bytes())
        for _ in range(draw.choice([1, 1, 3, 30])):
            data[draw.randrange(min(len(data), draw.choice([20, 500, 10**9])))] ^= 1 << draw.randrange(8)
        file.write_bytes(data)
    elif kind == "cut":
        data = bytearray(file.read_bytes())
        file.write_bytes(data[: draw.randrange(len(data))] + data * draw.randrange(2))
    elif kind == "document":
        document = json.loads(graph.read_text())
        change_document(document, draw)
        try:
            if draw.random() < 0.9 and isinstance(document, dict):
                document["checksum"] = directory.checksum(document)
            graph.write_text(json.dumps(document), errors="surrogatepass")
        except (RecursionError, ValueError):    # it is too deep to be written, or contains itself
            graph.write_text("[" * 100_000)
    elif kind == "link":
        file.unlink()
        draw.choice([lambda: file.symlink_to("/etc/passwd"), lambda: os.mkfifo(file), file.mkdir, file.touch])()
    elif kind == "swap":
        shutil.copy(next(draw.choice(others).glob(draw.choice(["graph.json", "*.safetensors"]))), file)
    else:
        file.unlink()
    return kind


# Watching -------------------------------------------------------------------------------------------------------------

WATCHED: list[Path] = []        # the directory that is loaded; empty while nothing is watched
_STARTS = ("os.system", "os.exec", "os.fork", "os.posix_spawn", "subprocess.Popen", "socket.connect", "ctypes.dlopen")
_CHANGES = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.chmod", "os.link", "os.symlink", "shutil.rmtree")


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: ends the process if a loaded directory does something."""
    if not WATCHED:
        return
    if event in _STARTS or event in _CHANGES or event == "import":
        stop(f"{event} {arguments}")
    if event == "open" and isinstance(arguments[0], str):
        path, flags = Path(os.path.abspath(arguments[0])), arguments[2] or 0
        is_source = path.suffix in (".py", ".pyc") and WATCHED[0] not in path.parents       # shown in tracebacks
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) or not (WATCHED[0] in path.parents or is_source):
            stop(f"{event} {arguments}")


def stop(what: str) -> None:
    WATCHED.clear()
    print("FORBIDDEN", what, flush=True)
    traceback.print_stack()
    os._exit(3)


class Late(BaseException):
    """A call takes too long."""


def late(*_: Any) -> None:
    raise Late


def attempt(folder: Path, arguments: tuple[Any, ...], call: bool) -> str:
    """Load a directory, and call what is loaded; gives the name of the outcome."""
    WATCHED.append(folder)
    try:
        signal.setitimer(signal.ITIMER_REAL, 10)
        try:
            loaded = ag.load(folder)
        except LoadError:
            return "refused"
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        if call and callable(loaded):
            try:
                loaded(*arguments)
            except AutographError:
                return "not called"
            except Exception as error:
                return f"called: {type(error).__name__}"
        return "loaded"
    except Late:
        return "late"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        WATCHED.clear()


def main(home: Path, seed: int, count: int) -> None:
    draw = random.Random(seed)
    signal.signal(signal.SIGALRM, late)
    saved = originals(home)
    for folder, arguments in saved:     # imports all that loading needs
        assert attempt(folder, arguments, True) == "loaded"
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.addaudithook(watch)
    outcomes: collections.Counter[str] = collections.Counter()
    devnull = open(os.devnull, "w")  # noqa: SIM115
    for number in range(count):
        folder, arguments = draw.choice(saved)
        target = home / "changed"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder, target)
        kind = change(target, [each for each, _ in saved], draw)
        out, sys.stdout = sys.stdout, devnull
        try:
            outcome = attempt(target, arguments, number % 4 == 0)
        except BaseException:
            sys.stdout = out
            print(f"seed {seed}, input {number} ({kind}):", file=sys.stderr)
            raise
        finally:
            sys.stdout = out
        outcomes[f"{kind}: {outcome}"] += 1
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
