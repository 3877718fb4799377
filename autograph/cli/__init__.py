"""The command `autograph`."""

from __future__ import annotations

import importlib
from typing import Any

import click

from autograph import __version__
from autograph.cli.failure import Failure, did_you_mean
from autograph.cli.program import Program

COMMANDS = (
    *("to-code", "convert", "run", "profile", "explain", "graph", "inspect", "run-saved"),
    *("serve", "tensorboard", "cache", "doctor"),
)


class Commands(click.Group):
    """The commands; each is imported when it is needed, so that a program to be run finds few modules imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"autograph.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(f"No such command {args[0]!r}{did_you_mean(args[0], COMMANDS, alike=0.7)}", ctx)
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command and exit; errors are one line on stderr and exit status 2.

        Returns:
            The program that `autograph run` shall run, for `main` to do so without click's frames below it.
        """
        extra["standalone_mode"] = False
        try:
            result = super().main(*args, **extra)
        except click.UsageError as error:
            hint = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
            Failure(error.format_message().rstrip(".") + hint).exit()
        except click.ClickException as error:
            error.show()
            raise SystemExit(2) from None
        except click.Abort:
            raise SystemExit(130) from None
        if isinstance(result, Program):
            return result
        raise SystemExit(result if isinstance(result, int) else 0)


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="autograph %(version)s")
def commands() -> None:
    """Rewrite Python control flow into functional calls: show it, write it, run it, explain it.

    \b
    Examples:
      autograph to-code model.py                  print the whole converted file
      autograph to-code model.py:Model.step       ... of one function
      autograph convert src/model --out-dir out   write an importable package out/model
      autograph run train.py --epochs 3           run a script in converted form
      autograph run --convert heapq -m test test_heapq
      autograph profile train.py                  ... and list its staged functions by time, with advice
      autograph explain model.py:Model.step       what was converted, what was not, and why
      autograph graph model.py:step 'f64[?]'      the graph that a function becomes
      autograph inspect saved                     signatures, variables and sizes in a directory of ag.save
      autograph run-saved saved:step --input x=x.npy   call a function of it
      autograph serve saved                       ... over HTTP, as TensorFlow Serving does
      autograph tensorboard logs                  charts and graphs of ag.summary, in the browser
      autograph cache                             where machine code is kept, and how much
      autograph doctor                            versions, engines, and whether all works

    \b
    Completion by the tab key, in bash (zsh and fish: the same way):
      eval "$(_AUTOGRAPH_COMPLETE=bash_source autograph)"
    """


def main() -> None:
    """The command line; the process exits with the status of the command or program."""
    program: Program = commands.main(prog_name="autograph")
    try:
        program.run()
    except Failure as failure:
        failure.exit()
