#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes vulkangen/: what the Vulkan layer needs for every command of the installed headers.

Usage: codegen/vulkan.py --registry VK_XML --marker-types HEADER --out FOLDER

  device_functions.{h,cc}  struct DeviceFunctions: a pointer for every command of a device
  work.cc                  an intercept for every command that gives the GPU work
  exact.cc                 the same commands in mode exact
  noted_calls.inc          CAIRN_NOTED(name, signature) for every command of a device whose calls are noted
  chain_structures.inc     CAIRN_CHAIN_STRUCTURE(sType, type) for what may be chained to the structures of CHAINS

Read from vk.xml, the registry that the headers were made from. Which commands give work is there as well
("tasks" of a command); how a command is noted is in the tables below, for commands whose names do not say it.
"""
import argparse
import dataclasses
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

DISPATCHABLE = {"VkDevice", "VkQueue", "VkCommandBuffer"}


@dataclasses.dataclass
class Parameter:
    declaration: str  # "const VkBufferCopy* pRegions"
    name: str
    type: str


@dataclasses.dataclass
class Command:
    name: str
    result: str
    parameters: list
    tasks: set
    queues: set
    renderpass: str
    aliased: str  # the command that this is another name of, or itself


def of_vulkan(element, attribute):
    """Vulkan and Vulkan SC share the registry."""
    value = element.get(attribute)
    return value is None or bool({"vulkan", "vulkanbase"} & set(value.split(",")))


def read_parameter(element):
    text = "".join(part for node in element.iter() if node.tag != "comment"
                   for part in (node.text, node.tail if node is not element else None) if part)
    return Parameter(" ".join(text.split()), element.findtext("name"), element.findtext("type"))


def read_commands(root):
    """Every command of the registry by its name, aliases with the parameters of what they stand for."""
    found, aliases = {}, {}
    for element in root.find("commands"):
        if element.tag != "command" or not of_vulkan(element, "api"):
            continue
        if element.get("alias"):
            aliases[element.get("name")] = element.get("alias")
            continue
        name = element.findtext("proto/name")
        parameters = [read_parameter(p) for p in element.findall("param") if of_vulkan(p, "api")]
        words = lambda key: set(filter(None, element.get(key, "").split(",")))
        found[name] = Command(name, element.findtext("proto/type"), parameters, words("tasks"), words("queues"),
                              element.get("renderpass", ""), name)
    for name, target in aliases.items():
        while target in aliases:
            target = aliases[target]
        if target in found:
            found[name] = dataclasses.replace(found[target], name=name)
    return found


def required_names(root, tag="command"):
    """Names of the commands, or types, that <vulkan/vulkan_core.h> declares: without those of window systems and of
    extensions that are not final."""
    features = [f for f in root.findall("feature") if of_vulkan(f, "api")]
    extensions = [e for e in root.findall("extensions/extension")
                  if of_vulkan(e, "supported") and e.get("supported") and e.get("platform") is None]
    names = {}
    for source in features + extensions:
        for require in source.findall("require"):
            if not of_vulkan(require, "api"):
                continue
            for named in require.findall(tag):
                names[named.get("name")] = True
    return list(names)


def device_commands(root):
    commands = read_commands(root)
    return [commands[name] for name in required_names(root)
            if name in commands and commands[name].parameters[0].type in DISPATCHABLE]


# ---- Which commands are work, and how they are noted ------------------------------------------------

# Of src/app/vulkan: there is more to them.
BY_HAND = {
    "vkCmdBeginRenderPass", "vkCmdBeginRenderPass2", "vkCmdNextSubpass", "vkCmdNextSubpass2",
    "vkCmdEndRenderPass", "vkCmdEndRenderPass2", "vkCmdBeginRendering", "vkCmdEndRendering", "vkCmdEndRendering2EXT", "vkCmdEndRendering2KHR",
    "vkCmdBeginVideoCodingKHR", "vkCmdEndVideoCodingKHR", "vkCmdExecuteCommands",
    "vkCmdBeginQuery", "vkCmdEndQuery", "vkCmdBeginQueryIndexedEXT", "vkCmdEndQueryIndexedEXT",
    "vkCmdBeginDebugUtilsLabelEXT", "vkCmdEndDebugUtilsLabelEXT", "vkCmdInsertDebugUtilsLabelEXT",
    "vkCmdDebugMarkerBeginEXT", "vkCmdDebugMarkerEndEXT", "vkCmdDebugMarkerInsertEXT",
}
# "action" in the registry, but nothing that the GPU could hang in.
NO_WORK = {
    "vkCmdSetCheckpointNV": "of tools like this one",
    "vkCmdSetPerformanceMarkerINTEL": "a label",
    "vkCmdSetPerformanceStreamMarkerINTEL": "a label",
}
# Markers whose names do not follow from the command's.
MARKERS = {
    "BUILD_ACCELERATION_STRUCTURE": "BUILD_ACCELERATION_STRUCTURES",
    "OPTICAL_FLOW_EXECUTE": "OPTICAL_FLOW_EXECUTE",
    "TRACE_RAYS_INDIRECT2": "TRACE_RAYS_INDIRECT",
    "DECOMPRESS_MEMORY_INDIRECT_COUNT": "DECOMPRESS_MEMORY",
}
POINTS = {"DRAW": "kGraphics", "DISPATCH": "kCompute", "TRACE": "kRayTracing", "SUBPASS": "kNone",
          "EXECUTE_GENERATED": "kGraphics"}
VENDORS = re.compile(r"(KHR|EXT|NV|NVX|AMD|AMDX|HUAWEI|INTEL|QCOM|ARM|VALVE|SEC|IMG|GOOGLE|FUCHSIA|MESA)$")


def is_work(command):
    """Synchronisation is: the GPU may wait in it for ever, or fault while it changes an image's layout."""
    if not command.name.startswith("vkCmd") or command.aliased in BY_HAND or command.aliased in NO_WORK:
        return False
    return bool(command.tasks & {"action", "indirection", "synchronization"})


def marker_of(command, markers):
    """The type of include/cairn/marker_types.h: the command's name without what versions added to it."""
    name = VENDORS.sub("", command.aliased[len("vkCmd"):])
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()
    for candidate in (words, MARKERS.get(words), words.removesuffix("2")):
        if candidate in markers:
            return candidate
    return "OTHER_WORK"


def point_of(marker):
    return next((point for start, point in POINTS.items() if marker.startswith(start)), "kNone")


# What the scope around a command is told of it besides, in terms of WorkScope (src/app/vulkan/work.h).
NOTES = {
    "vkCmdPipelineBarrier": "NoteBarrier({arguments})",
    "vkCmdPipelineBarrier2": "NoteBarrier({arguments})",
    "vkCmdDispatch": "NoteDispatch({arguments})",
    "vkCmdBeginConditionalRenderingEXT": "SetConditional(true)",
}


# With what it was recorded (src/format/block/work_arguments.h), by the parameters behind the command buffer.
GROUPS = "GroupArguments({0}, {1}, {2})"
INDIRECT = "IndirectArguments({2}, {1}, {3})"
INDIRECT_COUNT = "IndirectArguments({4}, {1}, {5}, {3})"
INDIRECT_ONE = "IndirectArguments(1, {1})"
ADDRESS = "IndirectAddressArguments(1, {0})"
ARGUMENTS = {
    "vkCmdDraw": "DrawArguments({0}, {1}, {2}, {3})",
    "vkCmdDrawIndexed": "IndexedDrawArguments({0}, {1}, {2}, {3}, {4})",
    "vkCmdDispatch": GROUPS,
    "vkCmdDispatchBase": "GroupArguments({3}, {4}, {5}, {0}, {1}, {2})",
    "vkCmdDrawMeshTasksEXT": GROUPS,
    "vkCmdDrawMeshTasksNV": "GroupArguments({0}, 1, 1, {1})",
    "vkCmdDrawClusterHUAWEI": GROUPS,
    "vkCmdTraceRaysKHR": "GroupArguments({4}, {5}, {6})",
    "vkCmdTraceRaysNV": "GroupArguments({11}, {12}, {13})",
    "vkCmdDrawIndirect": INDIRECT,
    "vkCmdDrawIndexedIndirect": INDIRECT,
    "vkCmdDrawMeshTasksIndirectEXT": INDIRECT,
    "vkCmdDrawMeshTasksIndirectNV": INDIRECT,
    "vkCmdDrawIndirectCount": INDIRECT_COUNT,
    "vkCmdDrawIndexedIndirectCount": INDIRECT_COUNT,
    "vkCmdDrawMeshTasksIndirectCountEXT": INDIRECT_COUNT,
    "vkCmdDrawMeshTasksIndirectCountNV": INDIRECT_COUNT,
    "vkCmdDispatchIndirect": INDIRECT_ONE,
    "vkCmdDrawClusterIndirectHUAWEI": INDIRECT_ONE,
    "vkCmdDrawIndirectByteCountEXT": "IndirectArguments(1, {3})",
    "vkCmdTraceRaysIndirectKHR": "IndirectAddressArguments(1, {4})",
    "vkCmdTraceRaysIndirect2KHR": ADDRESS,
    "vkCmdCopyBuffer": "BufferCopyArguments({2}, {3})",
    "vkCmdCopyBuffer2": "BufferCopyArguments({0})",
    "vkCmdUpdateBuffer": "ByteArguments(1, {2})",
    "vkCmdFillBuffer": "ByteArguments(1, {2})",
    "vkCmdCopyImage": "ImageCopyArguments({4}, {5})",
    "vkCmdBlitImage": "ImageCopyArguments({4}, {5})",
    "vkCmdResolveImage": "ImageCopyArguments({4}, {5})",
    "vkCmdCopyBufferToImage": "ImageCopyArguments({3}, {4})",
    "vkCmdCopyImageToBuffer": "ImageCopyArguments({3}, {4})",
    "vkCmdCopyImage2": "ImageCopyArguments({0})",
    "vkCmdBlitImage2": "ImageCopyArguments({0})",
    "vkCmdResolveImage2": "ImageCopyArguments({0})",
    "vkCmdCopyBufferToImage2": "ImageCopyArguments({0})",
    "vkCmdCopyImageToBuffer2": "ImageCopyArguments({0})",
}


def note_of(command):
    names = [p.name for p in command.parameters[1:]]
    notes = [NOTES.get(command.aliased, "").format(arguments=", ".join(names))]
    if command.aliased in ARGUMENTS:
        notes.append(f"NoteArguments({ARGUMENTS[command.aliased].format(*names)})")
    text = "".join(f"  work.{note};\n" for note in notes if note)
    if ARGUMENTS.get(command.aliased, "").startswith("IndirectArguments") and names[:2] == ["buffer", "offset"]:
        text += "  NoteHostAddress(work.state(), buffer, offset);\n"
    return text


# Which buffers the GPU writes, and from which ones, by the same parameters.
WRITES = {
    "vkCmdUpdateBuffer": "{0}",
    "vkCmdFillBuffer": "{0}",
    "vkCmdCopyBuffer": "{1}, {0}",
    "vkCmdCopyBuffer2": "{0}->dstBuffer, {0}->srcBuffer",
}


def buffers_of(command):
    """What stands in front of a command that reads its arguments from a buffer, or writes one."""
    first, *names = [p.name for p in command.parameters]
    if command.aliased in WRITES:
        return f"  NoteWritten({first}, {WRITES[command.aliased].format(*names)});\n"
    if not ARGUMENTS.get(command.aliased, "").startswith("IndirectArguments"):
        return ""
    buffers = [p.name for p in command.parameters if p.type == "VkBuffer"]
    return f"  NoteIndirect({', '.join([first, *buffers])});\n"


def read_markers(header):
    return set(re.findall(r"^  X\((\w+), \d+\)", header, re.MULTILINE))


def work_source(commands, markers):
    bodies, entries = [], []
    for command in commands:
        marker = marker_of(command, markers)
        parameters = ", ".join(p.declaration for p in command.parameters)
        arguments = ", ".join(p.name for p in command.parameters)
        name = command.name[2:]
        note = note_of(command)
        bodies.append(f"""VKAPI_ATTR void VKAPI_CALL {name}({parameters}) {{
{buffers_of(command)}  {"" if note else "const "}WorkScope work({command.parameters[0].name}, CAIRN_MARKER_{marker}, WorkPoint::{point_of(marker)});
{note}  if (!work.left_out()) work.next().{name}({arguments});
}}
""")
        assert command.result == "void", command.name
        entries.append(f'      InterceptOf<PFN_{command.name}>("{command.name}", {name}),')
    return f"""{BANNER}#include "app/vulkan/work.h"

#include <array>

#include "app/vulkan/command_arguments.h"
#include "app/vulkan/intercept.h"

namespace cairn {{
namespace {{

{chr(10).join(bodies)}
}}  // namespace

std::span<const Intercept> WorkIntercepts() {{
  static const std::array intercepts = {{
{chr(10).join(entries)}
  }};
  return intercepts;
}}

}}  // namespace cairn
"""


def is_driven_work(command):
    """Where an implementation of Direct3D records: what follows a barrier."""
    return is_work(command) or command.aliased == "vkCmdExecuteCommands"


def driven_work_source(commands):
    bodies, entries = [], []
    for command in commands:
        parameters = ", ".join(p.declaration for p in command.parameters)
        arguments = ", ".join(p.name for p in command.parameters)
        name, first = command.name[2:], command.parameters[0].name
        note = f"NoteDrivenWork({first})"
        if command.aliased in ("vkCmdPipelineBarrier", "vkCmdPipelineBarrier2"):
            kind = f'KindOfBarrier({", ".join(p.name for p in command.parameters[1:])})'
            note = f"NoteDrivenBarrier({first}, {kind})"
        bodies.append(f"""VKAPI_ATTR void VKAPI_CALL {name}({parameters}) {{
  {note}.{name}({arguments});
}}
""")
        entries.append(f'      InterceptOf<PFN_{command.name}>("{command.name}", {name}),')
    return f"""{BANNER}#include <array>

#include "app/breadcrumbs/vulkan_witnesses.h"
#include "app/vulkan/driver_half.h"

namespace cairn {{
namespace {{

{chr(10).join(bodies)}
}}  // namespace

std::span<const Intercept> DrivenWorkIntercepts() {{
  static const std::array intercepts = {{
{chr(10).join(entries)}
  }};
  return intercepts;
}}

}}  // namespace cairn
"""


# ---- Calls that are noted ---------------------------------------------------------------------------

# What only answers cannot be what a program is stuck in; the end of a device has to forget its functions first.
ONLY_ANSWERS = re.compile(r"vkGet(?!QueryPoolResults)")
# ArgumentKind of src/format/block/block.h; other types by their category.
ARGUMENT_KINDS = {"float": "f", "double": "s", "int": "i", "int32_t": "i", "int64_t": "i", "VkDeviceAddress": "a"}
CATEGORY_KINDS = {"handle": "p", "funcpointer": "p", "struct": "s", "union": "s"}
KEPT_ARGUMENTS = 5


def is_noted(command):
    return not ONLY_ANSWERS.match(command.name) and command.aliased != "vkDestroyDevice"


def type_categories(root):
    found = {}
    for element in root.findall("types/type"):
        name = element.get("name") or element.findtext("name")
        if name and element.get("category"):
            found[name] = element.get("category")
    return found


def argument_kind(parameter, categories):
    if "*" in parameter.declaration or "[" in parameter.declaration:
        return "p"
    return ARGUMENT_KINDS.get(parameter.type) or CATEGORY_KINDS.get(categories.get(parameter.type), "u")


def noted_calls(commands, categories):
    lines = []
    for command in filter(is_noted, commands):
        kept = command.parameters[1:1 + KEPT_ARGUMENTS]
        arguments = ",".join(f"{p.name}:{argument_kind(p, categories)}" for p in kept)
        signature = command.name + (f"({arguments})" if arguments else "")
        lines.append(f'CAIRN_NOTED({command.name[2:]}, "{signature}")\n')
    return BANNER + "".join(lines)


# Structures whose chains the layer changes: it copies them.
CHAINS = {"VkDeviceCreateInfo", "VkPipelineShaderStageCreateInfo"}


def chain_structures(root):
    """Structures that may stand in CHAINS."""
    lines = []
    declared = set(required_names(root, "type"))
    for element in root.find("types"):
        extends = CHAINS.intersection(element.get("structextends", "").split(","))
        if element.get("category") != "struct" or element.get("name") not in declared or not extends:
            continue
        kind = next(m for m in element.findall("member") if m.findtext("name") == "sType").get("values")
        lines.append(f"CAIRN_CHAIN_STRUCTURE({kind}, {element.get('name')})\n")
    return BANNER + "".join(lines)


BANNER = """// SPDX-License-Identifier: Apache-2.0
// Made by codegen/vulkan.py from vk.xml. Do not edit.
"""


# ---- The same in mode exact ------------------------------------------------------------------------

# Of src/app/vulkan/exact_*.cc, beside BY_HAND.
EXACT_BY_HAND = {"vkCmdBeginConditionalRenderingEXT", "vkCmdEndConditionalRenderingEXT"}
# They write a number of the program's own: nothing that it would wait for.
NOT_SERIALISED = re.compile(r"vkCmdWrite(Timestamp|BufferMarker)")


# They bind what cannot be bound again behind the canary, if it is for compute.
BINDS = re.compile(r"vkCmd(PushDescriptorSet(?!KHR)|PushConstants2|SetDescriptorBufferOffsets|BindDescriptorBuffer|BindDescriptorSets2"
                   r"|BindPipelineShaderGroup|BindShaders)")


def exact_binding(command):
    """Notes that such a command was called, unless it names another bind point."""
    point = next((p.name for p in command.parameters if p.type == "VkPipelineBindPoint"), None)
    parameters = ", ".join(p.declaration for p in command.parameters)
    arguments = ", ".join(p.name for p in command.parameters)
    condition = f"if ({point} == VK_PIPELINE_BIND_POINT_COMPUTE) " if point else ""
    return f"""VKAPI_ATTR void VKAPI_CALL {command.name[2:]}({parameters}) {{
  ExactCommands& commands = *ExactCommandsOf({command.parameters[0].name});
  {condition}commands.compute().GiveUp();
  commands.next().{command.name[2:]}({arguments});
}}
"""


def is_exact_work(command):
    return (is_work(command) and command.aliased not in EXACT_BY_HAND
            and not NOT_SERIALISED.match(command.name))


def exact_kind_of(command):
    """ExactKind of src/app/vulkan/exact_work.h."""
    if command.renderpass == "inside":
        return "kInPass"
    return "kWork" if "action" in command.tasks else "kSynchronisation"


def exact_source(commands):
    bodies, entries = [], []
    for command in filter(is_exact_work, commands):
        parameters = ", ".join(p.declaration for p in command.parameters)
        arguments = ", ".join(p.name for p in command.parameters)
        name = command.name[2:]
        bodies.append(f"""VKAPI_ATTR void VKAPI_CALL {name}({parameters}) {{
  const ExactWork work({command.parameters[0].name}, ExactKind::{exact_kind_of(command)});
  work.next().{name}({arguments});
}}
""")
        entries.append(f'      Replace<&DeviceFunctions::{name}>("{command.name}", {name}),')
    for command in commands:
        if BINDS.match(command.name):
            name = command.name[2:]
            bodies.append(exact_binding(command))
            entries.append(f'      Replace<&DeviceFunctions::{name}>("{command.name}", {name}),')
    return f"""{BANNER}#include "app/vulkan/exact_work.h"

#include <array>

namespace cairn {{
namespace {{

{chr(10).join(bodies)}
}}  // namespace

std::span<const ExactFunction> ExactWorkFunctions() {{
  static const std::array functions = {{
{chr(10).join(entries)}
  }};
  return functions;
}}

}}  // namespace cairn
"""


BANNER = """// SPDX-License-Identifier: Apache-2.0
// Made by codegen/vulkan.py from vk.xml. Do not edit.
"""


def device_functions_header(commands):
    members = "\n".join(f"  PFN_{c.name} {c.name[2:]} = nullptr;" for c in commands)
    return f"""{BANNER}#pragma once

#include <vulkan/vulkan_core.h>

namespace cairn {{

struct DeviceFunctions {{
{members}
}};

// What `get` does not know stays null.
void LoadDeviceFunctions(VkDevice device, PFN_vkGetDeviceProcAddr get, DeviceFunctions* functions);

}}  // namespace cairn
"""


def device_functions_source(commands):
    lines = "\n".join(
        f'  functions->{c.name[2:]} = reinterpret_cast<PFN_{c.name}>(get(device, "{c.name}"));'
        for c in commands)
    return f"""{BANNER}#include "vulkangen/device_functions.h"

namespace cairn {{

void LoadDeviceFunctions(VkDevice device, PFN_vkGetDeviceProcAddr get, DeviceFunctions* functions) {{
{lines}
}}

}}  // namespace cairn
"""


def write_if_changed(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--registry", type=pathlib.Path, required=True)
    parser.add_argument("--marker-types", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    root = ElementTree.parse(arguments.registry).getroot()
    commands = device_commands(root)
    folder = arguments.out / "vulkangen"
    folder.mkdir(parents=True, exist_ok=True)
    write_if_changed(folder / "device_functions.h", device_functions_header(commands))
    write_if_changed(folder / "device_functions.cc", device_functions_source(commands))
    work = [command for command in commands if is_work(command)]
    driven = [command for command in commands if is_driven_work(command)]
    write_if_changed(folder / "driven_work.cc", driven_work_source(driven))
    write_if_changed(folder / "work.cc", work_source(work, read_markers(arguments.marker_types.read_text())))
    write_if_changed(folder / "exact.cc", exact_source(commands))
    write_if_changed(folder / "chain_structures.inc", chain_structures(root))
    write_if_changed(folder / "noted_calls.inc", noted_calls(commands, type_categories(root)))


if __name__ == "__main__":
    sys.exit(main())
