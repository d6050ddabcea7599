"""The wheel: whoever installs it needs no compiler."""

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_wheel_works_without_a_compiler(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet"]
    build = ["wheel", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), str(ROOT)]
    subprocess.run([*pip, *build], check=True)
    (wheel,) = tmp_path.glob("turnout-*.whl")
    assert wheel.name.split("-")[2:4] == ["py3", "none"]
    names = set(zipfile.ZipFile(wheel).namelist())
    programs = {path.with_suffix(".o").name for path in (ROOT / "bpf").glob("*.bpf.c")}
    libraries = {"libturnout_core.so", "libbpf.so.1", "libelf.so.1"}
    assert {f"turnout/native/{name}" for name in programs | libraries} <= names
    target = tmp_path / "installed"
    subprocess.run([*pip, "install", "--no-deps", "--target", str(target), str(wheel)], check=True)
    code = "import turnout, turnout.xdp as x; x.Forwarder().close(); print(turnout.__file__)"
    # No compiler on the path; and -S, or the editable install would come first.
    ran = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PATH": "", "PYTHONPATH": f"{target}:{sysconfig.get_path('purelib')}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(ran.stdout.strip()).is_relative_to(target)
