"""The recipe for a cluster in ``docs/text/servers.md``, taken from the page and run on this machine.

``python -m tests.benchmarks.cluster_recipe --vllm PROGRAM [--samples N]`` starts Slurm (slurm-wlm: munged, slurmctld,
slurmd, one node) and Postgres in a folder of its own, submits the page's two jobs with ``sbatch``, queues the page's
runs, and waits for them. Then it cancels the server's job while other runs are running, submits it again, and resumes
them with the page's command.

Differences from the page are listed: the model and its size (PROGRAM serves a bundled model by the page's name), what
the jobs ask of Slurm, the folders, the database's address, and the number of questions.
"""

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.settings import ROOT
from tests import postgres

PAGE = ROOT / "docs" / "text" / "servers.md"
MODEL = "meta-llama/Llama-3.1-70B-Instruct"
SERVED = ROOT / "assets" / "models" / "pocket-3m-instruct"
WITHIN_S = 1800.0
SHIM = """#!/bin/bash
# Serves a bundled model by the name that it is asked for, on a CPU.
name=$2; shift 2
args=()
while [ $# -gt 0 ]; do
  case $1 in --tensor-parallel-size|--max-model-len) shift 2 ;; *) args+=("$1"); shift ;; esac
done
export VLLM_CPU_KVCACHE_SPACE=1 VLLM_CPU_OMP_THREADS_BIND=nobind OMP_NUM_THREADS=1
export HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1
exec {vllm} serve {model} --served-model-name "$name" --dtype float32 --enforce-eager --max-model-len 512 "${{args[@]}}"
"""
SLURM = """ClusterName=hedge
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldLogFile={folder}/ctld.log
SlurmdLogFile={folder}/d.log
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/d.pid
SlurmctldPort=16817
SlurmdPort=16818
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
KillWait=30
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=16000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def blocks() -> list[str]:
    """The shell blocks of the page, in their order."""
    return re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def job(name: str) -> str:
    """The page's batch script whose job has this name."""
    return next(block for block in blocks() if block.startswith("#!/bin/bash") and f"--job-name={name}" in block)


def queueing() -> str:
    """The page's command that queues runs over the server."""
    return next(block for block in blocks() if "--queue" in block)


@contextmanager
def slurm(folder: Path) -> Iterator[None]:
    """Slurm's daemons with one node: this machine."""
    (folder / "state").mkdir()
    (folder / "spool").mkdir()
    conf = folder / "slurm.conf"
    conf.write_text(SLURM.format(host=socket.gethostname(), folder=folder, cpus=os.cpu_count()))
    os.environ["SLURM_CONF"] = str(conf)
    munge = [f"--socket={folder}/munge", f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log"]
    conf.write_text(conf.read_text() + f"AuthInfo=socket={folder}/munge\n")
    log = (folder / "slurm.log").open("wb")
    commands = (
        ["munged", "--foreground", "--force", f"--seed-file={folder}/seed", *munge],
        ["slurmctld", "-D"],
        ["slurmd", "-D"],
    )
    daemons = [subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT) for command in commands]
    try:
        until("Slurm is up", lambda: "idle" in output_of("sinfo", "--noheader", "--format=%T", check=False))
        yield
    finally:
        subprocess.run(["scancel", "--user=root"], check=False)
        time.sleep(2)
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait(30)


def output_of(*command: str, check: bool = True) -> str:
    """The output of a command."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if check and done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout


def until(what: str, holds: object) -> float:
    """Wait until ``holds()``, and say how long it took."""
    assert callable(holds)
    begin = time.monotonic()
    while not holds():
        if time.monotonic() - begin > WITHIN_S:
            sys.exit(f"not within {WITHIN_S:g} s: {what}")
        time.sleep(0.5)
    took = time.monotonic() - begin
    print(f"{took:6.1f} s until {what}", flush=True)
    return took


def main() -> None:
    """Run the recipe."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--vllm", required=True, help="vLLM's program")
    parser.add_argument("--samples", type=int, default=20)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="hedge-recipe-"))
    port = free_port()
    with postgres.server() as database, slurm(folder):
        home = folder / "hedge"
        home.mkdir()
        os.environ |= {"HOME": str(folder), "HEDGE_HOME": str(home), "HEDGE_DATABASE_URL": database.new_database()}
        os.environ["HEDGE_START_AGENT"] = "0"  # the recipe's own job is the agent
        changes = {
            "--gres=gpu:4 --cpus-per-task=16 --mem=200G": "--cpus-per-task=1 --mem=6G",
            "--cpus-per-task=4 --mem=16G": "--cpus-per-task=1 --mem=6G",
            "8000": str(port),
            "HEDGE_HOME=/shared/hedge HEDGE_DATABASE_URL=postgresql://hedge@db/hedge": (
                f"HEDGE_HOME={home} HEDGE_DATABASE_URL={os.environ['HEDGE_DATABASE_URL']}"
            ),
            "cd /shared/hedge-app": f"cd {ROOT}",
            ".venv/bin/hedge": f"{sys.executable} -m core",
            "--mode long": f"--samples {options.samples}",
        }

        def adapted(block: str) -> str:
            for old, new in changes.items():
                block = block.replace(old, new)
            return block

        binary = folder / "vllm" / "bin" / "vllm"
        binary.parent.mkdir(parents=True)
        binary.write_text(SHIM.format(vllm=options.vllm, model=SERVED))
        binary.chmod(0o755)
        for name, script in (("serve-70b", "serve-70b.sh"), ("hedge", "hedge.sh")):
            (folder / script).write_text(adapted(job(name)))
        output = f"--output={folder}/%x.log"
        where = folder / "server-70b.txt"
        print(output_of("sbatch", output, str(folder / "serve-70b.sh")).strip())
        until("the server's job has written its address", where.exists)
        print(output_of("sbatch", output, str(folder / "hedge.sh")).strip())
        print(output_of("bash", "-c", adapted(queueing()), check=False)[-600:])
        until("all runs have ended", lambda: ended(states()))
        print(dict(states()))
        again(adapted(queueing()), folder, output)
    print(f"logs in {folder}")


def again(queue: str, folder: Path, output: str) -> None:
    """Cancel the server's job while runs are running, submit it again, and resume them."""
    before = sum(states().values())
    output_of("bash", "-c", re.sub(r"--samples \d+", "--samples 400", queue.replace("--shots 0 5", "--shots 0")))
    until("a run is running again", lambda: states()["running"] > 0)
    time.sleep(5)
    output_of("scancel", "--signal=KILL", "--full", "--name=serve-70b")
    until("a run has paused", lambda: states()["paused"] > 0)
    print(dict(states()))
    print(next(line for line in output_of(sys.executable, "-m", "core", "runs").splitlines() if "paused" in line))
    (folder / "server-70b.txt").unlink()
    output_of("sbatch", output, str(folder / "serve-70b.sh"))
    until("the server answers again", (folder / "server-70b.txt").exists)
    until("no run waits", lambda: states()["queued"] + states()["running"] == 0)
    for run in paused():
        output_of(sys.executable, "-m", "core", "resume", run)
    until("all runs have ended", lambda: ended(states()))
    print(dict(states()), f"{before} of them from before")


def listed() -> list[tuple[str, str]]:
    """The runs of this home with their states."""
    from core.runs import store

    records = [store.read_record(name) for name in store.run_ids() if not store.is_bundled(name)]
    return [(record.run_id, record.state) for record in records]


def states() -> Counter[str]:
    """The number of runs in each state."""
    return Counter(state for _, state in listed())


def paused() -> list[str]:
    """The runs that have paused."""
    return [run for run, state in listed() if state == "paused"]


def ended(states: Counter[str]) -> bool:
    """Whether no run is left to do."""
    return sum(states.values()) > 0 and not (states["queued"] or states["running"])


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    if not shutil.which("sbatch"):
        sys.exit("Slurm is not installed; `apt-get install slurm-wlm` brings it")
    main()
