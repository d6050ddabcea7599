"""turnout check: what is wrong with a file, or what it would do."""

import sys
from pathlib import Path
from typing import Any

import click
import numpy as np

from turnout import config, maglev
from turnout.cli.output import output_option, print_json, table
from turnout.switch import split_of


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@output_option
def command(file: Path, output: str) -> None:
    """Check FILE: print every error with its place, or what would be served by whom."""
    try:
        fleet = config.load(file)
    except config.ConfigError as error:
        click.echo(str(error), err=True)
        count = len(error.errors)
        click.echo(f"{count} error{'s' if count > 1 else ''}, nothing would be served", err=True)
        sys.exit(2)
    for warning in fleet.warnings:
        click.echo(f"{warning.at(fleet.path)} (warning)", err=True)
    # Thousands of services may share a pool: each lookup table is built once.
    keys = {(service.pool, service.table_size) for service in fleet.services.values()}
    members = {key: _members(fleet, *key) for key in keys}
    services = [
        _served(service, members[service.pool, service.table_size])
        for service in fleet.services.values()
    ]
    splits = [_split(s, split) for s in fleet.switches.values() for split in s.splits]
    if output == "json":
        print_json({"instances": list(fleet.instances), "services": services, "splits": splits})
        return
    click.echo(
        table(
            ("SERVICE", "VIP", "PROTOCOL", "PORT", "POOL", "MEMBER", "ADDRESS", "SHARE"),
            [
                (
                    *(s[name] for name in ("service", "vip", "protocol", "port", "pool")),
                    member["backend"],
                    member["address"],
                    "draining" if member["drain"] else f"{member['share']:.2%}",
                )
                for s in services
                for member in s["members"]
            ],
        )
    )
    click.echo(f"announced by {', '.join(fleet.instances)}")
    if splits:
        click.echo()
        click.echo(
            table(
                ("SWITCH", "BRIDGE", "SPLIT", "SERVICE", "RULES", "TARGET", "PORT", "SHARE"),
                [
                    (
                        *(s[name] for name in ("switch", "bridge", "split")),
                        s["service"] or "-",
                        s["rules"],
                        target["target"],
                        target["port"],
                        f"{target['share']:.2%}",
                    )
                    for s in splits
                    for target in s["targets"]
                ],
            )
        )


def _served(service: config.Service, members: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "service": service.name,
        "vip": str(service.vip),
        "protocol": service.protocol,
        "port": "all" if service.port is None else service.port,
        "pool": service.pool,
        "encapsulation": service.encapsulation,
        "members": members,
    }


def _split(switch: config.Switch, asked: config.SwitchSplit) -> dict[str, Any]:
    made = split_of(asked)
    return {
        "switch": switch.name,
        "bridge": switch.bridge,
        "split": asked.name,
        "service": asked.service,
        "rules": len(made.rules),
        "targets": [
            {
                "target": target.name,
                "port": target.port,
                "share": round(addresses / (1 << made.width), 6),
            }
            for target, addresses in zip(asked.targets, made.partition, strict=True)
        ],
    }


def _members(fleet: config.Fleet, pool: str, table_size: int) -> list[dict[str, Any]]:
    members = fleet.pools[pool].members
    slots = maglev.build(
        [member.backend for member in members],
        [member.weight for member in members],
        table_size,
    )
    counts = np.bincount(slots, minlength=len(members))
    return [
        {
            "backend": member.backend,
            "address": str(fleet.backends[member.backend].address),
            "share": round(int(count) / table_size, 6),
            "drain": member.drain,
        }
        for member, count in zip(members, counts, strict=True)
    ]
