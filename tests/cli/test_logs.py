import json
import subprocess
import sys

CODE = """
import structlog
from turnout.cli.logs import configure_logs
configure_logs()
structlog.get_logger().warning("reload_refused", errors=["a:1:1: x", "a:2:1: y"], generation=1)
"""


def test_in_a_pipe_each_event_is_one_line_of_json() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=60)
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    event = json.loads(line)
    assert event.pop("timestamp").endswith("Z")
    assert event == {
        "event": "reload_refused",
        "level": "warning",
        "errors": ["a:1:1: x", "a:2:1: y"],
        "generation": 1,
    }
