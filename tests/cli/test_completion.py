"""Completion as the shell asks for it."""

import subprocess
import sys
from pathlib import Path

import pytest

from turnout.cli import COMMANDS

TURNOUT = Path(sys.executable).with_name("turnout")


def test_bash_completes_commands_and_options() -> None:
    """The real shell with the real script: its function fills COMPREPLY."""
    script = (
        f'PATH={TURNOUT.parent}:$PATH; eval "$(turnout completion bash)"\n'
        'complete_words() { COMPREPLY=(); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1));'
        ' _turnout_completion turnout; echo "${COMPREPLY[@]}"; }\n'
        'complete_words turnout ""\n'
        "complete_words turnout show st\n"
        "complete_words turnout mtu --link\n"
    )
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    first, second, third = result.stdout.splitlines()
    assert first.split() == [name for name in COMMANDS if " " not in name]
    assert second == "status"
    assert third == "--link-mtu"


@pytest.mark.parametrize(("shell", "word"), [("zsh", "#compdef turnout"), ("fish", "complete")])
def test_other_shells_have_a_script(shell: str, word: str) -> None:
    result = subprocess.run([TURNOUT, "completion", shell], capture_output=True, text=True)
    assert result.returncode == 0
    assert word in result.stdout
    assert "_TURNOUT_COMPLETE=" + shell in result.stdout


def test_an_unknown_shell_is_status_2() -> None:
    result = subprocess.run([TURNOUT, "completion", "csh"], capture_output=True, text=True)
    assert result.returncode == 2
    assert "'bash', 'zsh', 'fish'" in result.stderr
