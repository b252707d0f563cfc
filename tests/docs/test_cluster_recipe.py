"""The shell blocks of the page on servers: all can be parsed, and the server's job tells its address and ends."""

import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.benchmarks.cluster_recipe import blocks, free_port, job, queueing

STAND_IN = """#!/bin/bash
# Answers /health at the port that it is given, as vLLM does, until the file {stop} is there.
while [ $# -gt 0 ]; do [ "$1" = --port ] && port=$2; shift; done
mkdir -p {folder}/www && touch {folder}/www/health
python3 -m http.server "$port" --bind 127.0.0.1 --directory {folder}/www >/dev/null 2>&1 &
until [ -e {stop} ]; do sleep 0.05; done
kill $!
"""


@pytest.mark.parametrize("block", blocks(), ids=lambda block: block.split("\n")[0][:40])
def test_bash_can_parse_what_the_page_shows(block: str):
    assert subprocess.run(["bash", "-n"], input=block, text=True, check=False, capture_output=True).stderr == ""


def test_the_page_has_the_two_jobs_and_the_queue():
    assert "vllm serve" in job("serve-70b").replace('/vllm/bin/vllm"', "vllm")
    assert "hedge agent" in job("hedge")
    assert "--queue" in queueing()


def test_the_server_s_job_tells_its_address_once_it_answers_and_ends_with_the_server(tmp_path: Path):
    port, stop = free_port(), tmp_path / "stop"
    program = tmp_path / "vllm" / "bin" / "vllm"
    program.parent.mkdir(parents=True)
    program.write_text(STAND_IN.format(folder=tmp_path, stop=stop))
    program.chmod(0o755)
    script = job("serve-70b").replace("8000", str(port))
    assert "sleep 5" in script
    environment = os.environ | {"HOME": str(tmp_path), "SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "here"}
    running = subprocess.Popen(["bash", "-c", script.replace("sleep 5", "sleep 0.1")], env=environment)
    where = tmp_path / "server-70b.txt"
    try:
        end = time.monotonic() + 60
        while not where.exists():
            assert running.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        with socket.create_connection(("127.0.0.1", port), 5):
            pass
    finally:
        stop.touch()
        assert running.wait(30) == 0
    assert where.read_text().strip().endswith(f":{port}/v1")


def test_the_server_s_job_fails_if_the_server_ends_before_it_answers(tmp_path: Path):
    program = tmp_path / "vllm" / "bin" / "vllm"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/bash\nexit 3\n")
    program.chmod(0o755)
    script = job("serve-70b").replace("8000", str(free_port())).replace("sleep 5", "sleep 0.1")
    ended = subprocess.run(["bash", "-c", script], env=os.environ | {"HOME": str(tmp_path)}, check=False, timeout=60,
                           capture_output=True)  # fmt: skip
    assert ended.returncode == 1
    assert not (tmp_path / "server-70b.txt").exists()
