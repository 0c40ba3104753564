#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing that gives a Vulkan GPU work goes by unnoticed: the installed registry against the generator's
tables and the intercepts written by hand.

Usage: codegen/vulkan_test.py --registry VK_XML [unittest arguments]
"""
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree as ElementTree

import vulkan

ROOT = pathlib.Path(__file__).resolve().parent.parent
REGISTRY = None


class Work(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.commands = vulkan.device_commands(ElementTree.parse(REGISTRY).getroot())
        cls.work = {c.name for c in cls.commands if vulkan.is_work(c)}
        cls.markers = vulkan.read_markers((ROOT / "include/cairn/marker_types.h").read_text())
        sources = "".join(path.read_text() for path in (ROOT / "src/app/vulkan").glob("*.cc"))
        cls.by_hand = set(re.findall(r'InterceptOf<PFN_\w+>\(\s*"(vkCmd\w+)"', sources))

    def test_every_command_with_an_action_is_intercepted_or_known_to_be_none(self):
        for command in self.commands:
            if not command.name.startswith("vkCmd") or not command.tasks & {"action", "indirection"}:
                continue
            if command.aliased in vulkan.NO_WORK:
                continue
            self.assertIn(command.name, self.work | self.by_hand)
        self.assertGreater(len(self.work), 60)

    def test_nothing_is_intercepted_twice(self):
        self.assertEqual(self.work & self.by_hand, set())

    def test_commands_that_headers_of_1_3_have_are_known_by_name(self):
        for command in self.commands:
            if vulkan.is_work(command) and command.name in ("vkCmdDraw", "vkCmdTraceRaysIndirect2KHR",
                                                            "vkCmdCopyBuffer2", "vkCmdWaitEvents2KHR"):
                self.assertNotEqual(vulkan.marker_of(command, self.markers), "OTHER_WORK")

    def test_what_follows_a_barrier_below_direct3d_is_seen(self):
        driven = {c.name for c in self.commands if vulkan.is_driven_work(c)}
        self.assertTrue(self.work < driven)
        self.assertIn("vkCmdExecuteCommands", driven)
        # Those that begin a render pass stand in driver_half_commands.cc.
        source = (ROOT / "src/app/vulkan/driver_half_commands.cc").read_text()
        by_hand = set(re.findall(r'InterceptOf<PFN_\w+>\(\s*"(vkCmd\w+)"', source))
        self.assertEqual(driven & by_hand, set())
        for name in ("vkCmdBeginRenderPass", "vkCmdBeginRenderPass2KHR", "vkCmdBeginRendering"):
            self.assertIn(name, by_hand)

    def test_barriers_and_dispatches_are_told_with_their_arguments(self):
        def note(name):
            return vulkan.note_of(next(c for c in self.commands if c.name == name)).partition(";\n")[0].strip() + ";"
        self.assertEqual(note("vkCmdPipelineBarrier2KHR"), "work.NoteBarrier(pDependencyInfo);")
        self.assertTrue(note("vkCmdPipelineBarrier").startswith("work.NoteBarrier(srcStageMask, dstStageMask, "))
        self.assertEqual(note("vkCmdDispatch"), "work.NoteDispatch(groupCountX, groupCountY, groupCountZ);")
        self.assertEqual(note("vkCmdDispatchIndirect"), "work.NoteArguments(IndirectArguments(1, offset));")
        self.assertEqual(note("vkCmdWaitEvents"), ";")

    def test_draws_dispatches_and_rays_are_noted_with_their_numbers(self):
        untold = set()
        for command in self.commands:
            if vulkan.is_work(command) and re.match("vkCmd(Draw|Dispatch|TraceRays)", command.name):
                if "  work.NoteArguments(" not in vulkan.note_of(command):
                    untold.add(command.aliased)
        # Each of their draws has numbers of its own.
        self.assertEqual({name for name in untold if "Multi" not in name and "Graph" not in name}, set())

    def test_the_buffer_of_indirect_arguments_is_noted_before_the_work(self):
        def before(name):
            return vulkan.buffers_of(next(c for c in self.commands if c.name == name)).strip()
        self.assertEqual(before("vkCmdDrawIndirect"), "NoteIndirect(commandBuffer, buffer);")
        self.assertEqual(before("vkCmdDrawIndexedIndirectCountAMD"), "NoteIndirect(commandBuffer, buffer, countBuffer);")
        self.assertEqual(before("vkCmdDraw"), "")
        self.assertEqual(before("vkCmdCopyBuffer"), "NoteWritten(commandBuffer, dstBuffer, srcBuffer);")

    def test_names_of_markers(self):
        def marker(name):
            command = next(c for c in self.commands if c.name == name)
            return vulkan.marker_of(command, self.markers), vulkan.point_of(
                vulkan.marker_of(command, self.markers))
        self.assertEqual(marker("vkCmdDrawIndexedIndirectCountKHR"), ("DRAW_INDEXED_INDIRECT_COUNT", "kGraphics"))
        self.assertEqual(marker("vkCmdDispatchBase"), ("DISPATCH_BASE", "kCompute"))
        self.assertEqual(marker("vkCmdTraceRaysIndirect2KHR"), ("TRACE_RAYS_INDIRECT", "kRayTracing"))
        self.assertEqual(marker("vkCmdPipelineBarrier2"), ("PIPELINE_BARRIER", "kNone"))
        self.assertEqual(marker("vkCmdWriteBufferMarker2AMD"), ("WRITE_BUFFER_MARKER", "kNone"))
        unknown = vulkan.Command("vkCmdFoldSpaceXYZ", "void", [], {"action"}, set(), "", "vkCmdFoldSpaceXYZ")
        self.assertEqual(vulkan.marker_of(unknown, self.markers), "OTHER_WORK")


class Noted(unittest.TestCase):
    def test_calls_are_noted_with_the_kinds_of_their_arguments(self):
        root = ElementTree.parse(REGISTRY).getroot()
        lines = vulkan.noted_calls(vulkan.device_commands(root), vulkan.type_categories(root)).splitlines()
        for line in ('CmdDispatch, "vkCmdDispatch(groupCountX:u,groupCountY:u,groupCountZ:u)"',
                     'QueueSubmit, "vkQueueSubmit(submitCount:u,pSubmits:p,fence:p)"',
                     'DeviceWaitIdle, "vkDeviceWaitIdle"',
                     'CmdSetBlendConstants, "vkCmdSetBlendConstants(blendConstants:p)"',
                     'CmdSetLineWidth, "vkCmdSetLineWidth(lineWidth:f)"',
                     'CmdDrawIndexed, "vkCmdDrawIndexed(indexCount:u,instanceCount:u,firstIndex:u,vertexOffset:i,'
                     'firstInstance:u)"'):
            self.assertIn(f"CAIRN_NOTED({line})", lines)
        names = {line.split("(")[1].split(",")[0] for line in lines if line.startswith("CAIRN_NOTED")}
        self.assertLess({"CreateComputePipelines", "AllocateMemory", "MapMemory", "GetQueryPoolResults"}, names)
        # The end of a device forgets what its functions are found by; what only answers is nothing to be stuck in.
        self.assertFalse({"DestroyDevice", "GetBufferDeviceAddress", "GetFenceStatus"} & names)


class Structures(unittest.TestCase):
    def test_what_may_be_chained_to_devices_and_stages_is_known_with_its_number(self):
        lines = vulkan.chain_structures(ElementTree.parse(REGISTRY).getroot()).splitlines()
        for kind, name in (("FEATURES_2", "Features2"), ("VULKAN_1_2_FEATURES", "Vulkan12Features"),
                           ("BUFFER_DEVICE_ADDRESS_FEATURES_EXT", "BufferDeviceAddressFeaturesEXT")):
            self.assertIn(f"CAIRN_CHAIN_STRUCTURE(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_{kind}, VkPhysicalDevice{name})", lines)
        self.assertIn("CAIRN_CHAIN_STRUCTURE(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, VkShaderModuleCreateInfo)", lines)
        self.assertFalse([line for line in lines if "MemoryAllocateInfo" in line or "PortabilitySubset" in line])


class Exact(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.commands = vulkan.device_commands(ElementTree.parse(REGISTRY).getroot())
        sources = "".join(path.read_text() for path in (ROOT / "src/app/vulkan").glob("exact*.cc"))
        cls.by_hand = set(re.findall(r'"(vkCmd\w+)"', sources))
        cls.generated = {c.name for c in cls.commands if vulkan.is_exact_work(c) or vulkan.BINDS.match(c.name)}

    def test_every_command_that_only_render_passes_take_opens_a_part(self):
        left_whole = {"vkCmdNextSubpass", "vkCmdNextSubpass2", "vkCmdNextSubpass2KHR"}  # passes of several subpasses
        seen = 0
        for command in self.commands:
            if not command.name.startswith("vkCmd") or command.renderpass != "inside" or command.name in left_whole:
                continue
            self.assertIn(command.name, self.generated | self.by_hand)
            if command.name in self.generated:
                self.assertEqual(vulkan.exact_kind_of(command), "kInPass")
                seen += 1
        self.assertGreater(seen, 10)

    def test_kinds(self):
        kinds = {c.name: vulkan.exact_kind_of(c) for c in self.commands if vulkan.is_exact_work(c)}
        self.assertEqual(kinds["vkCmdDrawIndexedIndirectCountKHR"], "kInPass")
        self.assertEqual(kinds["vkCmdClearAttachments"], "kInPass")
        self.assertEqual(kinds["vkCmdDispatch"], "kWork")
        self.assertEqual(kinds["vkCmdPipelineBarrier2"], "kSynchronisation")
        self.assertNotIn("vkCmdWriteTimestamp2", kinds)

    def test_what_is_bound_for_compute_is_kept_or_given_up(self):
        for command in self.commands:
            if re.match(r"vkCmd(Bind(Pipeline|Descriptor|Shaders)|Push|SetDescriptor)", command.name):
                self.assertIn(command.name, self.generated | self.by_hand)


class Reading(unittest.TestCase):
    XML = """<registry>
      <commands>
        <command tasks="action"><proto><type>void</type> <name>vkCmdOne</name></proto>
          <param><type>VkCommandBuffer</type> <name>commandBuffer</name></param>
          <param>const <type>float</type> <name>values</name>[4]</param>
          <param api="vulkansc"><type>int</type> <name>safety</name></param></command>
        <command api="vulkansc"><proto><type>void</type> <name>vkCmdSafe</name></proto>
          <param><type>VkCommandBuffer</type> <name>commandBuffer</name></param></command>
        <command name="vkCmdOneKHR" alias="vkCmdOne"/>
        <command><proto><type>VkResult</type> <name>vkOfInstance</name></proto>
          <param><type>VkInstance</type> <name>instance</name></param></command>
        <command><proto><type>void</type> <name>vkCmdWindows</name></proto>
          <param><type>VkCommandBuffer</type> <name>commandBuffer</name></param></command>
      </commands>
      <feature api="vulkan,vulkansc" name="VK_VERSION_1_0">
        <require><command name="vkCmdOne"/><command name="vkOfInstance"/><command name="vkCmdSafe"/></require>
      </feature>
      <extensions>
        <extension supported="vulkan" name="VK_KHR_one"><require><command name="vkCmdOneKHR"/></require></extension>
        <extension supported="vulkan" platform="win32" name="W"><require><command name="vkCmdWindows"/></require></extension>
        <extension supported="disabled" name="D"><require><command name="vkCmdWindows"/></require></extension>
      </extensions></registry>"""

    def test_commands_of_devices_that_the_core_header_has(self):
        commands = vulkan.device_commands(ElementTree.fromstring(self.XML))
        self.assertEqual([c.name for c in commands], ["vkCmdOne", "vkCmdOneKHR"])
        self.assertEqual(commands[1].aliased, "vkCmdOne")
        self.assertEqual([p.declaration for p in commands[1].parameters],
                         ["VkCommandBuffer commandBuffer", "const float values[4]"])

    def test_an_intercept(self):
        commands = vulkan.device_commands(ElementTree.fromstring(self.XML))
        text = vulkan.work_source(commands[:1], {"DRAW"})
        self.assertIn("""VKAPI_ATTR void VKAPI_CALL CmdOne(VkCommandBuffer commandBuffer, const float values[4]) {
  const WorkScope work(commandBuffer, CAIRN_MARKER_OTHER_WORK, WorkPoint::kNone);
  if (!work.left_out()) work.next().CmdOne(commandBuffer, values);
}""", text)


if __name__ == "__main__":
    position = sys.argv.index("--registry")
    REGISTRY = sys.argv[position + 1]
    del sys.argv[position:position + 2]
    unittest.main()
