// SPDX-License-Identifier: Apache-2.0
//
// indirect_arguments WRITER: three short submissions with the label "Particles", and then one where that is a dispatch of
// absurdly many groups, which reads its arguments from a buffer. It knows nothing of Cairn. WRITER:
//   shader    a dispatch before it in its command buffer writes them, through a descriptor set
//   copy      a copy before it in its command buffer
//   earlier   a copy in a submission that has ended
//   program   the program itself, in memory that it has mapped
#include <algorithm>
#include <cstdio>
#include <string>

#include "embedded/crowd.comp.spv.h"
#include "embedded/fill.comp.spv.h"
#include "truth/why/machine.h"

namespace {

using namespace cairn::truth;
using why::Machine;

constexpr uint32_t kGroups[] = {65535, 65535, 1};

GpuBuffer Written(Machine& machine, const char* name) {
  const GpuBuffer buffer = machine.gpu().CreateBuffer(256, true, name);
  std::copy(std::begin(kGroups), std::end(kGroups), static_cast<uint32_t*>(buffer.mapped));
  return buffer;
}

// Returns the buffer.
GpuBuffer RecordCopy(Machine& machine, VkCommandBuffer commands) {
  const GpuBuffer arguments = machine.gpu().CreateBuffer(256, false, "Arguments");
  const VkBufferCopy all = {0, 0, sizeof(kGroups)};
  machine.gpu().BeginLabel(commands, "Upload");
  vkCmdCopyBuffer(commands, Written(machine, "Staging").buffer, arguments.buffer, 1, &all);
  machine.gpu().EndLabel(commands);
  return arguments;
}

void RunFrame(Machine& machine, uint32_t number, VkPipeline fill) {
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  machine.gpu().BeginLabel(commands, ("Frame " + std::to_string(number)).c_str());
  machine.Dispatch(commands, "Particles", fill, {}, 1);
  machine.gpu().EndLabel(commands);
  machine.Finish(machine.gpu().graphics(), commands);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string writer = argc == 2 ? argv[1] : "";
  Machine machine("");
  machine.SetSize({1, 256, 1});
  const GpuQueue& queue = machine.gpu().graphics();
  const VkPipeline fill = machine.Compute(kFillCompSpv);
  const VkPipeline crowd = machine.Compute(kCrowdCompSpv);
  for (uint32_t number = 1; number <= 3; ++number) RunFrame(machine, number, fill);
  GpuBuffer arguments;
  VkDeviceSize offset = 0;
  if (writer == "earlier") {
    const VkCommandBuffer upload = machine.Begin(queue, "Upload");
    arguments = RecordCopy(machine, upload);
    machine.Finish(queue, upload);
  }
  const VkCommandBuffer commands = machine.Begin(queue, "Main");
  machine.gpu().BeginLabel(commands, "Frame 4");
  if (writer == "shader") {
    arguments = machine.words();
    offset = sizeof(uint32_t) * why::kResults;
    machine.Dispatch(commands, "Prepare", fill, {.value = 60000}, 1);
  } else if (writer == "copy") {
    arguments = RecordCopy(machine, commands);
  } else if (writer == "program") {
    arguments = Written(machine, "Arguments");
  } else if (writer != "earlier") {
    std::fputs("usage: indirect_arguments shader|copy|earlier|program\n", stderr);
    return 2;
  }
  Machine::Barrier(commands);
  machine.DispatchIndirect(commands, "Particles", crowd, arguments.buffer, offset);
  machine.gpu().EndLabel(commands);
  machine.Finish(queue, commands);
  return 0;
}
