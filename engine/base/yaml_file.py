"""YAML files as plain data, with the line of every part for messages of errors.

Numbers are those of YAML 1.2's core schema: 1e-3 is a number, 1:30 and 1_000 are text, 010 is ten
and 0o10 is eight. libyaml parses where PyYAML was built with it; without it PyYAML parses in
Python, with the same result, seven times as slowly.  The data of a large file of the package are
kept where Python keeps compiled modules, for as long as its bytes are the same.
"""

from __future__ import annotations

import hashlib
import marshal
import re
import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, ClassVar, Final

import yaml
from yaml.composer import Composer, ComposerError
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.resolver import Resolver

from .errors import RegistryError
from .private import SHARED, replacing

PACKAGE: Final = Path(__file__).resolve().parents[2]  # nothing is written beside files of others
LARGE: Final = 65_536  # bytes of a file whose data are kept: six times as many take 0.2 s to parse
MARK_BYTES: Final = 32  # SHA-256 at the start of kept data
MOST_DEEP: Final = 64  # levels of nesting; a mechanism set has 4, an entry 5
INT, FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"


class CoreNumbers(Resolver):
    """Tells numbers as YAML 1.2's core schema does; PyYAML alone follows YAML 1.1, to which 1e-3
    is text and 1:30 is ninety.
    """


CoreNumbers.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in forms if tag not in (INT, FLOAT)]
    for first, forms in Resolver.yaml_implicit_resolvers.items()
}
CoreNumbers.add_implicit_resolver(
    INT, re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z"), list("-+0123456789")
)
CoreNumbers.add_implicit_resolver(
    FLOAT,
    re.compile(
        r"""(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?
                                                       |[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z""",
        re.VERBOSE,
    ),
    list("-+.0123456789"),
)


class _Writer(CoreNumbers, yaml.SafeDumper):
    """Puts texts in quotes that `read_yaml` would take for numbers."""


class _Composer(Composer):
    """Refuses deep nesting, with its line, before Python or the C library runs out of stack; and
    aliases, of which few lines make gigabytes.
    """

    _depth = 0

    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        parser: Any = self
        if parser.check_event(yaml.AliasEvent):
            alias = parser.peek_event()
            raise ComposerError(
                None,
                None,
                f"the alias *{alias.anchor} is not allowed; write the value out",
                alias.start_mark,
            )
        self._depth += 1
        if self._depth > MOST_DEEP and parent is not None:
            raise ComposerError(
                None, None, f"it is nested more than {MOST_DEEP} deep", parent.start_mark
            )
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


class _Constructor(SafeConstructor):
    """Refuses a key given twice, of which plain YAML keeps the last, and names the line of every
    value it refuses.
    """

    def construct_mapping(self, node: MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            try:
                double = key in seen
            except TypeError as error:
                raise ConstructorError(
                    None, None, f"a {type(key).__name__} cannot be a key", key_node.start_mark
                ) from error
            if double:
                raise ConstructorError(
                    None, None, f"key {key!r} is given twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)

    def construct_object(self, node: Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, TypeError) as error:  # such as the date 2024-13-45
            raise ConstructorError(None, None, str(error), node.start_mark) from error

    def construct_yaml_int(self, node: ScalarNode) -> int:
        text = str(self.construct_scalar(node))
        return (
            int(text[2:], {"0o": 8, "0x": 16}[text[:2]]) if text[:2] in ("0o", "0x") else int(text)
        )

    yaml_constructors: ClassVar[dict[str | None, Any]] = {
        **SafeConstructor.yaml_constructors,
        INT: construct_yaml_int,
    }


class PythonLoader(CoreNumbers, _Composer, yaml.SafeLoader, _Constructor):
    """The loader without libyaml."""


LOADERS: list[Any] = [PythonLoader]  # the last is used
try:
    from yaml.cyaml import CParser  # type: ignore[attr-defined]
except ImportError:
    pass
else:

    class LibyamlLoader(_Composer, CParser, _Constructor, CoreNumbers):
        """libyaml's parser under PyYAML's composer in Python, because libyaml's own composer
        overruns the stack at deep nesting.
        """

        def __init__(self, text: str) -> None:
            CParser.__init__(self, text)
            Composer.__init__(self)
            SafeConstructor.__init__(self)
            CoreNumbers.__init__(self)

    LOADERS.append(LibyamlLoader)


class YamlFile:
    """A mapping read from a YAML file.

    path  as given
    data  the mapping

    Raises RegistryError with file, line and cure for a file that cannot be read, is not valid YAML
    or holds no mapping.
    """

    def __init__(self, path: Path, content: bytes | None = None) -> None:
        """content: of the file, if it is read already."""
        self.path = path
        content = bytes_of(path) if content is None else content
        try:
            self._text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._invalid(
                "it is not encoded in UTF-8", error.object[: error.start].count(b"\n")
            ) from error
        self._root: Node | None = None
        kept = None
        if len(content) >= LARGE and PACKAGE in path.resolve().parents:
            kept = _KeptData(path, content)
        data = kept.read() if kept else None
        if data is None:
            data = self._parsed()
            if kept and isinstance(data, dict):
                kept.write(data)
        if not isinstance(data, dict):
            held = (
                "is empty"
                if data is None
                else "holds a list"
                if isinstance(data, list)
                else "holds one value"
            )
            raise RegistryError(
                f"{held}, not a mapping",
                where=self.place(),
                cure="write entries such as `summary: words and meaning`, one a line",
            )
        self.data: dict[str, Any] = data

    def place(self, *keys: object) -> str:
        """File and line of the part under these keys and list positions, or of the last of them
        that is there: `sets/mine.yaml:3`.  O(parts); the first time, for kept data, O(file).
        """
        if self._root is None:
            self._parsed()
        node, line = self._root, self._root.start_mark.line if self._root else 0
        for key in keys:
            part = _below(node, key)
            if part is None:
                break
            line, node = part
        return f"{self.path}:{line + 1}"

    def _parsed(self) -> Any:
        """What the text says; the nodes that `place` reads are remembered."""
        try:
            loader = LOADERS[-1](self._text)
            try:
                self._root = loader.get_single_node()
                return None if self._root is None else loader.construct_document(self._root)
            finally:
                loader.dispose()
        except (
            yaml.reader.ReaderError
        ) as error:  # a character that YAML forbids; libyaml counts bytes
            before = (
                self._text[: error.position]
                if error.encoding == "unicode"
                else self._text.encode()[: error.position].decode(errors="ignore")
            )
            raise self._invalid(error.reason, before.count("\n")) from error
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            raise self._invalid(str(error.problem), mark.line if mark else 0) from error

    def _invalid(self, problem: str, line: int) -> RegistryError:
        return RegistryError(
            f"is not valid YAML: {problem}",
            where=f"{self.path}:{line + 1}",
            cure="correct that line",
        )


class _KeptData:
    """The data of a YAML file in Python's folder of compiled modules.

    They are read only if their mark is that of the file's bytes, of this module, of PyYAML, of its
    loader and of the data themselves.  Where nothing can be kept the file is parsed each time.
    """

    def __init__(self, path: Path, content: bytes) -> None:
        self._file = Path(cache_from_source(str(path))).with_suffix(".data")
        self._stamp = hashlib.sha256(
            f"{yaml.__version__} {LOADERS[-1].__name__} ".encode()
            + hashlib.sha256(Path(__file__).read_bytes()).digest()
            + content
        ).digest()

    def read(self) -> dict[str, Any] | None:
        with suppress(OSError):
            kept = self._file.read_bytes()
            if kept[:MARK_BYTES] == self._mark(kept[MARK_BYTES:]):
                data: dict[str, Any] = marshal.loads(kept[MARK_BYTES:])
                return data
        return None

    def write(self, data: dict[str, Any]) -> None:
        """Keep the data, unless Python is told to write no compiled modules."""
        if sys.dont_write_bytecode:
            return
        with suppress(OSError, ValueError):  # ValueError: a date, which has no such form
            kept = marshal.dumps(data)
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self._file, SHARED) as stream:
                stream.write(self._mark(kept) + kept)

    def _mark(self, kept: bytes) -> bytes:
        return hashlib.sha256(self._stamp + kept).digest()


def _below(node: Node | None, key: object) -> tuple[int, Node] | None:
    """Line (from 0) and node of one part of a mapping or a list."""
    if isinstance(node, SequenceNode) and isinstance(key, int) and 0 <= key < len(node.value):
        return node.value[key].start_mark.line, node.value[key]
    if isinstance(node, MappingNode):
        for key_node, value_node in node.value:
            if isinstance(key_node, ScalarNode) and key_node.value == str(key):
                return key_node.start_mark.line, value_node
    return None


def bytes_of(path: Path) -> bytes:
    """What a file holds.  Raises RegistryError if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise RegistryError(
            f"cannot be read: {error.strerror}", where=str(path), cure="check the path"
        ) from error


def read_yaml(path: Path) -> dict[str, Any]:
    """A mapping from a YAML file.  Raises RegistryError with file, line and cure."""
    return YamlFile(path).data


def yaml_text(data: dict[str, Any]) -> str:
    """A mapping as YAML that `read_yaml` reads back, in its own order.

    >>> print(yaml_text({"name": "1e-3", "weight": 0.5}), end="")
    name: '1e-3'
    weight: 0.5
    """
    return str(yaml.dump(data, Dumper=_Writer, sort_keys=False, allow_unicode=True))
