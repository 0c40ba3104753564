// SPDX-License-Identifier: Apache-2.0
//
// The smallest program with breadcrumbs: one triangle, drawn offscreen and written as a PNG.
#include <fmt/format.h>

#include "embedded/triangle.frag.spv.h"
#include "embedded/triangle.vert.spv.h"
#include "vulkan_work.h"

namespace {

constexpr uint32_t kSize = 256;

void Run(const sample::Options& options, const std::string& path) {
  sample::Device device("sample-triangle-vulkan", options);
  sample::Picture picture(device, kSize, kSize);
  const sample::Pipeline pipeline = sample::CreateGraphicsPipeline(
      device, "Triangle", {kTriangleVertSpv, sizeof(kTriangleVertSpv), "TriangleVS"},
      {kTriangleFragSpv, sizeof(kTriangleFragSpv), "TrianglePS"}, kSize, kSize);

  const sample::List list = device.BeginList(device.graphics(), "Main");
  {
    sample::Scope frame(list, CAIRN_MARKER_PASS, "Frame");
    {
      sample::Scope pass(list, CAIRN_MARKER_PASS, "Triangle");
      picture.Begin(list);
      vkCmdBindPipeline(list.commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline.pipeline);
      list.telling->UsePipeline(list.recording, pipeline.told);
      {
        sample::Scope draw(list, CAIRN_MARKER_DRAW, nullptr);
        vkCmdDraw(list.commands, 3, 1, 0, 0);
      }
      picture.End(list);
    }
    picture.CopyToCpu(list);
  }
  device.EndList(list);
  device.WaitOrReportLoss(device.Submit(device.graphics(), {list}), 20);

  if (picture.Pixel(0, 0) != 0xff000000 || picture.Pixel(kSize / 2, kSize / 2) == 0xff000000) {
    sample::Fail("the picture does not show the triangle");
  }
  if (const std::string error = picture.WritePng(path); !error.empty()) sample::Fail(error);
  fmt::print("sample-triangle-vulkan: drew one triangle into {}\n", path);
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line(
      "Draws one triangle offscreen, with breadcrumbs, and writes it as a PNG.");
  sample::Options options;
  sample::AddOptions(line, &options);
  std::string path = "triangle.png";
  line.Text("FILE", &path, "the PNG to write");
  line.Read(argc, argv);
  Run(options, path);
  return 0;
}
