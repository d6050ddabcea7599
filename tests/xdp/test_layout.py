"""turnout.xdp.layout against the header that the kernel program is built from."""

import ctypes
import re
import subprocess
from pathlib import Path

import pytest

from turnout.xdp import layout

HEADERS = Path(__file__).parents[2] / "bpf"

STRUCTS = {
    "turnout_service_entry": layout.Entry,
    "turnout_service": layout.Service,
    "turnout_member": layout.Member,
    "turnout_counters": layout.Counters,
}
CONSTANTS = {
    "TURNOUT_MAX_SERVICES": layout.MAX_SERVICES,
    "TURNOUT_MAX_MEMBERS": layout.MAX_MEMBERS,
    "TURNOUT_MAX_TABLES": layout.MAX_TABLES,
    "TURNOUT_ROW_ENTRIES": layout.ROW_ENTRIES,
    "TURNOUT_COMMON_ROWS": layout.COMMON_ROWS,
    "TURNOUT_COMMON_SIZE": layout.COMMON_SIZE,
    "TURNOUT_BUCKETS": layout.BUCKETS,
    "TURNOUT_BUCKET_WAYS": layout.BUCKET_WAYS,
    "TURNOUT_BUCKET_PROBES": layout.BUCKET_PROBES,
    "TURNOUT_GUE": layout.ENCAPSULATIONS["gue"],
    "TURNOUT_IPIP": layout.ENCAPSULATIONS["ipip"],
    "TURNOUT_GRE": layout.ENCAPSULATIONS["gre"],
    "TURNOUT_MEMBER_UP": layout.STATES["up"],
    "TURNOUT_MEMBER_DRAINING": layout.STATES["draining"],
    "TURNOUT_MEMBER_DOWN": layout.STATES["down"],
    "TURNOUT_HASH_CLIENT": layout.HASH_CLIENT,
    "TURNOUT_VIP_TCP": layout.VIP_FLAGS["tcp"],
    "TURNOUT_VIP_UDP": layout.VIP_FLAGS["udp"],
}


def by_the_compiler(tmp_path: Path, expressions: list[str]) -> list[int]:
    lines = "\n".join(f'printf("%ld\\n", (long)({e}));' for e in expressions)
    source = tmp_path / "layout.c"
    source.write_text(
        "#include <stddef.h>\n#include <stdio.h>\n#include <layout.h>\n"
        f"int main(void) {{\n{lines}\nreturn 0; }}\n"
    )
    program = tmp_path / "layout"
    subprocess.run(["gcc", "-I", HEADERS, "-o", program, source], check=True)
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return [int(line) for line in said.split()]


@pytest.mark.parametrize("name", STRUCTS)
def test_structs(name: str, tmp_path: Path) -> None:
    mirror = STRUCTS[name]
    body = re.search(rf"struct {name} \{{(.*?)\n\}}", (HEADERS / "layout.h").read_text(), re.S)
    assert body
    fields = re.findall(r"^\t__u\d+ ([^;]+);", body[1], re.M)
    names = [re.sub(r"\[.*", "", f.strip()) for field in fields for f in field.split(",")]
    assert names == [field[0] for field in mirror._fields_]
    measured = by_the_compiler(
        tmp_path,
        [f"sizeof(struct {name})", *(f"offsetof(struct {name}, {field})" for field in names)],
    )
    assert measured == [ctypes.sizeof(mirror), *(getattr(mirror, f).offset for f in names)]


def test_constants(tmp_path: Path) -> None:
    assert by_the_compiler(tmp_path, list(CONSTANTS)) == list(CONSTANTS.values())
