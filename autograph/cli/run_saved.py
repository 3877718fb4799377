"""`autograph run-saved`: call a saved function."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import click

from autograph.cli import display
from autograph.cli.failure import Failure, attempt, did_you_mean
from autograph.cli.files import ENGINES, OUTPUT, Target, write_bytes
from autograph.cli.loading import SavedType, check_callbacks, described, named, reported

_INPUT = re.compile(r"([^\W\d][\w\[\]]*)=(.*)", re.DOTALL)


@click.command("run-saved", short_help="Call a saved function.")
@click.argument("target", metavar="DIR[:FUNCTION]", type=SavedType())
@click.option("--input", "texts", metavar="NAME=VALUE", multiple=True, help="An input. Repeatable.")
@click.option("-o", "--out", metavar="OUT", type=OUTPUT, help="Write the result to a file: .npy, .npz or .json.")
@click.option("--allow-callbacks", "allowed", metavar="MODULE:NAME", multiple=True, help="As for ag.load. Repeatable.")
@click.option("--engine", type=click.Choice(ENGINES), help="What runs the graph.  [default: auto]")
def command(
    target: Target, texts: tuple[str, ...], out: Path | None, allowed: tuple[str, ...], engine: str | None
) -> None:
    """Call a function of a directory that ag.save has written, and print or write its result.

    FUNCTION is a function or method as `autograph inspect` lists them; by default the only one, `serving_default` or
    `__call__`. The value of an input is a .npy or .json file, or JSON. Its numbers get the dtype of the signature; the
    array of a .npy file must have that dtype.

    It needs the extra: pip install 'autograph-py[save]'.

    \b
    Examples:
      autograph run-saved model --input x=images.npy --out scores.npy
      autograph run-saved model:step --input x='[[1, 2, 3]]' --input rate=0.1
    """
    if out is not None and out.suffix not in _WRITERS:
        raise Failure(f"{str(out)!r} does not tell its format: let it end in {', '.join(_WRITERS)}")
    found = described(target.path)
    check_callbacks(found, allowed)
    name = named(found, target).path
    given = dict(_input(text) for text in texts)
    with reported():
        from autograph.serving.model import Model

        model = Model(target.path, allowed, engine)
        inputs = model.function(name)
        for unknown in inputs.unknown(given):
            hint = did_you_mean(unknown, inputs.names())
            raise Failure(f"{name} has no input {unknown!r}{hint or '; it has: ' + ', '.join(inputs.names())}")
        try:
            result = model.call(inputs, given)
        except Exception as error:
            raise _failure(name, error) from error
    if out is None:
        display.code(f"{result!r}\n")
    else:
        with reported():
            write_bytes(out, _WRITERS[out.suffix](result))


def _failure(name: str, error: Exception) -> Failure:
    """The failure of a call in one line."""
    from autograph.errors import AutographError

    text = str(error) if isinstance(error, AutographError) else f"{name} raised {type(error).__name__}: {error}"
    return Failure(" ".join(text.split()))


def _input(text: str) -> tuple[str, Any]:
    """The name and value of an input."""
    found = _INPUT.fullmatch(text.strip())
    if not found:
        raise Failure(f"--input {text!r} has no name: write NAME=VALUE, such as x=images.npy or x='[1, 2]'")
    name, value = found.groups()
    path = Path(value)
    if path.suffix == ".npy":
        import numpy as np

        with attempt("read", path):
            try:
                return name, np.load(path, allow_pickle=False)
            except (ValueError, EOFError) as error:
                raise Failure(f"cannot read the array {value!r}: {error}") from error
    where = f"in {value!r}" if path.suffix == ".json" else f"of the input {name!r}"
    with attempt("read", path):
        content = path.read_text("utf-8") if path.suffix == ".json" else value
    try:
        return name, json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Failure(f"the value {where} is neither JSON nor the name of a .npy or .json file: {error}") from error


def _npy(result: Any) -> bytes:
    from autograph.serving.bodies import npy

    return npy(result)


def _npz(result: Any) -> bytes:
    """All outputs by name."""
    import numpy as np

    from autograph.serving.values import outputs

    file = io.BytesIO()
    np.savez(file, **outputs(result))
    return file.getvalue()


def _json(result: Any) -> bytes:
    from autograph.serving.values import plain

    return json.dumps(plain(result)).encode() + b"\n"


_WRITERS = {".npy": _npy, ".npz": _npz, ".json": _json}
