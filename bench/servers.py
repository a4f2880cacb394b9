"""Servers for the benchmarks, on 127.0.0.1 alone: each is started for one measurement and then stopped."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

ROOT = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"
WORKERS = 2
CONNECTIONS = 16
PATIENCE = 30

type Server = AbstractContextManager[str]


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server((HOST, 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def running(command: list[str], port: int, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run a server while the block does; yield its address. Its whole group of processes ends with it."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_for(port, process)
        yield f"http://{HOST}:{port}"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Wait until a server listens; raises `SystemExit` when it does not."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"{process.args!r} does not listen on port {port}.")


def granian(application: str, environment: Mapping[str, str] | None = None, workers: int = WORKERS) -> Server:
    """Serve a WSGI application as the service does."""
    port = free_port()
    where = ["--interface", "wsgi", "--host", HOST, "--port", str(port), "--log-level", "warning"]
    strength = ["--workers", str(workers), "--blocking-threads", "16", "--backpressure", "128"]
    own = {"MALLOC_ARENA_MAX": "1", **(environment or {})}
    return running([sys.executable, "-m", "granian", *where, *strength, application], port, own)


NGINX = """
daemon off; {user}worker_processes {workers}; pid {folder}/nginx.pid; error_log {folder}/error.log warn;
events {{ worker_connections 1024; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  {around}
  server {{ listen {host}:{port}; {body} }}
}}
"""


def nginx(folder: Path, body: str, around: str = "") -> Server:
    """Serve what a configuration says; `around` stands beside the server's own part of it."""
    port = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    # As root, so that files of a folder of root's own can be read.
    user = "user root; " if os.geteuid() == 0 else ""
    places = {"folder": folder, "host": HOST, "port": port, "workers": WORKERS}
    written = NGINX.format(user=user, body=body, around=around, **places)
    config = folder / "nginx.conf"
    config.write_text(written)
    return running([found("nginx"), "-p", str(folder), "-c", str(config)], port)


def micro_cache(folder: Path, site: str) -> Server:
    """Put nginx in front of a site, as it is shipped but for https: its cache, its rules, its log."""
    shipped = ROOT / "deploy" / "nginx"
    around, _, _ = (shipped / "plenary.conf").read_text("utf-8").partition("\nserver {")
    places = {"include /etc/nginx/plenary/upstream.conf": f"server {site.removeprefix('http://')}"}
    places["/var/cache/nginx/plenary"] = f"{folder}/kept"
    for written, here in places.items():
        around = around.replace(written, here)
    body = f"access_log {folder}/access.log plenary buffer=64k flush=1s; include {shipped}/locations.conf;"
    return nginx(folder / "front", body, around)


def bare_cache(folder: Path, files: str) -> Server:
    """Put nginx in front of a server of files, with its cache and nothing else: no log, header or rule."""
    zone = f"proxy_cache_path {folder}/bare-kept levels=1:2 keys_zone=bare:20m use_temp_path=off;"
    keep = "proxy_cache bare; proxy_cache_valid 200 1s; proxy_cache_lock on;"
    body = f"sendfile off; location / {{ proxy_pass {files}; {keep} }}"
    return nginx(folder / "bare-front", body, f"{zone} open_file_cache max=400;")


def found(name: str) -> str:
    """Return where a program of Debian's is; raises `SystemExit` when it is missing."""
    path = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    if path is None:
        raise SystemExit(f"{name} is missing: apt-get install {name}")
    return path


def rate(
    address: str,
    seconds: int,
    headers: Mapping[str, str] | None = None,
    connections: int = CONNECTIONS,
    script: Path | None = None,
) -> float:
    """Return how many answers a second come from an address. Raises `SystemExit` when one is an error.

    `script` tells wrk in Lua what to ask for instead.
    """
    options = [f"-H{name}: {value}" for name, value in (headers or {}).items()]
    options += [f"-s{script}"] if script else []
    command = [found("wrk"), "-t1", f"-c{connections}", f"-d{seconds}s", *options, address]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in said and "If-None-Match" not in (headers or {}):
        raise SystemExit(f"{address} answers with errors:\n{said}")
    return float(said.split("Requests/sec:")[1].split()[0])


def counting(folder: Path, token: str) -> dict[str, str]:
    """Return the environment in which processes add up their counts in a new folder."""
    folder.mkdir()
    return {"METRICS_TOKEN": token, "METRICS_DIR": str(folder)}


def counts(site: str, token: str) -> dict[str, float]:
    """Return all that a site has counted since it was started, by name and labels."""
    asked = Request(f"{site}/metrics", headers={"Authorization": f"Bearer {token}"})  # noqa: S310
    with urlopen(asked, timeout=PATIENCE) as answer:  # noqa: S310
        lines = answer.read().decode().splitlines()
    pairs = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(number) for name, _, number in pairs}
