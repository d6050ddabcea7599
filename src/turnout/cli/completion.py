"""turnout completion: what the Tab key knows."""

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL: put it where the shell looks for such.

    \b
    bash  turnout completion bash > /etc/bash_completion.d/turnout
    zsh   turnout completion zsh > "${fpath[1]}/_turnout"
    fish  turnout completion fish > ~/.config/fish/completions/turnout.fish
    """
    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(context.find_root().command, {}, "turnout", "_TURNOUT_COMPLETE").source())
