import json
import subprocess
import sys

CONFIGURED = "from turnout.cli.logs import configure_logs\nconfigure_logs()\n"


def logged(code: str) -> dict[str, object]:
    """The one event that `code` logs where standard error is a pipe."""
    done = subprocess.run(
        [sys.executable, "-c", CONFIGURED + code],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    event: dict[str, object] = json.loads(line)
    assert str(event.pop("timestamp")).endswith("Z")
    return event


def test_in_a_pipe_each_event_is_one_line_of_json() -> None:
    code = """
import structlog
structlog.get_logger().error("reload_refused", errors=["a:1:1: x", "a:2:1: y"], generation=1)
"""
    assert logged(code) == {
        "event": "reload_refused",
        "level": "error",
        "errors": ["a:1:1: x", "a:2:1: y"],
        "generation": 1,
    }


def test_a_fault_of_ours_brings_its_trace_in_the_same_line() -> None:
    code = """
import structlog
try:
    {}["missing"]
except KeyError:
    structlog.get_logger().error("apply_failed", exc_info=True)
"""
    event = logged(code)
    assert event["event"] == "apply_failed"
    assert "KeyError: 'missing'" in str(event["exception"])


def test_what_libraries_say_has_the_same_form() -> None:
    code = "import logging; logging.getLogger('uvicorn.error').error('on %s', 'fire')"
    assert logged(code) == {"event": "on fire", "level": "error"}


def test_libraries_do_not_chat() -> None:
    code = """
import logging
logging.getLogger("uvicorn.error").info("Started server process")
logging.getLogger("uvicorn.error").warning("but warn")
"""
    assert logged(code)["event"] == "but warn"
