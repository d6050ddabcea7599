"""What editors and the manual say of the fields, made from the same source as the parser."""

from typing import Any

from turnout.config.fields import FLEET, KINDS, REQUIRED, Field, Kind
from turnout.config.scalars import NAME


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a fleet file, for editors. It knows fields and values; what fields
    say of each other is for `turnout check`."""
    definitions = {kind.name: _object(kind) for kind in KINDS if kind is not FLEET}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Turnout fleet",
        **_object(FLEET),
        "$defs": definitions,
    }


def _object(kind: Kind) -> dict[str, Any]:
    required = [name for name, field in kind.fields.items() if field.default is REQUIRED]
    found: dict[str, Any] = {
        "type": "object" if required else ["object", "null"],
        "description": kind.meaning,
        "additionalProperties": False,
        "properties": {name: _property(field) for name, field in kind.fields.items()},
    }
    if required:
        found["required"] = required
    return found


def _property(field: Field) -> dict[str, Any]:
    one: dict[str, Any]
    one = (
        {"$ref": f"#/$defs/{field.type.name}"}
        if isinstance(field.type, Kind)
        else field.type.schema
    )
    needed = field.default is REQUIRED
    if field.shape == "list":
        one = {"type": "array", "items": one, "uniqueItems": True, "minItems": int(needed)}
    elif field.shape == "map":
        one = {
            "type": "object" if needed else ["object", "null"],
            "propertyNames": {"pattern": f"^{NAME.pattern}$"},
            "additionalProperties": one,
        }
        if needed:
            one["minProperties"] = 1
    return {"description": field.meaning, **one}


def reference() -> str:
    """The manual's page of all fields, MyST Markdown."""
    parts = [
        "# The fleet file\n",
        "One YAML file describes everything; the same file goes to every machine. Anchors, aliases "
        "and tags are not used, and what YAML 1.1 would take for something else than it looks like "
        "(`on`, `22:30`, `010`) has to be quoted.\n",
    ]
    for kind in KINDS:
        parts.append(f"## {kind.name}\n\n{kind.meaning}\n\n| field | value | default | meaning |")
        parts.append("|---|---|---|---|")
        parts.extend(_row(name, field) for name, field in kind.fields.items())
        parts.append("")
    return "\n".join(parts)


def _row(name: str, field: Field) -> str:
    if isinstance(field.type, Kind):
        link = f"[{field.type.name}](#{field.type.name})"
        value = f"map from names to {link}" if field.shape == "map" else link
    else:
        value = f"list: {field.type.text}" if field.shape == "list" else field.type.text
    return f"| `{name}` | {value} | {_default(field)} | {field.meaning} |"


def _default(field: Field) -> str:
    if field.default_text:
        return field.default_text
    if field.default is REQUIRED:
        return "required"
    if field.default in ((), {}):
        return "none"
    return f"`{str(field.default).lower() if isinstance(field.default, bool) else field.default}`"
