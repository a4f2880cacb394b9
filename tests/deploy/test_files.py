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
OWN = ("migrate", "web", "worker", "backup")


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    for name in UNITS:
        text = (DEPLOY / "systemd" / name).read_text("utf-8")
        # The program and its user do not exist here, so replace its commands by `env`.
        text = re.sub(r"/srv/plenary/current/\S+(?= )", "/usr/bin/env", text)
        (tmp_path / name.replace("@", "@8000")).write_text(re.sub(r"(?m)^(User|Group)=.*\n", "", text))
    units = [str(path) for path in tmp_path.iterdir()]
    found = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *units],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    said = [line for line in found.stderr.splitlines() if "plenary" in line]
    assert said == []


@pytest.mark.parametrize("unit", [name for name in UNITS if name.endswith(".service")])
def test_units_may_do_little(unit: str) -> None:
    lines = (DEPLOY / "systemd" / unit).read_text("utf-8").splitlines()

    wanted = {"User=plenary", "NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet="}
    assert wanted <= {*lines}


def test_the_worker_gives_way_to_readers() -> None:
    unit = (DEPLOY / "systemd" / "plenary-worker.service").read_text("utf-8").splitlines()

    assert "Nice=10" in unit
    assert {name: one["cpu_shares"] for name, one in COMPOSE["services"].items() if "cpu_shares" in one} == {
        "worker": 102
    }


def test_commands_of_units_and_services_exist() -> None:
    text = "\n".join(path.read_text("utf-8") for path in (DEPLOY / "systemd").glob("*.service"))
    text += (DEPLOY / "compose.yaml").read_text("utf-8") + (DEPLOY / "Containerfile").read_text("utf-8")
    commands = {*re.findall(r"manage\.py,? (\w+)", text)}
    from django.core.management import get_commands

    assert commands == {"migrate", "db_worker", "backup", "collectstatic"}
    assert commands <= get_commands().keys()
    assert text.count("website.wsgi:application") == 2


def test_program_is_compiled_where_no_service_may_write() -> None:
    image = (DEPLOY / "Containerfile").read_text("utf-8")
    guide = (DEPLOY.parent / "docs" / "deploying.md").read_text("utf-8")

    assert image.index("COPY . ") < image.index("compileall -q") < image.rindex("\nFROM ")
    assert guide.count("uv sync --no-dev") == guide.count("-m compileall -q .") == 2


@pytest.mark.parametrize("name", OWN)
def test_services_are_read_only_and_secrets_are_files(name: str) -> None:
    service = COMPOSE["services"][name]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert {key for key in service["environment"] if re.search("KEY|TOKEN|DATABASE_URL|PASSWORD", key)} == {
        "SECRET_KEY_FILE", "DATABASE_URL_FILE", "METRICS_TOKEN_FILE",
    }  # fmt: skip


def test_services_name_what_is_declared() -> None:
    services = COMPOSE["services"]
    volumes = {
        place.split(":")[0]
        for one in services.values()
        for place in one.get("volumes", [])
        if place[0].isalpha()
    }
    assert {network for one in services.values() for network in one["networks"]} == {*COMPOSE["networks"]}
    assert {secret for one in services.values() for secret in one.get("secrets", [])} == {*COMPOSE["secrets"]}
    assert volumes == {*COMPOSE["volumes"]}
    assert {other for one in services.values() for other in one.get("depends_on", {})} <= {*services}
    assert [name for name, one in services.items() if "ports" in one] == ["nginx"]


def test_files_mounted_by_nginx_exist() -> None:
    files = [
        place.split(":")[0]
        for place in COMPOSE["services"]["nginx"]["volumes"]
        if place.startswith("./nginx")
    ]

    assert len(files) == 5
    assert [name for name in files if not (DEPLOY / name).is_file()] == []


def mounted_in_nginx() -> dict[str, str]:
    """Return the text of each configuration file of the nginx service, by its path in the container."""
    found = {}
    for place in COMPOSE["services"]["nginx"]["volumes"]:
        here, there, *_ = place.split(":")
        if here.endswith(".conf"):
            found[there] = (DEPLOY / here).read_text("utf-8")
    return found


def test_nginx_writes_where_it_may() -> None:
    service, files = COMPOSE["services"]["nginx"], mounted_in_nginx()
    text = "\n".join(files.values())
    written = re.findall(r"^\s*(?:access_log|error_log|proxy_cache_path) (/\S+)", text, re.M)
    volumes = [place.split(":")[1] for place in service["volumes"] if not place.endswith(":ro")]

    assert service["read_only"] is True
    assert {*written} == {"/dev/stdout", "/dev/stderr", "/var/cache/nginx/plenary"}
    assert volumes == ["/var/cache/nginx"]
    assert {*re.findall(r"include (\S+);", text)} <= files.keys()


def test_nginx_follows_the_application_as_it_is_replaced() -> None:
    upstream = mounted_in_nginx()["/etc/nginx/plenary/upstream.conf"]
    version = COMPOSE["services"]["nginx"]["image"].partition(":")[2].partition("-")[0]

    # Since this version, nginx resolves names again, which requires a zone and a resolver.
    assert tuple(map(int, version.split("."))) >= (1, 28)
    assert re.findall(r"^server (\S+) (\w+)", upstream, re.M) == [("web:8000", "resolve")]
    assert re.findall(r"^(zone|resolver) (\S+)", upstream, re.M) == [
        ("zone", "plenary_web"),
        ("resolver", "127.0.0.11"),
    ]


def test_one_service_builds_the_image_that_all_share() -> None:
    services = COMPOSE["services"]

    assert [name for name, one in services.items() if "build" in one] == ["web"]
    assert {services[name]["image"] for name in OWN} == {"plenary:${PLENARY_VERSION:-latest}"}


def test_the_database_is_well_when_others_reach_it() -> None:
    test = COMPOSE["services"]["postgres"]["healthcheck"]["test"]

    assert test[:4] == ["CMD", "pg_isready", "-h", "127.0.0.1"]


def test_logs_and_health_of_each_service() -> None:
    for name, service in COMPOSE["services"].items():
        assert service["logging"]["options"] == {"max-size": "10m", "max-file": "5"}, name
        assert "healthcheck" in service or name == "web", name


def test_the_image_is_built_in_two_stages_and_runs_as_nobody() -> None:
    text = (DEPLOY / "Containerfile").read_text("utf-8")
    last = text.rpartition("\nFROM ")[2]

    assert re.findall(r"^FROM (\S+)(?: AS (\w+))?$", text, re.M) == [
        ("python:3.13-slim", "build"),
        ("python:3.13-slim", ""),
    ]
    assert "--require-hashes" in text
    assert "pip install" not in last
    assert re.search(r"^USER 10001:10001$", last, re.M)
    assert re.search(r"^HEALTHCHECK ", last, re.M)
    assert [
        path
        for path in re.findall(r"^COPY (\S+) ", text, re.M)
        if not path.startswith("-") and not (ROOT / path).exists()
    ] == []


def test_example_names_existing_settings() -> None:
    names = re.findall(r"^#?([A-Z][A-Z_0-9]+)=", (DEPLOY / ".env.example").read_text("utf-8"), re.M)
    known = {*re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/settings.md").read_text("utf-8"), re.M)}
    inside = {name for service in OWN for name in COMPOSE["services"][service]["environment"]}

    assert {name.removesuffix("_FILE") for name in [*names, *inside]} <= known


def test_secrets_that_the_example_names_are_mounted() -> None:
    named = re.findall(r"/run/secrets/(\w+)", (DEPLOY / ".env.example").read_text("utf-8"))

    assert named == ["email_password"]
    assert [name for name in OWN if not {*named} <= {*COMPOSE["services"][name]["secrets"]}] == []


def test_guide_names_existing_services() -> None:
    guide = (ROOT / "docs" / "deploying.md").read_text("utf-8")
    asked = re.findall(r"deploy/compose\.yaml (?:exec|run --rm|restart|cp)(?: -T)? (\w+)", guide)

    assert {*asked} == {"web", "nginx", "backup"}
    assert {*asked} <= {*COMPOSE["services"]}


def test_secrets_are_made_once(tmp_path: Path) -> None:
    shutil.copy(DEPLOY / "make-secrets", tmp_path)
    subprocess.run([tmp_path / "make-secrets"], check=True)
    first = {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    subprocess.run([tmp_path / "make-secrets"], check=True)

    assert first == {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    assert {*first} == {*COMPOSE["secrets"]}
    assert len(first["secret_key"]) == 64
    assert first["database_url"] == f"postgres://plenary:{first['database_password']}@postgres:5432/plenary"
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
