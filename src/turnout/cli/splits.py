"""What the commands on splits share: which split is meant, and how one is shown."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, TypeVar

import click

from turnout.cli.output import table
from turnout.split import (
    NORMS,
    RELATIVE,
    Norm,
    Rule,
    Split,
    approximate,
    count,
    error_of,
    evaluate,
    fewest,
    request,
    wcmp,
)

WIDEST = 32
NEAR_ENOUGH = Fraction(1, 100)


Command = TypeVar("Command", bound=Callable[..., Any])


def split_options(command: Command) -> Command:
    """What may be asked of a split beside its weights: width, budget, norm, max_error."""
    for option in (
        click.option(
            "--max-error",
            help="Instead of --rules: as few rules as an error of so much allows (1%, 0.01), as a "
            "share of all addresses, for the relative norms of what was asked for.",
        ),
        click.option(
            "--norm",
            type=click.Choice(NORMS),
            default="linf",
            show_default=True,
            help="What is to be small: the largest error, the largest excess, each of them also as "
            "a share of what was asked for (rel), or the sum of the errors.",
        ),
        click.option(
            "--rules", "budget", type=int, help="Rules there may be, the match-all rule included."
        ),
        click.option(
            "--width",
            type=int,
            help="Bits of an address.  [default: the fewest with an error below 1 %]",
        ),
    ):
        command = option(command)
    return command


def asked_for(
    weights: dict[str, Fraction],
    width: int | None,
    budget: int | None,
    norm: Norm,
    max_error: str | None,
) -> Split:
    """The split that `split_options` ask for. Raises ValueError as `split_for` does."""
    if max_error is not None and budget is not None:
        raise ValueError("--max-error: expected without --rules")
    limit = None if max_error is None else request.number(max_error, "--max-error")
    return split_for(list(weights.values()), width, budget, norm, limit)


def utf8(text: bytes, source: str) -> str:
    """`text` decoded. Raises ValueError that names `source` and the place."""
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{source}: byte {error.start}: expected text in UTF-8") from None


def split_for(
    weights: list[Fraction],
    width: int | None,
    budget: int | None = None,
    norm: Norm = "linf",
    limit: Fraction | None = None,
) -> Split:
    """The split that is asked for; without a width, of the fewest bits with a small error."""
    if width is not None:
        if limit is None:
            return approximate(weights, width, budget, norm)
        within = fewest(
            weights, width, norm, limit if norm in RELATIVE else limit * (1 << max(width, 0))
        )
        if within is None:
            least = approximate(weights, width, None, norm)
            raise ValueError(
                f"--max-error: {percent(limit)}: expected at least "
                f"{percent(request.share(least.error, norm, width))}, the least that {width} bits allow"
            )
        return within
    for bits in range((len(weights) - 1).bit_length(), WIDEST + 1):
        split = approximate(weights, bits, budget, norm)
        error = request.share(split.error, norm, bits)
        if error < NEAR_ENOUGH and (limit is None or error <= limit):
            return split if limit is None else split_for(weights, bits, None, norm, limit)
    asked = "--max-error" if limit is not None else "--rules"
    raise ValueError(
        f"{asked}: the error stays at {percent(error)} up to {WIDEST} bits: expected more, "
        "or a --width"
    )


def pattern(rule: Rule, width: int) -> str:
    """Its bits, a star for each that may be either: "01**"; "-" for a key without bits."""
    bits = f"{rule.prefix:0{rule.length}b}" if rule.length else ""
    return bits + "*" * (width - rule.length) or "-"


def document(names: list[str], split: Split) -> dict[str, Any]:
    """The whole answer, as JSON; numbers that are not whole are exact, as strings."""
    return {
        "width": split.width,
        "norm": split.norm,
        "error": str(split.error),
        "errors": {norm: str(error) for norm, error in _errors(split)},
        "targets": [
            {"target": name, "requested": str(wanted), "addresses": got}
            for name, wanted, got in zip(names, split.requested, split.partition, strict=True)
        ],
        "rules": [
            {"pattern": pattern(rule, split.width), **rule._asdict(), "target": name}
            for rule, name, _ in rules_of(names, split)
        ],
        "exact_rules": _exact_rules(split),
        "wcmp_entries": wcmp.entries(split.partition),
    }


def text(names: list[str], split: Split, width_chosen: bool) -> str:
    """The whole answer, for people."""
    whole = 1 << split.width
    exact_rules = _exact_rules(split)
    facts = [
        ("rules", str(len(split.rules))),
        ("exact", "not at this width" if exact_rules is None else f"{exact_rules} rules"),
        ("WCMP entries", str(wcmp.entries(split.partition))),
        *(
            (f"error, {norm}", percent(request.share(error, norm, split.width)))
            for norm, error in _errors(split)
        ),
    ]
    left = max(len(name) for name, _ in facts) + 1
    return "\n".join(
        [
            f"width: {split.width} bits" + (", the fewest that will do" if width_chosen else ""),
            "",
            table(
                ("PATTERN", "TARGET", "SHARE"),
                [
                    (pattern(rule, split.width), name, f"{float(share):.4%}")
                    for rule, name, share in rules_of(names, split)
                ],
            ),
            "",
            table(
                ("TARGET", "REQUESTED", "ACHIEVED", "ADDRESSES"),
                [
                    (
                        name,
                        f"{float(wanted / whole):.4%}",
                        f"{float(Fraction(got, whole)):.4%}",
                        got,
                    )
                    for name, wanted, got in zip(
                        names, split.requested, split.partition, strict=True
                    )
                ],
            ),
            "",
            *(f"{name + ':':{left}}  {value}" for name, value in facts),
        ]
    )


def rules_of(names: list[str], split: Split) -> Iterator[tuple[Rule, str, Fraction]]:
    """Rules, the longest first, with their targets and the share of all addresses that each takes
    behind the longer ones."""
    # The share of a rule is that of a target of its own.
    own = [rule._replace(target=place) for place, rule in enumerate(split.rules)]
    taken = evaluate(own, split.width, len(own))
    for rule, addresses in zip(split.rules, taken, strict=True):
        yield rule, names[rule.target], Fraction(addresses, 1 << split.width)


def _errors(split: Split) -> Iterator[tuple[Norm, Fraction]]:
    for norm in NORMS:
        yield norm, error_of(split.partition, split.requested, norm)


def _exact_rules(split: Split) -> int | None:
    if split.requested.scale != 1:
        return None
    return count([int(wanted) for wanted in split.requested], split.width)


def percent(value: Fraction) -> str:
    """A share, for people."""
    return f"{float(value):.4%}"
