// SPDX-License-Identifier: Apache-2.0
//
// Variable-rate shading: three parts of a picture are shaded coarsely, by the rate of a draw, of a primitive, and of an
// image. A pixel holds where it was shaded, and at which rate.
#include <fmt/format.h>

#include <cstring>

#include "d3d12_device.h"
#include "embedded/rate.ps.dxil.h"
#include "embedded/rate.vs.dxil.h"

namespace {

constexpr uint32_t kSize = 128;

struct Part {
  const char* name;
  LONG left;
  LONG right;
  D3D12_SHADING_RATE of_draw;
  D3D12_SHADING_RATE of_primitive;
  D3D12_SHADING_RATE_COMBINER combiners[D3D12_RS_SET_SHADING_RATE_COMBINER_COUNT];
};

constexpr D3D12_SHADING_RATE kFine = D3D12_SHADING_RATE_1X1;
constexpr D3D12_SHADING_RATE kOfDraw = D3D12_SHADING_RATE_2X2;
constexpr D3D12_SHADING_RATE kOfPrimitive = D3D12_SHADING_RATE_2X1;
constexpr D3D12_SHADING_RATE kOfImage = D3D12_SHADING_RATE_1X2;  // in its lower half
constexpr D3D12_SHADING_RATE_COMBINER kPass = D3D12_SHADING_RATE_COMBINER_PASSTHROUGH;
constexpr D3D12_SHADING_RATE_COMBINER kOverride = D3D12_SHADING_RATE_COMBINER_OVERRIDE;
constexpr LONG kQuarter = kSize / 4;
constexpr Part kParts[] = {
    {"Rate of a draw", 0, kQuarter, kOfDraw, kOfPrimitive, {kPass, kPass}},
    {"Rate of a primitive", kQuarter, 2 * kQuarter, kOfDraw, kOfPrimitive, {kOverride, kPass}},
    {"Rate of an image", 2 * kQuarter, 4 * kQuarter, kOfDraw, kOfPrimitive, {kPass, kOverride}},
};

// Returns the size of the tiles of an image of rates.
uint32_t NeedShadingRates(ID3D12Device* device) {
  D3D12_FEATURE_DATA_D3D12_OPTIONS6 options = {};
  if (FAILED(
          device->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS6, &options, sizeof(options))) ||
      options.VariableShadingRateTier < D3D12_VARIABLE_SHADING_RATE_TIER_2) {
    sample::Lack("shading rates of primitives and images");
  }
  return options.ShadingRateImageTileSize;
}

struct RateImage {
  RateImage(sample::Gpu& gpu, uint32_t tile) : tiles(kSize / tile) {
    D3D12_HEAP_PROPERTIES properties = {};
    properties.Type = D3D12_HEAP_TYPE_DEFAULT;
    D3D12_RESOURCE_DESC desc = {};
    desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
    desc.Width = tiles;
    desc.Height = tiles;
    desc.DepthOrArraySize = 1;
    desc.MipLevels = 1;
    desc.Format = DXGI_FORMAT_R8_UINT;
    desc.SampleDesc.Count = 1;
    sample::Check(gpu.device()->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc,
                                                        D3D12_RESOURCE_STATE_COPY_DEST, nullptr,
                                                        __uuidof(ID3D12Resource), image.Receive()),
                  "CreateCommittedResource");
    sample::SetName(image.get(), "Rates");
    rates = gpu.CreateUploadBuffer(sample::Words(uint64_t{tiles} * kPitch));
    auto* const bytes = reinterpret_cast<unsigned char*>(rates.words);
    for (uint32_t row = 0; row < tiles; ++row) {
      std::memset(bytes + row * kPitch, row < tiles / 2 ? kFine : kOfImage, tiles);
    }
  }

  void Upload(const sample::List& list) const {
    D3D12_TEXTURE_COPY_LOCATION from = {};
    from.pResource = rates.resource.get();
    from.Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT;
    from.PlacedFootprint.Footprint = {DXGI_FORMAT_R8_UINT, tiles, tiles, 1, kPitch};
    D3D12_TEXTURE_COPY_LOCATION to = {};
    to.pResource = image.get();
    to.Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX;
    list->CopyTextureRegion(&to, 0, 0, 0, &from, nullptr);
    sample::Transition(list, image.get(), D3D12_RESOURCE_STATE_COPY_DEST,
                       D3D12_RESOURCE_STATE_SHADING_RATE_SOURCE);
  }

  static constexpr uint32_t kPitch = D3D12_TEXTURE_DATA_PITCH_ALIGNMENT;
  uint32_t tiles;
  sample::ComPtr<ID3D12Resource> image;
  sample::Buffer rates;
};

void Record(sample::List& list, const sample::Pipeline& pipeline, const RateImage& rates,
            sample::Picture& picture) {
  const auto coarse = sample::Newer<ID3D12GraphicsCommandList5>(list.d3d12());
  list.Begin();
  {
    const sample::Scope frame(list, CAIRN_MARKER_PASS, "Frame");
    rates.Upload(list);
    picture.Begin(list);
    list.SetPipeline(pipeline);
    coarse->RSSetShadingRateImage(rates.image.get());
    for (const Part& part : kParts) {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, part.name);
      const D3D12_RECT scissor = {part.left, 0, part.right, kSize};
      list->RSSetScissorRects(1, &scissor);
      const uint32_t rate = part.of_primitive;
      list->SetGraphicsRoot32BitConstants(0, 1, &rate, 0);
      coarse->RSSetShadingRate(part.of_draw, part.combiners);
      list->DrawInstanced(3, 1, 0, 0);
    }
    coarse->RSSetShadingRateImage(nullptr);
    picture.CopyToCpu(list);
  }
  list.End();
}

D3D12_SHADING_RATE RateAt(uint32_t x, uint32_t y) {
  if (x < kQuarter) return kOfDraw;
  if (x < 2 * kQuarter) return kOfPrimitive;
  return y < kSize / 2 ? kFine : kOfImage;
}

void CheckPicture(const sample::Picture& picture) {
  for (uint32_t i = 0; i < kSize * kSize; ++i) {
    const uint32_t x = i % kSize;
    const uint32_t y = i / kSize;
    const uint32_t rate = RateAt(x, y);
    // The centre of two pixels, rounded down, is the second.
    const uint32_t red = rate >> 2 != 0 ? x | 1 : x;
    const uint32_t green = (rate & 3) != 0 ? y | 1 : y;
    if (const uint32_t pixel = picture.Pixel(x, y);
        pixel != (0xff000000 | rate << 16 | green << 8 | red)) {
      sample::Fail(fmt::format("pixel {}, {} is wrong: {:#x}", x, y, pixel));
    }
  }
}

void Run(const sample::Options& options, const std::string& path) {
  sample::Gpu gpu("sample-shading-rate-d3d12", options, D3D_SHADER_MODEL_6_4);
  const uint32_t tile = NeedShadingRates(gpu.device());
  sample::Queue queue(gpu, CAIRN_QUEUE_DIRECT, "Graphics");
  sample::Picture picture(gpu, kSize, kSize);
  const RateImage rates(gpu, tile);
  const sample::Pipeline pipeline =
      sample::CreateGraphicsPipeline(gpu, "Rate", {"RateVS", kRateVsDxil, sizeof(kRateVsDxil)},
                                     {"RatePS", kRatePsDxil, sizeof(kRatePsDxil)}, 1);
  sample::List list(gpu, queue, "Main");
  Record(list, pipeline, rates, picture);
  queue.Execute({&list});
  queue.WaitOrReportLoss(20);
  if (const std::string error = path.empty() ? "" : picture.WritePng(path); !error.empty()) {
    sample::Fail(error);
  }
  CheckPicture(picture);
  fmt::print("sample-shading-rate-d3d12: the rates of draws, primitives and images are correct\n");
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Shades parts of a picture coarsely.");
  sample::Options options;
  sample::AddOptions(line, &options);
  std::string path;
  line.Text("--output", &path, "a PNG to write");
  line.Read(argc, argv);
  Run(options, path);
  return 0;
}
