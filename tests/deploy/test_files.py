"""Files in deploy/: systemd accepts the units, and the compose file and the image follow the rules."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
DEPLOY = ROOT / "deploy"
UNITS = sorted(path.name for path in (DEPLOY / "systemd").glob("plenary*"))
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
OWN_SERVICES = ("migrate", "web", "worker", "backup")


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    for name in UNITS:
        text = (DEPLOY / "systemd" / name).read_text("utf-8")
        # The program and its user do not exist here, so replace its commands by `env`.
        text = re.sub(r"/srv/plenary/current/\S+(?= )", "/usr/bin/env", text)
        (tmp_path / name.replace("@", "@8000")).write_text(re.sub(r"(?m)^(User|Group)=.*\n", "", text))
    units = [str(path) for path in tmp_path.iterdir()]
    result = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *units],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    messages = [line for line in result.stderr.splitlines() if "plenary" in line]
    assert messages == []


@pytest.mark.parametrize("unit", [name for name in UNITS if name.endswith(".service")])
def test_units_have_few_privileges(unit: str) -> None:
    lines = (DEPLOY / "systemd" / unit).read_text("utf-8").splitlines()

    required = {"User=plenary", "NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet="}
    assert required <= {*lines}


def test_worker_has_a_low_priority() -> None:
    unit = (DEPLOY / "systemd" / "plenary-worker.service").read_text("utf-8").splitlines()

    assert "Nice=10" in unit
    assert {
        name: service["cpu_shares"]
        for name, service in COMPOSE["services"].items()
        if "cpu_shares" in service
    } == {"worker": 102}


def test_memory_of_web_and_worker_is_limited() -> None:
    services, guide = COMPOSE["services"], (ROOT / "docs" / "deploying.md").read_text("utf-8")
    units = {
        unit: (DEPLOY / "systemd" / f"plenary-{unit}.service").read_text("utf-8").splitlines()
        for unit in ("web@", "worker")
    }

    assert {
        unit: [line for line in lines if line.startswith(("MemoryMax=", "MemorySwapMax=", "OOMPolicy="))]
        for unit, lines in units.items()
    } == {
        "web@": ["MemoryMax=1G", "MemorySwapMax=0", "OOMPolicy=continue"],
        "worker": ["MemoryMax=2G", "MemorySwapMax=0", "OOMPolicy=continue"],
    }
    # The container of the site has two processes.
    assert {name: service["mem_limit"] for name, service in services.items() if "mem_limit" in service} == {
        "web": "${WEB_MEMORY:-2g}",
        "worker": "${WORKER_MEMORY:-2g}",
    }
    assert all(services[name]["memswap_limit"] == services[name]["mem_limit"] for name in ("web", "worker"))
    # A killed worker is started again.
    assert "Restart=always" in units["worker"]
    assert services["worker"]["restart"] == "unless-stopped"
    assert {*re.findall(r"`(WEB_MEMORY|WORKER_MEMORY|MemoryMax)", guide)} == {
        "WEB_MEMORY", "WORKER_MEMORY", "MemoryMax",
    }  # fmt: skip


def test_each_port_of_nginx_is_a_service_with_one_process() -> None:
    unit = (DEPLOY / "systemd" / "plenary-web@.service").read_text("utf-8")
    upstream = (DEPLOY / "nginx" / "upstream.conf").read_text("utf-8")
    guide = (ROOT / "docs" / "deploying.md").read_text("utf-8")
    enabled = re.search(r"^systemctl enable --now (.*)$", guide, re.M)

    assert " --port %i --workers 1 " in unit
    assert enabled
    assert re.findall(r"plenary-web@(\d+)", enabled[1]) == re.findall(
        r"^server 127\.0\.0\.1:(\d+)", upstream, re.M
    )


def test_new_processes_render_the_first_pages_within_the_limits_of_a_start() -> None:
    unit = (DEPLOY / "systemd" / "plenary-web@.service").read_text("utf-8")
    image, script = (DEPLOY / "Containerfile").read_text("utf-8"), (DEPLOY / "wait-ready").read_text("utf-8")
    seconds = re.findall(r"WARM_SECONDS=(\d+)$", f"{unit}\n{image}", re.M)
    rounds, pause = re.findall(r"\{1\.\.(\d+)\}|sleep ([\d.]+)", script)
    limit = re.search(r"TimeoutStartSec=(\d+)", unit)

    assert seconds == ["10", "10"]
    assert limit
    # Loading the program may take three times as long.
    assert 40 < int(rounds[0]) * float(pause[1]) < int(limit[1])


def test_commands_of_units_and_services_exist() -> None:
    text = "\n".join(path.read_text("utf-8") for path in (DEPLOY / "systemd").glob("*.service"))
    text += (DEPLOY / "compose.yaml").read_text("utf-8") + (DEPLOY / "Containerfile").read_text("utf-8")
    commands = {*re.findall(r"manage\.py,? (\w+)", text)}
    from django.core.management import get_commands

    assert commands == {"migrate", "worker", "backup", "collectstatic"}
    assert commands <= get_commands().keys()
    assert text.count("website.wsgi:application") == 2


def test_bytecode_is_compiled_during_installation() -> None:
    image = (DEPLOY / "Containerfile").read_text("utf-8")
    guide = (DEPLOY.parent / "docs" / "deploying.md").read_text("utf-8")

    assert image.index("COPY . ") < image.index("compileall -q") < image.rindex("\nFROM ")
    assert guide.count("uv sync --no-dev") == guide.count("-m compileall -q .") == 2


@pytest.mark.parametrize("name", OWN_SERVICES)
def test_services_are_read_only_and_secrets_are_files(name: str) -> None:
    service = COMPOSE["services"][name]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert {key for key in service["environment"] if re.search("KEY|TOKEN|DATABASE_URL|PASSWORD", key)} == {
        "SECRET_KEY_FILE", "DATABASE_URL_FILE", "METRICS_TOKEN_FILE",
    }  # fmt: skip


def test_services_use_declared_networks_secrets_and_volumes() -> None:
    services = COMPOSE["services"]
    volumes = {
        mount.split(":")[0]
        for service in services.values()
        for mount in service.get("volumes", [])
        if mount[0].isalpha()
    }
    assert {network for service in services.values() for network in service["networks"]} == {
        *COMPOSE["networks"]
    }
    assert {secret for service in services.values() for secret in service.get("secrets", [])} == {
        *COMPOSE["secrets"]
    }
    assert volumes == {*COMPOSE["volumes"]}
    assert {dependency for service in services.values() for dependency in service.get("depends_on", {})} <= {
        *services
    }
    assert [name for name, service in services.items() if "ports" in service] == ["nginx"]


def test_files_mounted_by_nginx_exist() -> None:
    files = [
        mount.split(":")[0]
        for mount in COMPOSE["services"]["nginx"]["volumes"]
        if mount.startswith("./nginx")
    ]

    assert len(files) == 5
    assert [name for name in files if not (DEPLOY / name).is_file()] == []


def nginx_files() -> dict[str, str]:
    """Return the text of each configuration file of the nginx service, by its path in the container."""
    texts = {}
    for mount in COMPOSE["services"]["nginx"]["volumes"]:
        source, target, *_ = mount.split(":")
        if source.endswith(".conf"):
            texts[target] = (DEPLOY / source).read_text("utf-8")
    return texts


def test_nginx_writes_only_to_writable_paths() -> None:
    service, files = COMPOSE["services"]["nginx"], nginx_files()
    text = "\n".join(files.values())
    paths = re.findall(r"^\s*(?:access_log|error_log|proxy_cache_path) (/\S+)", text, re.M)
    volumes = [mount.split(":")[1] for mount in service["volumes"] if not mount.endswith(":ro")]

    assert service["read_only"] is True
    assert {*paths} == {"/dev/stdout", "/dev/stderr", "/var/cache/nginx/plenary"}
    assert volumes == ["/var/cache/nginx"]
    assert {*re.findall(r"include (\S+);", text)} <= files.keys()


def test_nginx_resolves_the_application_again() -> None:
    upstream = nginx_files()["/etc/nginx/plenary/upstream.conf"]
    version = COMPOSE["services"]["nginx"]["image"].partition(":")[2].partition("-")[0]

    # Since this version, nginx resolves names again, which requires a zone and a resolver.
    assert tuple(map(int, version.split("."))) >= (1, 28)
    assert re.findall(r"^server (\S+) (\w+)", upstream, re.M) == [("web:8000", "resolve")]
    assert re.findall(r"^(zone|resolver) (\S+)", upstream, re.M) == [
        ("zone", "plenary_web"),
        ("resolver", "127.0.0.11"),
    ]


def test_one_service_builds_the_shared_image() -> None:
    services = COMPOSE["services"]

    assert [name for name, service in services.items() if "build" in service] == ["web"]
    assert {services[name]["image"] for name in OWN_SERVICES} == {"plenary:${PLENARY_VERSION:-latest}"}


def test_health_check_of_the_database_uses_the_network() -> None:
    command = COMPOSE["services"]["postgres"]["healthcheck"]["test"]

    assert command[:4] == ["CMD", "pg_isready", "-h", "127.0.0.1"]


def test_services_have_log_limits_and_health_checks() -> None:
    for name, service in COMPOSE["services"].items():
        assert service["logging"]["options"] == {"max-size": "10m", "max-file": "5"}, name
        assert "healthcheck" in service or name == "web", name


def test_image_is_built_in_two_stages_and_runs_without_root() -> None:
    text = (DEPLOY / "Containerfile").read_text("utf-8")
    final_stage = text.rpartition("\nFROM ")[2]

    assert re.findall(r"^FROM (\S+)(?: AS (\w+))?$", text, re.M) == [
        ("python:3.13-slim", "build"),
        ("python:3.13-slim", ""),
    ]
    assert "--require-hashes" in text
    assert "pip install" not in final_stage
    assert re.search(r"^USER 10001:10001$", final_stage, re.M)
    assert re.search(r"^HEALTHCHECK ", final_stage, re.M)
    assert [
        path
        for path in re.findall(r"^COPY (\S+) ", text, re.M)
        if not path.startswith("-") and not (ROOT / path).exists()
    ] == []


def test_example_names_existing_settings() -> None:
    names = re.findall(r"^#?([A-Z][A-Z_0-9]+)=", (DEPLOY / ".env.example").read_text("utf-8"), re.M)
    documented = {*re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/settings.md").read_text("utf-8"), re.M)}
    in_compose = {name for service in OWN_SERVICES for name in COMPOSE["services"][service]["environment"]}

    assert {name.removesuffix("_FILE") for name in [*names, *in_compose]} <= documented


def test_secrets_of_the_example_are_mounted() -> None:
    secrets = re.findall(r"/run/secrets/(\w+)", (DEPLOY / ".env.example").read_text("utf-8"))

    assert secrets == ["email_password"]
    assert [name for name in OWN_SERVICES if not {*secrets} <= {*COMPOSE["services"][name]["secrets"]}] == []


def test_guide_names_existing_services() -> None:
    guide = (ROOT / "docs" / "deploying.md").read_text("utf-8")
    services = re.findall(r"deploy/compose\.yaml (?:exec|run --rm|restart|cp)(?: -T)? (\w+)", guide)

    assert {*services} == {"web", "nginx", "backup"}
    assert {*services} <= {*COMPOSE["services"]}


def test_make_secrets_keeps_existing_secrets(tmp_path: Path) -> None:
    shutil.copy(DEPLOY / "make-secrets", tmp_path)
    subprocess.run([tmp_path / "make-secrets"], check=True)
    secrets = {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    subprocess.run([tmp_path / "make-secrets"], check=True)

    assert secrets == {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    assert {*secrets} == {*COMPOSE["secrets"]}
    assert len(secrets["secret_key"]) == 64
    assert (
        secrets["database_url"] == f"postgres://plenary:{secrets['database_password']}@postgres:5432/plenary"
    )
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
