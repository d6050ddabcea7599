"""The command line: what a person touches. One module a command, imported when it is called."""

from importlib import import_module

import click

from turnout import __version__

# name -> module under turnout.cli, which defines `command`
COMMANDS = (
    "agent",
    "announce",
    "bench",
    "check",
    "completion",
    "demo",
    "lab",
    "mtu",
    "plan",
    "run",
    "schema",
    "show",
    "split",
)


class Commands(click.Group):
    """Finds a command by its name, so that `turnout check` does not import the daemon."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"turnout.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="turnout")
def main() -> None:
    """Turnout: a layer-4 load balancer for Linux."""
