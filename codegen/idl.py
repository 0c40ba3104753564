# SPDX-License-Identifier: Apache-2.0
"""Reads Microsoft's interface definitions (d3d12.idl and its siblings) into plain objects.

Not a compiler for the whole language: it knows what these files use, and stops with file and line at
anything else, so that nothing is left out silently. What stands in cpp_quote() is C++ for the header;
of it only the names of flag sets are taken.
"""
import dataclasses
import pathlib
import re


class IdlError(Exception):
    """What could not be read, as "FILE:LINE: what"."""


@dataclasses.dataclass
class Type:
    base: str  # "UINT", "ID3D12Resource", "void"
    base_const: bool = False
    pointers: tuple = ()  # for each *, innermost first: is the pointer itself const

    def spelled(self):
        text = ("const " if self.base_const else "") + self.base
        for const in self.pointers:
            text += "* const" if const else "*"
        return text.replace("* const*", "* const*")

    @property
    def depth(self):
        return len(self.pointers)


@dataclasses.dataclass
class Field:
    name: str
    type: Type | None  # None: an anonymous union or struct
    annotation: str = ""
    dims: tuple = ()  # array sizes as written
    bits: int = 0
    fields: list = dataclasses.field(default_factory=list)  # of the anonymous union or struct
    is_union: bool = False


@dataclasses.dataclass
class Struct:
    name: str
    fields: list
    is_union: bool
    where: str


@dataclasses.dataclass
class Enum:
    name: str
    enumerators: list  # (name, value)
    where: str
    flags: bool = False


@dataclasses.dataclass
class Parameter:
    name: str
    type: Type
    annotation: str = ""
    attributes: tuple = ()  # "in", "out", "iid_is(riid)"
    dims: tuple = ()


@dataclasses.dataclass
class Method:
    name: str
    result: Type
    parameters: list
    where: str


@dataclasses.dataclass
class Interface:
    name: str
    base: str
    iid: str  # lower case, with hyphens
    methods: list
    where: str


@dataclasses.dataclass
class Api:
    """All files together, in the order in which they were read."""
    constants: dict = dataclasses.field(default_factory=dict)  # name -> int or float
    enums: dict = dataclasses.field(default_factory=dict)
    structs: dict = dataclasses.field(default_factory=dict)
    interfaces: dict = dataclasses.field(default_factory=dict)
    typedefs: dict = dataclasses.field(default_factory=dict)  # name -> Type
    # Pointers to functions: name -> (result, text of the parameters).
    callbacks: dict = dataclasses.field(default_factory=dict)
    # What only the supplement declares, in its order: ("interface", name), ("enumerator", (enum, name)), ...
    supplement: list = dataclasses.field(default_factory=list)
    # Interfaces of the headers that __uuidof does not know.
    without_uuid: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Token:
    text: str
    line: int


TOKEN = re.compile(
    r'(?P<space>\s+)|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<directive>\#[^\n]*)'
    r'|(?P<text>"(?:\\.|[^"\\])*")'
    r'|(?P<number>0[xX][0-9a-fA-F]+[uUlL]*|[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?[uUlLf]*)'
    r'|(?P<word>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign><<|>>|[-+*/|&~(){}\[\];:,=<>.])', re.S)
FLAG_OPERATORS = re.compile(r"DEFINE_ENUM_FLAG_OPERATORS\(\s*([A-Za-z0-9_]+)\s*\)")
UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def tokenize(text, file):
    tokens, position, line = [], 0, 1
    while position < len(text):
        match = TOKEN.match(text, position)
        if not match:
            raise IdlError(f"{file}:{line}: what is {text[position:position + 20]!r}?")
        if match.lastgroup not in ("space", "comment", "directive"):
            tokens.append(Token(match.group(), line))
        line += match.group().count("\n")
        position = match.end()
    return tokens


def evaluate(words, known):
    """The value of a constant expression, given as the texts of its tokens."""
    python = []
    for word in words:
        if re.match(r"0[xX]", word):
            python.append(word.rstrip("uUlL"))
        elif re.match(r"[0-9]", word):
            number = word.rstrip("uUlLf")
            # A leading 0 is octal in C; Python refuses it.
            python.append(number if not re.fullmatch(r"0[0-7]+", number) else "0o" + number[1:])
        elif re.match(r"[A-Za-z_]", word):
            if word not in known:
                raise KeyError(word)
            python.append(f"({known[word]!r})")
        else:
            python.append(word if word != "/" else "//")
    return eval(" ".join(python), {"__builtins__": {}})  # pylint: disable=eval-used


class Parser:
    """supplement: what is known already stays as it is; of an enum, only new enumerators are added."""

    def __init__(self, text, file, api, supplement=False):
        self.file = file
        self.api = api
        self.supplement = supplement
        self.tokens = tokenize(text, file)
        self.at = 0
        self.known = dict(api.constants)
        for enum in api.enums.values():
            self.known.update(enum.enumerators)

    # Small steps.
    def peek(self, ahead=0):
        index = self.at + ahead
        return self.tokens[index].text if index < len(self.tokens) else ""

    def take(self, expected=None):
        if self.at >= len(self.tokens):
            raise IdlError(f"{self.file}: ends in the middle of a declaration")
        token = self.tokens[self.at]
        if expected is not None and token.text != expected:
            raise self.error(f"expected {expected!r}, found {token.text!r}")
        self.at += 1
        return token.text

    def accept(self, text):
        if self.peek() != text:
            return False
        self.at += 1
        return True

    def where(self):
        line = self.tokens[min(self.at, len(self.tokens) - 1)].line if self.tokens else 1
        return f"{self.file}:{line}"

    def error(self, text):
        return IdlError(f"{self.where()}: {text}")

    def word(self):
        text = self.take()
        if not re.match(r"[A-Za-z_]", text):
            self.at -= 1
            raise self.error(f"expected a name, found {text!r}")
        return text

    def balanced(self, opening, closing):
        """The texts between a bracket and its partner, without both."""
        self.take(opening)
        depth, texts = 1, []
        while True:
            text = self.take()
            depth += (text == opening) - (text == closing)
            if depth == 0:
                return texts
            texts.append(text)

    def value(self, words):
        try:
            return evaluate(words, self.known)
        except KeyError as missing:
            raise self.error(f"unknown constant {missing.args[0]}") from None
        except (SyntaxError, TypeError):
            raise self.error(f"cannot evaluate {' '.join(words)}") from None

    def is_new(self, kind, name, known):
        """Whether a declaration counts. Those of a supplement count where the definitions lack them."""
        if self.supplement:
            if name in known:
                return False
            self.api.supplement.append((kind, name))
        return True

    # Pieces of declarations.
    def attributes(self):
        """[in, annotation("_In_")] -> (("in",), "_In_"). An annotation may hold strings of its own."""
        found, annotation = [], ""
        while self.peek() == "[":
            words = self.balanced("[", "]")
            item = []
            depth = 0
            for word in [*words, ","]:
                depth += (word == "(") - (word == ")")
                if word != "," or depth:
                    item.append(word)
                    continue
                if item[:2] == ["annotation", "("]:
                    annotation = item[2][1:-1].replace('\\"', '"')
                elif item:
                    found.append("".join(item))
                item = []
        return tuple(found), annotation

    def type(self):
        const = False
        names = []
        while True:
            text = self.peek()
            if text == "const":
                const = True
            elif text in ("struct", "interface", "enum", "unsigned", "signed"):
                if text in ("unsigned", "signed"):
                    names.append(text)
            else:
                break
            self.take()
        names.append(self.word())
        while names[-1] in ("unsigned", "long", "short") and self.peek() in ("int", "long", "char", "short"):
            names.append(self.take())
        pointers = []
        while True:
            if self.accept("const"):
                if pointers:
                    pointers[-1] = True
                else:
                    const = True
            elif self.accept("*"):
                pointers.append(False)
            else:
                return Type(" ".join(names), const, tuple(pointers))

    def dims(self):
        found = []
        while self.peek() == "[":
            found.append(" ".join(self.balanced("[", "]")))
        return tuple(found)

    def fields(self):
        self.take("{")
        found = []
        while not self.accept("}"):
            _, annotation = self.attributes()
            if self.peek() in ("union", "struct") and self.peek(1) == "{":
                is_union = self.take() == "union"
                inner = self.fields()
                name = "" if self.peek() == ";" else self.word()
                self.take(";")
                found.append(Field(name, None, annotation, fields=inner, is_union=is_union))
                continue
            field_type = self.type()
            while True:
                field = Field(self.word(), field_type, annotation, self.dims())
                if self.accept(":"):
                    field.bits = int(self.take())
                found.append(field)
                if not self.accept(","):
                    break
            self.take(";")
        return found

    # Whole declarations.
    def enum(self, where):
        tag = "" if self.peek() == "{" else self.word()
        if self.peek() != "{":
            return tag
        self.take("{")
        enumerators, next_value = [], 0
        while not self.accept("}"):
            name = self.word()
            if self.accept("="):
                words, depth = [], 0
                while depth or self.peek() not in (",", "}"):
                    words.append(self.take())
                    depth += (words[-1] == "(") - (words[-1] == ")")
                next_value = self.value(words)
            enumerators.append((name, next_value))
            self.known[name] = next_value
            next_value += 1
            if not self.accept(","):
                self.take("}")
                break
        name = tag if self.peek() == ";" else self.word()
        if self.is_new("enum", name, self.api.enums):
            self.api.enums[name] = Enum(name, enumerators, where)
        else:
            self.add_enumerators(self.api.enums[name], enumerators)
        if tag and tag != name:
            self.api.typedefs[tag] = Type(name)
        return name

    def add_enumerators(self, enum, enumerators):
        known = dict(enum.enumerators)
        for name, value in enumerators:
            if known.get(name, value) != value:
                raise self.error(f"{name} is {value} here and {known[name]} in the definitions")
            if name not in known:
                enum.enumerators.append((name, value))
                self.api.supplement.append(("enumerator", (enum.name, name)))

    def struct(self, is_union, where):
        tag = "" if self.peek() == "{" else self.word()
        if self.peek() != "{":
            return tag
        fields = self.fields()
        name = tag if self.peek() == ";" else self.word()
        if self.is_new("struct", name, self.api.structs):
            self.api.structs[name] = Struct(name, fields, is_union, where)
        if tag and tag != name:
            self.api.typedefs[tag] = Type(name)
        return name

    def more_names(self, base):
        """What follows a typedef's first name: "NAME, *LPNAME;"."""
        while not self.accept(";"):
            self.accept(",")
            pointers = []
            while self.accept("*"):
                pointers.append(False)
            name = self.word()
            if name != base:
                self.api.typedefs[name] = Type(base, pointers=tuple(pointers))

    def typedef(self):
        where = self.where()
        self.attributes()
        kind = self.peek()
        if kind in ("struct", "union", "enum") and "{" in (self.peek(1), self.peek(2)):
            self.take()
            name = self.enum(where) if kind == "enum" else self.struct(kind == "union", where)
            self.more_names(name)
            return
        base = self.type()
        if self.peek() == "(":  # a pointer to a function
            name = self.balanced("(", ")")[-1]
            parameters = " ".join(self.balanced("(", ")"))
            if self.is_new("callback", name, self.api.callbacks):
                self.api.callbacks[name] = (base.spelled(), parameters)
            self.take(";")
            return
        while True:
            pointers = list(base.pointers)
            while self.accept("*"):
                pointers.append(False)
            name = self.word()
            if (name, tuple(pointers)) != (base.base, ()):
                self.api.typedefs[name] = Type(base.base, base.base_const, tuple(pointers))
            if not self.accept(","):
                break
        self.take(";")

    def parameters(self):
        self.take("(")
        found = []
        while not self.accept(")"):
            attributes, annotation = self.attributes()
            if self.peek() == "void" and self.peek(1) == ")":
                self.take()
                continue
            parameter_type = self.type()
            name = self.word()
            found.append(Parameter(name, parameter_type, annotation, attributes, self.dims()))
            if not self.accept(","):
                self.take(")")
                break
        return found

    def interface(self, attributes):
        where = self.where()
        name = self.word()
        if self.accept(";"):
            return
        self.take(":")
        base = self.word()
        self.take("{")
        methods = []
        while not self.accept("}"):
            self.attributes()
            method_where = self.where()
            result = self.type()
            method = self.word()
            methods.append(Method(method, result, self.parameters(), method_where))
            self.take(";")
        self.accept(";")
        iids = [match.group() for text in attributes if (match := UUID.search(text))]
        if len(iids) != 1:
            raise IdlError(f"{where}: interface {name} has {len(iids)} identifiers")
        if self.is_new("interface", name, self.api.interfaces):
            self.api.interfaces[name] = Interface(name, base, iids[0].lower(), methods, where)

    def constant(self):
        self.type()
        name = self.word()
        self.take("=")
        words = []
        while not self.accept(";"):
            words.append(self.take())
        self.api.constants[name] = self.known[name] = self.value(words)

    def quote(self):
        text = " ".join(self.balanced("(", ")"))
        for name in FLAG_OPERATORS.findall(text):
            if name in self.api.enums:
                self.api.enums[name].flags = True

    def skip_statement(self):
        while self.take() != ";":
            pass

    def parse(self):
        attributes = ()
        while self.at < len(self.tokens):
            if self.peek() == "[":
                attributes = ("".join(self.balanced("[", "]")),)  # of an interface
                continue
            word = self.take()
            where = self.where()
            if word == "import":
                self.skip_statement()
            elif word == "cpp_quote":
                self.quote()
            elif word == "const":
                self.constant()
            elif word == "typedef":
                self.typedef()
            elif word == "interface":
                self.interface(attributes)
            elif word in ("struct", "union"):
                self.more_names(self.struct(word == "union", where))
            elif word == "enum":
                self.more_names(self.enum(where))
            elif word != ";":
                self.at -= 1
                raise self.error(f"a declaration cannot start with {word!r}")
            attributes = ()


def parse_text(text, file, api, supplement=False):
    # Identifiers such as 9e3779b9-... are no tokens of any kind; they are quoted first.
    text = re.sub(r"uuid\s*\(\s*([0-9a-fA-F-]{36})\s*\)", r'uuid("\1")', text)
    Parser(text, file, api, supplement).parse()


def parse_files(paths, supplement=()):
    api = Api()
    for path in map(pathlib.Path, [*paths, *supplement]):
        parse_text(path.read_text(encoding="utf-8-sig", errors="replace"), path.name, api, path in supplement)
    return api


def find_without_uuid(dxguids, api):
    """Direct3D 12's interfaces of the headers, but not of the text of their dxguids.h."""
    known = set(re.findall(r"WINADAPTER_IID\((\w+)", dxguids))
    declared = {name for kind, name in api.supplement if kind == "interface"}
    api.without_uuid = [name for name in api.interfaces
                        if name.startswith("ID3D12") and name not in known | declared]
