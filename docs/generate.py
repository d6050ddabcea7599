"""The reference pages, made from what the program itself knows."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from turnout import config, core
from turnout.cli import main


def write(folder: Path) -> None:
    """Write every generated page into `folder`."""
    folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        page = folder / f"{name}.md"
        # An unchanged page keeps its time, so that Sphinx builds only what changed.
        if not page.exists() or page.read_text() != text:
            page.write_text(text)


def pages() -> dict[str, str]:
    """Page name to MyST Markdown."""
    return {
        "configuration": config.reference(),
        "commands": commands(),
        "counters": counters(),
    }


def commands() -> str:
    """Every command with its arguments and options, from click."""
    return "# Commands\n\n" + "\n".join(_command(main, click.Context(main, info_name="turnout")))


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    if not isinstance(command, click.Group):
        yield f"## `{context.command_path}`\n"
        yield f"```text\n{command.get_help(context)}\n```\n"
        return
    if context.parent is None:
        yield f"```text\n{command.get_help(context)}\n```\n"
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        if inner is not None:
            yield from _command(inner, click.Context(inner, context, info_name=name))


def counters() -> str:
    """What becomes of packets: every reason of the forwarder and of the agent."""
    return (
        "# Counters\n\n"
        "Every packet that reaches the forwarder is counted once, under the reason for what became "
        "of it. `turnout show counters` prints them; `/metrics` exports them as "
        "`turnout_packets_total`.\n\n"
        f"{_reasons(core.reasons())}\n"
        "On a backend the agent counts what comes in at its interfaces, and logs what it drops.\n\n"
        f"{_reasons(core.agent_reasons())}"
    )


def _reasons(reasons: Iterable[core.Reason]) -> str:
    rows = "".join(f"| `{name}` | {verdict} | {text} |\n" for name, verdict, text in reasons)
    return f"| reason | verdict | meaning |\n|---|---|---|\n{rows}"
