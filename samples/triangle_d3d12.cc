// SPDX-License-Identifier: Apache-2.0
//
// The smallest program with breadcrumbs: one triangle, drawn offscreen and written as a PNG.
#include <fmt/format.h>

#include "d3d12_device.h"
#include "embedded/triangle.ps.dxbc.h"
#include "embedded/triangle.vs.dxbc.h"

namespace {

constexpr uint32_t kSize = 256;

void Run(const sample::Options& options, const std::string& path) {
  sample::Gpu gpu("sample-triangle-d3d12", options);
  sample::Queue queue(gpu, CAIRN_QUEUE_DIRECT, "Graphics");
  sample::Picture picture(gpu, kSize, kSize);
  const sample::Pipeline pipeline = sample::CreateGraphicsPipeline(
      gpu, "Triangle", {"TriangleVS", kTriangleVsDxbc, sizeof(kTriangleVsDxbc)},
      {"TrianglePS", kTrianglePsDxbc, sizeof(kTrianglePsDxbc)}, 0);

  sample::List list(gpu, queue, "Main");
  list.Begin();
  {
    const sample::Scope frame(list, CAIRN_MARKER_PASS, "Frame");
    {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, "Triangle");
      picture.Begin(list);
      list.SetPipeline(pipeline);
      const sample::Scope draw(list, CAIRN_MARKER_DRAW_INSTANCED);
      list->DrawInstanced(3, 1, 0, 0);
    }
    picture.CopyToCpu(list);
  }
  list.End();
  queue.Execute({&list});
  queue.WaitOrReportLoss(20);

  if (picture.Pixel(0, 0) != 0xff000000 || picture.Pixel(kSize / 2, kSize / 2) == 0xff000000) {
    sample::Fail("the picture does not show the triangle");
  }
  if (const std::string error = picture.WritePng(path); !error.empty()) sample::Fail(error);
  fmt::print("sample-triangle-d3d12: drew one triangle into {}\n", path);
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
