# SPDX-License-Identifier: Apache-2.0
"""Reads the meaning of calls, roles.toml, and checks it against the definitions. emit_roles.py writes C++ of
it. docs/internals/codegen.md shows how a role is chosen."""
import dataclasses

# The vocabulary: word of roles.toml -> comment. The enumerators of C++ are made of it, in this order.
ROLES = {
    # Calls that leave nothing a GPU or a replay depends on.
    "question": "returns something, and changes nothing",
    "hint": "is for debug layers, caches of drivers, clocks, presentation or other tools: no work depends on it",
    "present": "gives an image to a screen",
    # Objects.
    "create": "gives out an object: a new one, or one that exists ([creates], [returns], [manual])",
    "property": "sets a property of its object, which keeps the last one: a name, a priority",
    "private_data": "keeps bytes of the program with an object; they may be its name",
    "identifier": "returns what memory and other calls name its object by",
    "residency": "moves objects in or out of the memory of the GPU, whose contents stay",
    "interop": "lets the program or another API work with what lies behind an object",
    # Descriptors.
    "view": "writes the descriptor in `writes`",
    "copy_views": "copies descriptors, from one range to one range",
    "copy_view_ranges": "copies descriptors, from many ranges to many ranges",
    # Memory, by the CPU.
    "map": "gives the CPU the memory of its resource",
    "unmap": "takes it away again",
    "write_memory": "writes into its resource",
    "read_memory": "reads what the GPU wrote",
    # Order.
    "signal": "gives the fence `object`, or its own, the value `value`",
    "wait": "waits until the fence `object`, or its own, has the value `value`",
    "submit": "executes the lists in `value`",
    "tiles": "changes which memory the tiles of a resource have",
    "allocator_reset": "takes back the memory of the lists that were recorded in it",
    "lose_device": "removes the device",
    # Command lists. All from here on are recorded into a list, except labels of a queue.
    "list_reset": "begins a recording in the allocator `object`, with the pipeline `value`",
    "list_close": "ends the recording",
    "clear_state": "sets all state to its default, and the pipeline to `value`",
    "state": "sets what later commands use (StateKind), and does nothing itself",
    "work": "makes the GPU work",
    "bundle": "makes the GPU do what the list `object` has",
    "barrier": "orders work, and changes states of resources",
    "begin_pass": "begins a render pass: sets the targets in `writes`, and may clear them",
    "end_pass": "ends the pass, which may resolve its targets",
    "begin_query": "begins the query `slot` of the heap `object`",
    "end_query": "ends the query `slot` of the heap `object`, or takes a time",
    "begin_event": "begins a scope with a name",
    "end_event": "ends the scope",
    "marker": "is a name alone",
}
LIST_ROLES = ("list_reset", "list_close", "clear_state", "state", "work", "bundle", "barrier", "begin_pass", "end_pass",
              "begin_query", "end_query")
LABELS = ("begin_event", "end_event", "marker")  # of lists and of queues
QUEUE_ROLES = ("submit", "tiles")

STATES = {
    "pipeline": "a pipeline, a state object or a program: a list has one of them",
    "root_signature": "", "root_argument": "RootArgumentKind says which kind", "descriptor_heaps": "",
    "primitive_topology": "", "index_buffer": "", "strip_cut_value": "", "vertex_buffers": "from `slot` on",
    "stream_output": "from `slot` on", "viewports": "", "scissor_rects": "", "shading_rate": "",
    "shading_rate_image": "", "depth_bias": "", "render_targets": "with the depth stencil", "blend_factor": "",
    "stencil_reference": "", "depth_bounds": "", "sample_positions": "", "view_instance_mask": "", "predication": "",
    "protected_session": "",
}
ROOTS = {"table": "", "constants": "", "constant_buffer": "", "shader_resource": "", "unordered_access": ""}
POINTS = {"graphics": "", "compute": "", "either": "what else is bound decides"}
VIEWS = {"constant_buffer": "", "shader_resource": "", "unordered_access": "", "render_target": "",
         "depth_stencil": "", "sampler": ""}
MEMORIES = {"committed": "of its own", "placed": "in the heap `object`", "reserved": "by tiles"}
REPLAYS = {
    "make": "made again",
    "skip": "not made, and nobody is told: nothing depends on it",
    "cannot": "not made, counted and told: Unrepeatable says why",
    "submit": "made with the lists that are left, after addresses in buffers were replaced",
    "map": "made, and remembered",
    "unmap": "made if it is mapped",
    "await_value": "waits until the fence has what the program saw",
    "await_event": "remembered: the wait takes place when the fence can get there",
    "await_events": "the same of several fences",
    "compare": "asked, and what differs is told when a call is refused",
    "check_loss": "looks if the device is lost here",
    "empty": "made without the bytes, which are those of another driver",
    "build": "made from its description: the library is empty",
    "import": "not made: what it opens belongs to another process",
    "lose_device": "made once the GPU is done: the loss is the program's own",
}
WHYS = {
    "vulkan_resource": "the Vulkan resource behind it is not in the trace",
    "vulkan_queue_family": "there are no queues for a family of Vulkan queues",
    "vulkan_queue": "the trace does not have what the program submits there itself",
    "vulkan_command_buffer": "the trace does not have what the program records there itself",
    "cuda": "there are no CUDA kernels",
}
# The replay of roles whose methods do not say it; others are made again.
REPLAY_OF_ROLE = {"question": "skip", "hint": "skip", "present": "skip", "private_data": "skip", "interop": "skip",
                  "read_memory": "skip", "submit": "submit", "map": "map", "unmap": "unmap",
                  "lose_device": "lose_device"}

# Further words: which values they may have, and of which roles.
WORDS = {
    "state": (STATES, ("state",)),
    "root": (ROOTS, ("state",)),
    "point": (POINTS, ("state", "work")),
    "view": (VIEWS, ("view", "work")),
    "memory": (MEMORIES, ("create",)),
    "replay": (REPLAYS, tuple(ROLES)),
    "why": (WHYS, tuple(ROLES)),
}
FLAGS = ("follows", "signals", "polled")
PARAMETERS = ("object", "value", "slot", "count", "offset")
# Parameters that C++ looks up without asking if there are any: of roles, and of kinds of state.
NEEDED = {"signal": ("value",), "wait": ("value",), "submit": ("value",), "state": ("value",), "bundle": ("object",),
          "begin_query": ("object", "slot"), "end_query": ("object", "slot")}
NEEDED_OF_STATE = {"root_argument": ("slot",), "vertex_buffers": ("slot", "count"), "stream_output": ("slot", "count")}
SETS = ("reads", "writes")
MOST_PARAMETERS = 16  # of a method: bits of `reads` and `writes`
NUMBERS = ("unsigned", "signed", "enum")
# Kinds of parameters through which a command can read or write.
PLACES = ("object", "struct", "bytes", "gpu_address", "cpu_descriptor", "gpu_descriptor")


class RoleError(Exception):
    """A role does not fit the definitions."""


@dataclasses.dataclass
class MethodRole:
    """words: those of roles.toml. Parameters are indices; -1: none. reads, writes: bits of indices."""
    role: str
    words: dict
    timeline: str = "cpu"
    parameters: dict = dataclasses.field(default_factory=dict)
    created: int = -1
    reads: int = 0
    writes: int = 0

    @property
    def replay(self):
        return self.words.get("replay") or REPLAY_OF_ROLE.get(self.role, "make")

    def flag(self, name):
        return self.words.get(name, False) or name == "signals" and self.role == "signal"


def as_words(key, value):
    words = {"role": value} if isinstance(value, str) else dict(value)
    unknown = set(words) - {"role", *WORDS, *FLAGS, *PARAMETERS, *SETS}
    if unknown:
        raise RoleError(f"{key}: there is no word {sorted(unknown)[0]}")
    if words.get("role") not in ROLES:
        raise RoleError(f"{key}: there is no role {words.get('role')}")
    return words


def expand(api, table):
    """{"Interface::Method": words} of the interfaces that are there. A method that has a role of its own and one
    of its interface is an error."""
    found = {}
    for key, value in table.items():
        interface, _, name = key.partition("::")
        words = as_words(key, value)
        if interface not in api.interfaces:
            continue
        methods = [m.name for m in api.interfaces[interface].methods] if name == "*" else [name]
        for method in methods:
            if f"{interface}::{method}" in found:
                raise RoleError(f"{key}: {interface}::{method} has a role already")
            found[f"{interface}::{method}"] = words
    return found


def missing_of(api, roles, interface):
    return [m.name for m in api.interfaces[interface].methods if f"{interface}::{m.name}" not in roles]


def check_words(key, words):
    role = words["role"]
    for word, (values, of_roles) in WORDS.items():
        if word not in words:
            continue
        if words[word] not in values:
            raise RoleError(f"{key}: there is no {word} {words[word]}")
        if role not in of_roles:
            raise RoleError(f"{key}: a call with the role {role} has no {word}")
    for word in ("state", "view"):
        if role == word and word not in words:
            raise RoleError(f"{key}: its {word} is not said")
    if words.get("state") in ("root_signature", "root_argument") and words.get("point") not in ("graphics", "compute"):
        raise RoleError(f"{key}: point has to be graphics or compute")
    if ("root" in words) != (words.get("state") == "root_argument"):
        raise RoleError(f"{key}: root belongs to root_argument, which needs it")
    if ("why" in words) != (words.get("replay") == "cannot"):
        raise RoleError(f'{key}: why belongs to replay = "cannot", which needs it')
    if words.get("replay") == REPLAY_OF_ROLE.get(role, "make"):
        raise RoleError(f"{key}: replay = \"{words['replay']}\" is what its role says")


class Reader:
    """Roles of the methods of a model."""

    def __init__(self, model, roles):
        self.model = model
        self.roles = roles

    def owner(self, interface):
        """The first interface of the chain whose objects have this one, or a shared base."""
        chain = self.model.chain_of.get(interface)
        if chain is None:
            return interface
        return chain.owner or chain.name

    def is_of(self, interface, base):
        return base in self.model.full_line(self.owner(interface))

    def timeline(self, key, interface, role):
        of_list = self.is_of(interface, "ID3D12CommandList")
        of_queue = self.is_of(interface, "ID3D12CommandQueue")
        if role in LIST_ROLES and not of_list:
            raise RoleError(f"{key}: {role} is a role of command lists")
        if role in QUEUE_ROLES and not of_queue:
            raise RoleError(f"{key}: {role} is a role of queues")
        if role in LABELS and not of_list and not of_queue:
            raise RoleError(f"{key}: {role} is a role of command lists and queues")
        if role in LIST_ROLES or role in LABELS and of_list:
            return "list"
        return "queue" if of_queue and role in (*QUEUE_ROLES, *LABELS, "signal", "wait") else "cpu"

    def index(self, key, interface, method, word, name, kinds):
        for index, parameter in enumerate(method.parameters):
            if parameter.name != name:
                continue
            kind = self.model.parameter_kind(interface, method, parameter)
            if kinds and kind.kind not in kinds:
                raise RoleError(f"{key}: {word}: {name} is of kind {kind.kind}")
            return index
        raise RoleError(f"{key} has no parameter {name}")

    def check_other_tables(self, key, role):
        """[work], [creates] and [returns] have to agree."""
        overrides = self.model.overrides
        is_work = role in ("work", "barrier")
        if (key in overrides["work"]) != is_work:
            raise RoleError(f"{key}: its role is {role}, and it is {'not ' if is_work else ''}in [work]")
        gives = key in overrides["creates"] or key in overrides["returns"]
        if gives and role != "create":
            raise RoleError(f"{key}: its role is {role}, and it gives out an object")
        if role == "create" and not gives and key not in overrides["manual"]:
            raise RoleError(f"{key}: its role is create, and it is in neither [creates], [returns] nor [manual]")

    def read(self, interface, method):
        key = f"{interface}::{method.name}"
        words = self.roles[key]
        role = words["role"]
        check_words(key, words)
        self.check_other_tables(key, role)
        if len(method.parameters) > MOST_PARAMETERS:
            raise RoleError(f"{key} has more than {MOST_PARAMETERS} parameters")
        result = MethodRole(role, words, self.timeline(key, interface, role), dict.fromkeys(PARAMETERS, -1))
        given = self.model.given_object(interface, method) if role == "create" else None
        if given:
            result.created = method.parameters.index(given[1])
        kinds = {"object": ("object",), "value": (), "slot": NUMBERS, "count": NUMBERS, "offset": NUMBERS}
        for word in PARAMETERS:
            name = words.get(word)
            if name is not None:
                result.parameters[word] = self.index(key, interface, method, word, name, kinds[word])
        for word in SETS:
            for name in words.get(word, ()):
                bit = 1 << self.index(key, interface, method, word, name, PLACES)
                setattr(result, word, getattr(result, word) | bit)
        needed = NEEDED.get(role, ()) + NEEDED_OF_STATE.get(words.get("state"), ())
        for word in (*needed, *(("value",) if result.flag("signals") else ())):
            if result.parameters[word] < 0:
                raise RoleError(f"{key}: its {word} is not said")
        return result
