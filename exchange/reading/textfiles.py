"""Read text, JSON and YAML, report unreadable files, and provide typed access to objects.

YAML is checked before it is built. Its single values are not converted, so that a title `No` is text.
"""

import codecs
import json
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import yaml
from django.utils.translation import gettext

from exchange.files import Source
from exchange.problems import Findings, Where, short
from exchange.reading.values import InvalidValueError, clean_text, tidy

UTF16_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
MAX_YAML_DEPTH = 40
MAX_YAML_BYTES = 50_000_000
# What a value of YAML takes in memory while it is read.
YAML_VALUE_BYTES = 1_000
# Values that mean null in YAML files.
YAML_NULLS = frozenset(("", "~", "null", "Null", "NULL", "None"))
START_EVENTS = (yaml.SequenceStartEvent, yaml.MappingStartEvent)
END_EVENTS = (yaml.SequenceEndEvent, yaml.MappingEndEvent)
# The key under which an object refers to others whose values it inherits.
MERGE_KEY = "<<"
UNREADABLE = object()
# The number of bytes that are read to detect a format.
HEAD_BYTES = 65_536
# What an object of JSON takes in memory, with the record that is made of it, a list, and each further value.
OBJECT_BYTES, LIST_BYTES, VALUE_BYTES = 400, 100, 60
# Strings, and the characters that open and close objects and lists.
JSON_TOKENS = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?|[{}\[\]]')


def decode(source: Source, findings: Findings, *, advice: str) -> str | None:
    """Return the text of a file in UTF-8. Report and return None for other encodings."""
    where = Where(source.name)
    try:
        text = source.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = gettext("The file is not UTF-8 text (byte %(byte)s). %(advice)s")
        findings.problem(where, "", message, byte=error.start, advice=advice)
        return None
    if "\0" in text:
        message = gettext("The file holds NUL characters, so it is not a text file. %(advice)s")
        findings.problem(where, "", message, advice=advice)
        return None
    if not text or text.isspace():
        findings.problem(where, "", gettext("The file is empty."))
        return None
    return text


def is_too_large(source: Source, max_bytes: int, findings: Findings) -> bool:
    """Return whether a file exceeds the limit, and report it. Call this before parsing."""
    if len(source.content) <= max_bytes:
        return False
    message = gettext("The file is larger than %(megabytes)s MB. Is this a conference program?")
    findings.problem(Where(source.name), "", message, megabytes=max_bytes // 1_000_000)
    return True


def extension(file_name: str) -> str:
    """Return such as "csv", in lower case."""
    return PurePath(file_name).suffix[1:].casefold()


def read_head(source: Source) -> str:
    """Return the beginning of a file as text."""
    content = source.content[:HEAD_BYTES]
    coding = "utf-16" if content.startswith(UTF16_BOMS) else "utf-8-sig"
    return content.decode(coding, "ignore")


def top_level_names(text: str) -> set[str]:
    """Return the names in the outermost object of JSON that occur in its beginning."""
    names, depth = set(), 0
    if not text.lstrip().startswith("{"):
        return set()
    for match in JSON_TOKENS.finditer(text):
        symbol = match[0]
        if symbol in "{[":
            depth += 1
        elif symbol in "}]":
            depth -= 1
        elif depth == 1 and match[2]:
            names.add(match[1])
    return names


# JSON


def _build_object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    content = dict(pairs)
    if len(content) != len(pairs):
        duplicate = short(Counter(key for key, _ in pairs).most_common(1)[0][0])
        message = gettext('The name "%(twice)s" is listed twice in one object. Keep one of them.')
        raise InvalidValueError(message, twice=duplicate)
    return content


def _refuse_constant(name: str) -> object:
    raise InvalidValueError(gettext("%(name)s is not JSON. Leave the field out instead."), name=name)


def require_single_file(sources: Sequence[Source], findings: Findings) -> Source | None:
    """Return the file. Report and return None if there is not exactly one."""
    if len(sources) == 1:
        return sources[0]
    message = gettext("Give one file of this format, not %(sources)s.")
    findings.problem(Where(), "", message, sources=len(sources))
    return None


@dataclass(frozen=True, slots=True)
class JsonObject:
    """Typed access to one object of a file. Values of another type are reported and read as empty.

    `path` is the path to it from the row at `where`: "authors[0]."
    """

    content: Mapping[str, object]
    where: Where
    findings: Findings
    path: str = ""

    def has(self, name: str) -> bool:
        return self.content.get(name) is not None

    def problem(self, name: str, message: str, **values: object) -> None:
        self.findings.problem(self.where, f"{self.path}{name}", message, **values)

    def text(self, name: str) -> str:
        """Return a text without control characters, or an empty text."""
        value = self.content.get(name)
        if value is None:
            return ""
        if isinstance(value, str):
            return clean_text(value, self.where, f"{self.path}{name}", self.findings)
        self.problem(name, gettext("This must be text, not %(value)s."), value=describe_type(value))
        return ""

    def line(self, name: str) -> str:
        return tidy(self.text(name))

    def number(self, name: str) -> int | None:
        value = self.content.get(name)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63):
            return value
        description = f'"{short(value)}"' if isinstance(value, str) else describe_type(value)
        self.problem(name, gettext("This must be a whole number, not %(value)s."), value=description)
        return None

    def items(self, name: str) -> list[object]:
        value = self.content.get(name)
        if value is None or isinstance(value, list):
            return value or []
        self.problem(name, gettext("This must be a list, not %(value)s."), value=describe_type(value))
        return []

    def objects(self, name: str, *, are_rows: bool = False) -> Iterator["JsonObject"]:
        """Yield the objects of a list. `are_rows`: each gets a `where` of its own, not a path in this row."""
        for index, item in enumerate(self.items(name)):
            path = f"{self.path}{name}[{index}]"
            if not isinstance(item, dict):
                message = gettext("This must be an object, not %(value)s.")
                self.findings.problem(self.where, path, message, value=describe_type(item))
            elif are_rows:
                yield JsonObject(item, Where(self.where.file, f"{self.where.place}.{path}"), self.findings)
            else:
                yield JsonObject(item, self.where, self.findings, f"{path}.")


def describe_place(name: str, index: int, key: object) -> str:
    """Return the place of a row in a list: `papers[3] (p17)`. Keys must be text or integers to be shown."""
    is_key = isinstance(key, str) or type(key) is int
    return f"{name}[{index}] ({short(str(key))})" if is_key and key != "" else f"{name}[{index}]"


def describe_type(value: object) -> str:
    """Return the type of a JSON value for messages."""
    kinds = {
        str: gettext("text"),
        bool: gettext("true or false"),
        dict: gettext("an object"),
        list: gettext("a list"),
        type(None): gettext("null"),
    }
    return kinds.get(type(value), gettext("a number"))


def read_object(source: Source, findings: Findings) -> dict[str, object] | None:
    """Return the object in a file. Report and return None if it has other content."""
    content = read_json(source, findings)
    if isinstance(content, dict):
        return content
    if content is not UNREADABLE:
        message = gettext('The file must hold one JSON object: it begins with "{" and ends with "}".')
        findings.problem(Where(source.name), "", message)
    return None


def read_list(source: Source, name: str, findings: Findings) -> tuple[list[object], int]:
    """Return the list in a file, at the top or as `name` in an object, and how long it is in all.

    The object may be a page of a longer list, of which it states the `count`. Report any other content.
    """
    content = read_json(source, findings)
    rows = content.get(name) if isinstance(content, dict) else content
    if isinstance(rows, list):
        count = content.get("count") if isinstance(content, dict) else None
        return rows, max(len(rows), count) if type(count) is int else len(rows)
    if content is not UNREADABLE:
        message = gettext('The file must hold a list, by itself or in an object with "%(name)s".')
        findings.problem(Where(source.name), name, message, name=name)
    return [], 0


def read_json(source: Source, findings: Findings) -> object:
    """Return the content of a file. Report and return `UNREADABLE` if it is not JSON."""
    text = decode(source, findings, advice=gettext("Save it as JSON in the encoding UTF-8."))
    if text is None:
        return UNREADABLE
    values = text.count("{") * OBJECT_BYTES + text.count("[") * LIST_BYTES + text.count(",") * VALUE_BYTES
    findings.spend_memory(values, Where(source.name))
    try:
        return json.loads(text, object_pairs_hook=_build_object, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        message = gettext("This is not JSON: %(msg)s (line %(lineno)s, column %(colno)s).") % vars(error)
    except RecursionError:
        message = gettext("Lists and objects are nested too deeply here for a conference program.")
    except InvalidValueError as error:
        message = str(error)
    except ValueError:
        message = gettext("A number in this file is far too long.")
    findings.problem(Where(source.name), "", message)
    return UNREADABLE


# YAML


def read_yaml(source: Source, findings: Findings) -> object:
    """Return the lists, dicts and texts of a file. Report and return None if it cannot be read."""
    if is_too_large(source, MAX_YAML_BYTES, findings):
        return None
    text = decode(source, findings, advice=gettext("Save it as YAML in the encoding UTF-8."))
    if text is None:
        return None
    try:
        fault = _find_yaml_fault(text, Where(source.name), findings)
        if not fault:
            loaded: object = yaml.load(text, Loader=_TextLoader)  # noqa: S506 - makes texts, lists, dicts
            return _apply_merge_keys(loaded) if MERGE_KEY in text else loaded
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = short(str(getattr(error, "problem", None) or getattr(error, "reason", error)))
        message = gettext("Line %(line)s is not YAML: %(error)s.")
        fault = message % {"line": mark.line + 1 if mark else "?", "error": reason}
    except (ValueError, TypeError, RecursionError) as error:
        fault = gettext("The file is not YAML: %(error)s.") % {"error": short(str(error))}
    findings.problem(Where(source.name), "", fault)
    return None


class _TextLoader(yaml.CBaseLoader):
    """A loader of texts, lists and dicts that refuses a name which is listed twice in one object."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        names: set[str] = set()
        for name, _ in node.value:
            if isinstance(name, yaml.ScalarNode) and name.value in names:
                message = gettext('"%(name)s" is listed twice in one object') % {
                    "name": short(name.value, 20)
                }
                raise yaml.constructor.ConstructorError(None, None, message, name.start_mark)
            if isinstance(name, yaml.ScalarNode):
                names.add(name.value)
        return super().construct_mapping(node, deep=deep)


def _find_yaml_fault(text: str, where: Where, findings: Findings) -> str:
    """Return why a file must not be built, or an empty text. Only its events are read.

    Aliases are counted with all values that they repeat, since a few lines could expand beyond the memory.
    """
    # The bytes in memory, the depth and the anchor of each open list or object. The first is the file.
    sizes, depths, anchors = [0], [0], [""]
    size_and_depth: dict[str, tuple[int, int]] = {}
    for event in yaml.parse(text, Loader=yaml.CBaseLoader):
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, START_EVENTS):
            sizes.append(YAML_VALUE_BYTES)
            depths.append(1)
            anchors.append(event.anchor or "")
            findings.spend_memory(YAML_VALUE_BYTES, Where(where.file, f"line {line}"))
            size, depth, anchor = 0, 0, ""
        elif isinstance(event, END_EVENTS):
            size, depth, anchor = sizes.pop(), depths.pop(), anchors.pop()
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in size_and_depth:
                message = gettext("Line %(line)s repeats a part that is not there, or itself (*%(name)s).")
                return message % {"line": line, "name": short(str(event.anchor))}
            (size, depth), anchor = size_and_depth[event.anchor], ""
            findings.spend_memory(size, Where(where.file, f"line {line}"))
        else:
            size, depth = YAML_VALUE_BYTES + len(getattr(event, "value", "")), 0
            anchor = getattr(event, "anchor", None) or ""
            findings.spend_memory(size, Where(where.file, f"line {line}"))
        if anchor:
            size_and_depth[anchor] = size, depth
        sizes[-1] += size
        depths[-1] = max(depths[-1], depth + 1)
        if len(sizes) + depth - 1 > MAX_YAML_DEPTH:
            return gettext("Lists and objects are nested too deeply on line %(line)s.") % {"line": line}
    return ""


def _apply_merge_keys(value: object) -> object:
    """Return objects with the values that they inherit by `<<`. Their own values take precedence."""
    if isinstance(value, list):
        return [_apply_merge_keys(item) for item in value]
    if not isinstance(value, dict):
        return value
    merged: dict[object, object] = {}
    parents = value.get(MERGE_KEY, [])
    for parent in reversed(parents if isinstance(parents, list) else [parents]):
        merged |= parent if isinstance(parent := _apply_merge_keys(parent), dict) else {}
    return merged | {name: _apply_merge_keys(item) for name, item in value.items() if name != MERGE_KEY}


def scalar(value: object) -> str:
    """Return a single value as text, or an empty text for null values and collections."""
    return value if isinstance(value, str) and value not in YAML_NULLS else ""
