"""turnout demo: the whole system at work, and held to its promises."""

import asyncio
import dataclasses
import sys
import time
from collections.abc import Callable

import click

from turnout import lab
from turnout.cli.output import output_option, print_json, table


@click.command()
@output_option
def command(output: str) -> None:
    """Build a network of namespaces, send requests through it, kill things, and see who notices.

    A client, a router with BIRD, two instances and four backends. A backend dies and returns, then
    an instance is killed. Ends within two minutes; nothing is left, and nothing outside the
    namespaces is touched. Exit status 1 where a promise is not kept, and which.
    """
    say = _narrator()
    try:
        say("a network of namespaces: client, router, two instances, four backends")
        with lab.Lab(lab.Topology()) as network:
            say("BIRD, turnout run, turnout agent and web servers start in it")
            network.start_all()
            outcome = asyncio.run(lab.Story(network, say).tell())
    except (lab.LabError, OSError) as error:
        raise click.ClickException(str(error)) from None
    if output == "json":
        print_json({**dataclasses.asdict(outcome), "kept": outcome.kept})
    else:
        click.echo(_report(outcome))
    if not outcome.kept:
        sys.exit(1)


def _narrator() -> Callable[[str], None]:
    """Tells what happens to whoever sits at the terminal, and nothing to a pipe."""
    began = time.monotonic()

    def say(text: str) -> None:
        if sys.stderr.isatty():
            click.echo(f"{time.monotonic() - began:5.1f} s  {text}", err=True)

    return say


def _report(outcome: lab.Outcome) -> str:
    backends = list(dict.fromkeys(row.backend for row in outcome.carried))
    requests = table(
        ("STEP", "SENT", "ANSWERED", *(f"BY {name}" for name in backends), "SLOWEST MS"),
        [
            (s.step, s.sent, s.answered, *(s.answers.get(b, 0) for b in backends), s.slowest_ms)
            for s in outcome.steps
        ],
    )
    broken = table(
        ("BROKEN IN", "BACKEND", "CONNECTIONS"),
        [(s.step, name, count) for s in outcome.steps for name, count in s.broken.items()],
    )
    carried = table(
        ("INSTANCE", "BACKEND", "CONNECTIONS", "PACKETS"),
        [(row.instance, row.backend, row.new_flows, row.packets) for row in outcome.carried],
    )
    promises = table(
        ("STEP", "PROMISE", "KEPT", "FOUND"),
        [(p.step, p.text, p.kept, p.found) for p in outcome.promises],
    )
    broken_promises = sum(not p.kept for p in outcome.promises)
    verdict = (
        f"NOT as promised: {broken_promises} of {len(outcome.promises)} promises broken"
        if broken_promises
        else f"as promised; the router went round the dead instance in {outcome.rerouted_ms} ms"
    )
    return "\n\n".join((requests, broken, carried, promises, verdict))
