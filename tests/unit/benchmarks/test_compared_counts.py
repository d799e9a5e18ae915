"""Test what is counted beside the clock: processor time, statements; and hello-world."""

import http.client
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.benchmarks.served.compared import hello
from tests.benchmarks.served.compared.processor import busy_seconds, processor_seconds
from tests.benchmarks.served.compared.statements import hooked, in_file
from tests.benchmarks.served.serving import HOST

SPIN = "import time\nwhile time.process_time() < 0.3: pass\n"
WAIT = "print(flush=True); input()"


def spinning(program: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize(
    "program",
    [
        SPIN + WAIT,
        f"import os, time\nif os.fork():\n os.wait()\n {WAIT}\nelse:\n exec({SPIN!r})",
        f"import os, time\nif os.fork(): os.wait()\nelse:\n exec({SPIN + WAIT!r})",
    ],
    ids=["own", "of an ended child", "of a running child"],
)
def test_the_time_of_a_process_and_its_children_is_added_up(program: str) -> None:
    busy = busy_seconds()
    with spinning(program) as process:
        assert process.stdout
        process.stdout.readline()
        seconds = processor_seconds(process.pid)
        process.communicate("\n")
    # An ended child's time is in hundredths of a second.
    assert seconds > 0.28
    assert busy_seconds() > busy


def test_a_process_that_has_ended_has_no_time() -> None:
    with spinning("") as process:
        process.communicate()
    assert processor_seconds(process.pid) == 0


def test_statements_of_sqlite_are_counted_in_forks_too_but_not_those_of_triggers(
    tmp_path: Path,
) -> None:
    program = """
import os, sqlite3
database = sqlite3.connect("a.db", isolation_level=None)
database.execute("CREATE TABLE a (b)")
database.execute("CREATE TRIGGER c AFTER INSERT ON a BEGIN UPDATE a SET b = 1; END")
database.rollback()
database.execute("BEGIN")
database.cursor().executemany("INSERT INTO a VALUES (?)", [(0,), (1,)])
database.commit()
database.close()
if not os.fork():
    sqlite3.connect("a.db").execute("SELECT * FROM a").fetchall()
    os._exit(0)
os.wait()
"""
    file = tmp_path / "statements"
    environment = {**os.environ, **hooked(file)}
    count = in_file(file)
    assert count() == 0
    subprocess.run([sys.executable, "-P", "-c", program], env=environment, cwd=tmp_path, check=True)
    assert count() == 6


def test_hello_world_is_served_with_the_products_threads_and_connections(tmp_path: Path) -> None:
    shared = hello.settings()
    assert (shared["worker_class"], shared["preload_app"]) == ("gthread", False)
    with hello.served(tmp_path, 1) as server:
        connection = http.client.HTTPConnection(HOST, server.port, timeout=60)
        connection.request("GET", hello.PATH)
        assert connection.getresponse().read() == hello.BODY.encode()
        connection.close()
        assert processor_seconds(server.process) > 0
    assert "Using worker: gthread" in (tmp_path / "server.log").read_text()
