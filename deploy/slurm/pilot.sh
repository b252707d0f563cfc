#!/bin/bash
# A pilot: a batch job of Slurm that works off queued runs of Hedge and ends.
#
#   sbatch --gres=gpu:2 --cpus-per-task=8 --mem=64G --time=04:00:00 deploy/slurm/pilot.sh
#
# It starts an agent in the allocation, which takes the runs that fit on the job's devices, and ends five minutes after
# the last one. Two minutes before the time limit Slurm sends SIGTERM: runs that are not finished go back into the queue,
# with all their finished questions, and the next pilot continues them.
#
#SBATCH --job-name=hedge-pilot
#SBATCH --signal=B:TERM@120
#SBATCH --output=hedge-pilot-%j.log
set -eu

cd "${HEDGE_CODE:-$SLURM_SUBMIT_DIR}"
: "${HEDGE_HOME:?set HEDGE_HOME to a folder that the login node and the compute nodes share}"
export OMP_NUM_THREADS="${SLURM_CPUS_PER_TASK:-1}"
# Pilots that share a Postgres database work beside each other and need a name each. Without one there is one pilot at a
# time, always under the same name, so that it continues what its predecessor left even if that was killed.
if [ -n "${HEDGE_DATABASE_URL:-}" ]; then
    export HEDGE_HOST="job-$SLURM_JOB_ID"
else
    export HEDGE_HOST=pilot
fi
export HEDGE_START_AGENT=0 # when this agent ends, the job does
# With exec, Slurm's signal reaches the agent and not this shell.
exec "${HEDGE_PYTHON:-.venv/bin/python}" -m core agent --idle-minutes "${HEDGE_IDLE_MINUTES:-5}"
