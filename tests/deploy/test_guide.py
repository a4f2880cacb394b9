"""Each command of docs/deploying.md runs, in a folder that stands for the server, with fakes of its programs.

Programs of the system record their arguments. Commands of `manage.py` are parsed by their own parsers.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands, load_command_class

ROOT = Path(settings.BASE_DIR)
GUIDE = (ROOT / "docs" / "deploying.md").read_text("utf-8")
# Folders of the server, which are folders of the test.
FOLDERS = re.compile(r"(?<![\w./])/(?=(?:etc|srv|var|opt|usr|tmp|backups)\b)")
# Programs that would change the system or need the network. Each records its name and arguments.
FAKES = (
    "apt-get", "useradd", "createuser", "createdb", "certbot", "chown", "docker", "journalctl", "manage.py",
    "nginx", "openssl", "pip", "systemctl",
)  # fmt: skip
RECORD = '{ printf "%q " "${0##*/}" "$@"; echo; } >>"$SERVER/log"\n'
SCRIPTS = {
    "git": '[[ $1 != clone ]] || cp -r "$SERVER/project" "${@: -1}"\n',
    # Makes the environment of Python, which records what the service is asked to do, and with which settings.
    "uv": 'mkdir -p .venv/bin && cp "$SERVER/bin/service-python" .venv/bin/python\n',
    "service-python": 'echo "SITE_NAME=${SITE_NAME-} VAR=${PLENARY_VAR_DIR-}" >>"$SERVER/environments"\n',
    "python3": 'mkdir -p "$3/bin" && cp "$SERVER"/bin/{uv,pip} "$3/bin/"\n',
    "runuser": 'shift 3\nexec "$@"\n',
    "install": 'args=()\nwhile (($#)); do case $1 in -o|-g) shift ;; *) args+=("$1") ;; esac; shift; done\n'
    'exec /usr/bin/install "${args[@]}"\n',
}  # fmt: skip
# The copied settings are edited by hand, as the guide says.
EDIT = (
    "sed -i -e 's/^#\\([A-Z_]*=\\(\\/etc\\|\\/var\\|redis\\|database\\)\\)/\\1/' "
    "-e 's/^SITE_NAME=.*/SITE_NAME=MLSys 2027/' \"$SERVER/etc/plenary/env\""
)


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """Return a folder with fake programs, and a copy of what the guide uses of the project."""
    (tmp_path / "bin").mkdir()
    for name in (*FAKES, *SCRIPTS):
        program = tmp_path / "bin" / name
        program.write_text(f"#!/usr/bin/env bash\n{RECORD}{SCRIPTS.get(name, '')}")
        program.chmod(0o755)
    for folder in ("etc/systemd/system", "etc/nginx/conf.d", "etc/nginx/sites-enabled", "etc/logrotate.d",
                   "usr/local/bin", "var/lib", "var/backups", "srv", "opt", "tmp", "home"):  # fmt: skip
        (tmp_path / folder).mkdir(parents=True)
    shutil.copytree(
        ROOT / "deploy", tmp_path / "project" / "deploy", ignore=shutil.ignore_patterns("secrets")
    )
    (tmp_path / "home" / "program.json").touch()
    (tmp_path / "home" / "drill.zip").touch()
    return tmp_path


def logical_lines(block: str) -> Iterator[str]:
    """Yield the commands of a block: lines that belong together are one."""
    text = ""
    for line in block.splitlines():
        text += f"{line}\n"
        is_whole = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
        if not line.endswith("\\") and is_whole.returncode == 0:
            if text.strip() and not text.lstrip().startswith("#"):
                yield text
            text = ""
    assert not text.strip(), f"is no command: {text}"


def blocks(section: str) -> list[str]:
    """Return the blocks of commands of a section."""
    text = re.split(rf"(?m)^## {section}\n", GUIDE)[1].partition("\n## ")[0]
    return re.findall(r"(?ms)^```\n(.*?)^```", text)


def run(server: Path, *sources: str) -> list[list[str]]:
    """Run blocks one after the other, each from the home folder; return what the fakes recorded."""
    script = ["set -eu"]
    for source in sources:
        script.append('cd "$SERVER/home"')
        for line in logical_lines(FOLDERS.sub(f"{server}/", source)):
            script.append(f"{{ {line}}} || {{ echo {shlex.quote(line)} failed >&2; exit 1; }}")
            if "/etc/plenary/env" in line and line.startswith("cp "):
                script.append(EDIT)
    # `deploy/plenary` reads the settings of this server, and becomes its user.
    names = {"SERVER": str(server), "HOME": str(server / "home"), "PLENARY_ENV": f"{server}/etc/plenary/env"}
    path = os.pathsep.join([str(server / "bin"), str(server / "usr/local/bin"), "/usr/bin", "/bin"])
    result = subprocess.run(
        ["bash"],
        input="\n".join(script),
        env={"PATH": path, **names},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    log = (server / "log").read_text().replace(f"{server}/", "/")
    return [shlex.split(line) for line in log.splitlines()]


def management_commands(log: list[list[str]]) -> list[list[str]]:
    """Return the commands of `manage.py` among the recorded ones, after parsing them."""
    commands = [line[1:] for line in log if line[0] == "manage.py"]
    for line in log:
        if any(part.endswith("manage.py") for part in line[1:]):
            index = next(index for index, part in enumerate(line) if part.endswith("manage.py"))
            commands.append(line[index + 1 :])
    owners = get_commands()
    for name, *arguments in commands:
        command = load_command_class(str(owners[name]), name)
        command.create_parser("manage.py", name).parse_args(arguments)
    return commands


def test_plain_server(server: Path) -> None:
    log = run(
        server,
        *blocks("A plain server"),
        *blocks("Backup and restore"),
        *blocks("Upgrade without downtime")[:1],
    )
    commands = management_commands([line for line in log if line[0] != "runuser"])

    assert [command[0] for command in commands if command[0] not in ("backup", "restore")] == [
        "migrate", "collectstatic", "createsuperuser", "check", "migrate", "collectstatic",
    ]  # fmt: skip
    # The service's commands run as its user, with its settings, spaces in them included.
    environments = {*(server / "environments").read_text().splitlines()}
    assert environments == {"SITE_NAME= VAR=", "SITE_NAME=MLSys 2027 VAR=/var/lib/plenary"}
    assert {tuple(line[1:4]) for line in log if line[0] == "runuser" and "env" in line} == {
        ("-u", "plenary", "--")
    }
    assert (server / "srv/plenary/current").resolve() == server / "srv/plenary/releases/2"
    assert (server / "etc/nginx/plenary/locations.conf").is_file()
    assert len((server / "etc/plenary/secret-key").read_text()) == 64
    assert [line for line in log if line[:2] == ["systemctl", "restart"]] == [
        ["systemctl", "restart", unit] for unit in ("plenary-web@8000", "plenary-web@8001", "plenary-worker")
    ]


def test_containers(server: Path) -> None:
    containers, certificate, commands = blocks("Containers")
    upgrade = blocks("Upgrade without downtime")[1]
    inside = "cd plenary\n"
    log = run(
        server,
        containers,
        inside + certificate,
        inside + f"cp ../*.json ../*.zip .\n{commands}",
        inside + upgrade,
    )

    assert [command[0] for command in management_commands(log)] == ["createsuperuser"]
    composed = [
        line[line.index("deploy/compose.yaml") + 1 :] for line in log if "deploy/compose.yaml" in line
    ]
    assert composed[0] == ["up", "-d", "--build"]
    assert ["restart", "nginx"] in composed
    hook = next(line for line in log if line[0] == "certbot")[-1]
    subprocess.run(["bash", "-n", "-c", hook], check=True)


@pytest.mark.parametrize("word", ["manage.py", "plenary"])
def test_commands_in_the_text_exist(word: str) -> None:
    names = {*re.findall(rf"`(?:[^`\n]*\s)?{re.escape(word)} ([a-z_]+)", GUIDE)}

    assert names <= get_commands().keys()
    assert names or word == "plenary"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("SITE_NAME=MLSys 2027", "MLSys 2027"),
        ('SITE_NAME="MLSys 2027"', "MLSys 2027"),
        ("SITE_NAME='MLSys 2027'", "MLSys 2027"),
        ("SITE_NAME=$(touch evil) `x` # 1", "$(touch evil) `x` # 1"),
        ("  SITE_NAME=a=b  ", "a=b"),
        ("SITE_NAME=", ""),
        ('SITE_NAME="', '"'),
        ("#SITE_NAME=x\n\n; no\nSITE_NAME=é", "é"),
    ],
)
def test_settings_are_read_as_systemd_reads_them(tmp_path: Path, line: str, value: str) -> None:
    script = tmp_path / "current" / "deploy" / "plenary"
    script.parent.mkdir(parents=True)
    shutil.copy(ROOT / "deploy" / "plenary", script)
    python = tmp_path / "current" / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    (tmp_path / "current" / "manage.py").write_text(
        "import os, sys\nprint(repr((os.environ['SITE_NAME'], sys.argv[1:], os.getcwd())))"
    )
    (tmp_path / "link").symlink_to(script)
    (tmp_path / "env").write_text(line)
    user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
    variables = {**os.environ, "PLENARY_ENV": str(tmp_path / "env"), "PLENARY_USER": user}
    result = subprocess.run(
        [tmp_path / "link", "migrate", "two words"],
        env=variables, cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert result.stdout.strip() == repr((value, ["migrate", "two words"], str(tmp_path)))
    assert not (tmp_path / "evil").exists()
