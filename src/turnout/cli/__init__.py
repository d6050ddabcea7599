"""The command line: what a person touches. One module a command, imported when it is called."""

from importlib import import_module

import click
from click.shell_completion import CompletionItem

from turnout import __version__

# name -> module under turnout.cli, which defines `command`; a blank is _ there
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
    "split diff",
    "switch",
)


class Commands(click.Group):
    """Finds a command by its name, so that `turnout check` does not import the daemon."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"turnout.cli.{cmd_name.replace(' ', '_')}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A command may be two words, of which the first is a command with arguments of its own."""
        both = " ".join(args[:2])
        return super().resolve_command(ctx, [both, *args[2:]] if both in COMMANDS else args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The first words; the shell completes one word at a time."""
        return [item for item in super().shell_complete(ctx, incomplete) if " " not in item.value]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="turnout")
def main() -> None:
    """Turnout: a layer-4 load balancer for Linux."""
