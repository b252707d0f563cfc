# Hedge's image: the page server by default, the agent with another command. deploy/compose/ starts both.
#
#   docker build -t hedge .                                     computes on the CPU
#   docker build -t hedge:cuda --build-arg ACCELERATOR=cu130 .  computes on NVIDIA GPUs
#   docker build -t hedge:tests --target tests . && docker run --rm hedge:tests
#
# The server runs as a user without rights, or as any other one (docker run --user 12345), and its root file system may be
# read-only: it writes to /data and /tmp alone. As it is, it is also a Space of Hugging Face (deploy/space/README.md).

FROM debian:bookworm-slim AS base
# cpu, or the CUDA version of PyTorch's builds: cu126, cu130.
ARG ACCELERATOR=cpu
ARG TORCH_INDEX=https://download.pytorch.org/whl
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        ca-certificates fonts-dejavu-core python3 python3-venv tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home hedge \
    && install -d -m 1777 /data
WORKDIR /opt/hedge
COPY requirements.txt requirements-notebook.txt ./
RUN python3 -m venv .venv \
    && .venv/bin/pip install --no-cache-dir --extra-index-url "$TORCH_INDEX/$ACCELERATOR" -r requirements.txt
COPY . .
RUN .venv/bin/python -m compileall -q app assets charts core hedge pages
ENV HEDGE_HOME=/data HF_HOME=/data/hub HOME=/tmp PYTHONDONTWRITEBYTECODE=1

FROM base AS tests
RUN .venv/bin/pip install --no-cache-dir -r requirements-dev.txt
ENV HYPOTHESIS_STORAGE_DIRECTORY=/tmp/hypothesis
USER hedge
CMD [".venv/bin/python", "-m", "pytest", "-m", "quick", "-p", "no:cacheprovider"]

FROM base
USER hedge
VOLUME /data
EXPOSE 8501
HEALTHCHECK --start-period=60s --interval=30s --timeout=5s \
    CMD [".venv/bin/python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/healthz', timeout=4)"]
# tini ends the processes that outlive their parents: the agent outlives the page that started it.
ENTRYPOINT ["tini", "--"]
CMD [".venv/bin/python", "-m", "app", "--public", "--server.address", "0.0.0.0", "--server.headless", "true"]
