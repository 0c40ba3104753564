// SPDX-License-Identifier: Apache-2.0
//
// Sampler feedback: two draws write down which parts and levels of a texture they would sample, into a map of the lowest
// level of each part and into one of all levels that were used. Both are decoded and read.
#include <fmt/format.h>

#include <array>

#include "d3d12_device.h"
#include "d3d12abi/aggregates.h"
#include "embedded/feedback.ps.dxil.h"
#include "embedded/screen.vs.dxil.h"

namespace {

constexpr uint32_t kSize = 128;  // of the texture and of the picture
constexpr uint32_t kLevels = 4;
constexpr uint32_t kRegion = 16;
constexpr uint32_t kRegions = kSize / kRegion;  // of level 0, in each direction
constexpr uint32_t kHalf = kRegions / 2;
constexpr uint32_t kHighLevel =
    2;  // sampled in the quarter at the lower right, level 0 in that at the upper left
// An implementation may count the neighbours of the texels that are sampled.
constexpr LONG kMargin = 4;
constexpr uint32_t kUnused = 0xff;
constexpr uint32_t kUsed = 0xff;  // in the other map
constexpr uint32_t kPitch = D3D12_TEXTURE_DATA_PITCH_ALIGNMENT;

void NeedSamplerFeedback(ID3D12Device* device) {
  D3D12_FEATURE_DATA_D3D12_OPTIONS7 options = {};
  if (FAILED(
          device->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS7, &options, sizeof(options))) ||
      options.SamplerFeedbackTier < D3D12_SAMPLER_FEEDBACK_TIER_0_9) {
    sample::Lack("sampler feedback");
  }
}

sample::ComPtr<ID3D12Resource> CreateTexture(ID3D12Device8* device, const char* name,
                                             DXGI_FORMAT format, uint32_t size, uint32_t levels,
                                             D3D12_RESOURCE_STATES state) {
  const bool is_map = state == D3D12_RESOURCE_STATE_UNORDERED_ACCESS;
  D3D12_HEAP_PROPERTIES properties = {};
  properties.Type = D3D12_HEAP_TYPE_DEFAULT;
  D3D12_RESOURCE_DESC1 desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
  desc.Width = size;
  desc.Height = size;
  desc.DepthOrArraySize = 1;
  desc.MipLevels = static_cast<UINT16>(levels);
  desc.Format = format;
  desc.SampleDesc.Count = 1;
  if (is_map) {
    desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
    desc.SamplerFeedbackMipRegion = {kRegion, kRegion, 0};
  }
  sample::ComPtr<ID3D12Resource> texture;
  sample::Check(
      device->CreateCommittedResource2(&properties, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr,
                                       nullptr, __uuidof(ID3D12Resource), texture.Receive()),
      "CreateCommittedResource2");
  sample::SetName(texture.get(), name);
  return texture;
}

sample::ComPtr<ID3D12DescriptorHeap> CreateHeap(ID3D12Device* device,
                                                D3D12_DESCRIPTOR_HEAP_FLAGS flags) {
  const D3D12_DESCRIPTOR_HEAP_DESC desc = {D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 3, flags, 0};
  sample::ComPtr<ID3D12DescriptorHeap> heap;
  sample::Check(device->CreateDescriptorHeap(&desc, __uuidof(ID3D12DescriptorHeap), heap.Receive()),
                "CreateDescriptorHeap");
  return heap;
}

// The level; the maps and the texture; a sampler of points.
sample::ComPtr<ID3D12RootSignature> CreateSignature(ID3D12Device* device) {
  std::array<D3D12_DESCRIPTOR_RANGE, 2> ranges = {};
  ranges[0] = {D3D12_DESCRIPTOR_RANGE_TYPE_UAV, 2, 0, 0, D3D12_DESCRIPTOR_RANGE_OFFSET_APPEND};
  ranges[1] = {D3D12_DESCRIPTOR_RANGE_TYPE_SRV, 1, 0, 0, D3D12_DESCRIPTOR_RANGE_OFFSET_APPEND};
  D3D12_ROOT_PARAMETER parameters[2] = {};
  parameters[0].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
  parameters[0].Constants.Num32BitValues = 1;
  parameters[1].ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE;
  parameters[1].DescriptorTable = {ranges.size(), ranges.data()};
  D3D12_STATIC_SAMPLER_DESC sampler = {};
  sampler.Filter = D3D12_FILTER_MIN_MAG_MIP_POINT;
  sampler.AddressU = D3D12_TEXTURE_ADDRESS_MODE_CLAMP;
  sampler.AddressV = D3D12_TEXTURE_ADDRESS_MODE_CLAMP;
  sampler.AddressW = D3D12_TEXTURE_ADDRESS_MODE_CLAMP;
  sampler.MaxLOD = D3D12_FLOAT32_MAX;
  return sample::CreateRootSignature(device,
                                     {2, parameters, 1, &sampler, D3D12_ROOT_SIGNATURE_FLAG_NONE});
}

// A map, what it is decoded into, and the memory to read that. A map of the lowest levels is decoded into one level.
struct Map {
  Map(sample::Gpu& gpu, ID3D12Device8* device, const char* name, DXGI_FORMAT format)
      : levels(format == DXGI_FORMAT_SAMPLER_FEEDBACK_MIN_MIP_OPAQUE ? 1 : kLevels),
        map(CreateTexture(device, name, format, kSize, kLevels,
                          D3D12_RESOURCE_STATE_UNORDERED_ACCESS)),
        decoded(CreateTexture(device, "Decoded", DXGI_FORMAT_R8_UINT, kRegions, levels,
                              D3D12_RESOURCE_STATE_RESOLVE_DEST)),
        read(gpu.CreateReadbackBuffer(sample::Words(FirstByte(levels)))) {}

  static uint32_t FirstByte(uint32_t level) { return level * kRegions * kPitch; }
  uint32_t At(uint32_t level, uint32_t x, uint32_t y) const {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(read.words);
    return bytes[FirstByte(level) + y * kPitch + x];
  }

  // Records the decoding of all levels, and the copies to the CPU.
  void Decode(const sample::List& list) const {
    sample::Transition(list, map.get(), D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
                       D3D12_RESOURCE_STATE_RESOLVE_SOURCE);
    sample::Newer<ID3D12GraphicsCommandList1>(list.d3d12())
        ->ResolveSubresourceRegion(decoded.get(), UINT_MAX, 0, 0, map.get(), UINT_MAX, nullptr,
                                   DXGI_FORMAT_R8_UINT, D3D12_RESOLVE_MODE_DECODE_SAMPLER_FEEDBACK);
    sample::Transition(list, decoded.get(), D3D12_RESOURCE_STATE_RESOLVE_DEST,
                       D3D12_RESOURCE_STATE_COPY_SOURCE);
    D3D12_TEXTURE_COPY_LOCATION from = {};
    from.pResource = decoded.get();
    from.Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX;
    D3D12_TEXTURE_COPY_LOCATION to = {};
    to.pResource = read.resource.get();
    to.Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT;
    for (uint32_t level = 0; level < levels; ++level) {
      const uint32_t regions = kRegions >> level;
      from.SubresourceIndex = level;
      to.PlacedFootprint = {FirstByte(level), {DXGI_FORMAT_R8_UINT, regions, regions, 1, kPitch}};
      list->CopyTextureRegion(&to, 0, 0, 0, &from, nullptr);
    }
  }

  uint32_t levels;
  sample::ComPtr<ID3D12Resource> map;
  sample::ComPtr<ID3D12Resource> decoded;
  sample::Buffer read;
};

struct Scene {
  explicit Scene(sample::Gpu& gpu)
      : device(sample::Newer<ID3D12Device8>(gpu.device())),
        texture(CreateTexture(device.get(), "Texture", DXGI_FORMAT_R8G8B8A8_UNORM, kSize, kLevels,
                              D3D12_RESOURCE_STATE_PIXEL_SHADER_RESOURCE)),
        lowest(gpu, device.get(), "Lowest levels", DXGI_FORMAT_SAMPLER_FEEDBACK_MIN_MIP_OPAQUE),
        used(gpu, device.get(), "Used levels", DXGI_FORMAT_SAMPLER_FEEDBACK_MIP_REGION_USED_OPAQUE),
        views(CreateHeap(device.get(), D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE)),
        clears(CreateHeap(device.get(), D3D12_DESCRIPTOR_HEAP_FLAG_NONE)),
        pipeline(sample::CreateGraphicsPipeline(
            gpu, "Feedback", {"ScreenVS", kScreenVsDxil, sizeof(kScreenVsDxil)},
            {"FeedbackPS", kFeedbackPsDxil, sizeof(kFeedbackPsDxil)},
            CreateSignature(device.get()))),
        step(device->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV)),
        picture(gpu, kSize, kSize) {
    for (ID3D12DescriptorHeap* const heap : {views.get(), clears.get()}) {
      D3D12_CPU_DESCRIPTOR_HANDLE view = cairn::GetCpuStart(heap);
      for (const Map* const map : {&lowest, &used}) {
        device->CreateSamplerFeedbackUnorderedAccessView(texture.get(), map->map.get(), view);
        view.ptr += step;
      }
      device->CreateShaderResourceView(texture.get(), nullptr, view);
    }
  }
  sample::ComPtr<ID3D12Device8> device;
  sample::ComPtr<ID3D12Resource> texture;
  Map lowest;
  Map used;
  sample::ComPtr<ID3D12DescriptorHeap> views;
  sample::ComPtr<ID3D12DescriptorHeap> clears;
  sample::Pipeline pipeline;
  uint32_t step;
  sample::Picture picture;
};

void DrawQuarter(const sample::List& list, LONG first, uint32_t level) {
  const LONG begin = first + kMargin;
  const LONG end = first + LONG{kSize / 2} - kMargin;
  const D3D12_RECT scissor = {begin, begin, end, end};
  list->RSSetScissorRects(1, &scissor);
  list->SetGraphicsRoot32BitConstants(0, 1, &level, 0);
  list->DrawInstanced(3, 1, 0, 0);
}

void Record(sample::List& list, Scene& scene) {
  list.Begin();
  {
    const sample::Scope frame(list, CAIRN_MARKER_PASS, "Frame");
    ID3D12DescriptorHeap* const heap = scene.views.get();
    list->SetDescriptorHeaps(1, &heap);
    D3D12_GPU_DESCRIPTOR_HANDLE view = cairn::GetGpuStart(heap);
    D3D12_CPU_DESCRIPTOR_HANDLE clear = cairn::GetCpuStart(scene.clears.get());
    for (const Map* const map : {&scene.lowest, &scene.used}) {
      constexpr UINT kNothing[4] = {};
      list->ClearUnorderedAccessViewUint(view, clear, map->map.get(), kNothing, 0, nullptr);
      view.ptr += scene.step;
      clear.ptr += scene.step;
    }
    list.Barrier();
    {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, "Write feedback");
      scene.picture.Begin(list);
      list.SetPipeline(scene.pipeline);
      list->SetGraphicsRootDescriptorTable(1, cairn::GetGpuStart(heap));
      DrawQuarter(list, 0, 0);
      DrawQuarter(list, kSize / 2, kHighLevel);
    }
    {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, "Decode");
      scene.lowest.Decode(list);
      scene.used.Decode(list);
    }
    scene.picture.CopyToCpu(list);
  }
  list.End();
}

void Expect(const char* what, const Map& map, uint32_t level, uint32_t x, uint32_t y,
            uint32_t expected) {
  if (const uint32_t found = map.At(level, x, y); found != expected) {
    sample::Fail(fmt::format("{} of region {}, {} of level {} is wrong: {:#x}, not {:#x}", what, x,
                             y, level, found, expected));
  }
}

void CheckMaps(const Scene& scene) {
  for (uint32_t y = 0; y < kRegions; ++y) {
    for (uint32_t x = 0; x < kRegions; ++x) {
      const bool low = x < kHalf && y < kHalf;
      const bool high = x >= kHalf && y >= kHalf;
      Expect("the lowest level", scene.lowest, 0, x, y, low ? 0 : high ? kHighLevel : kUnused);
    }
  }
  for (uint32_t level = 0; level < kLevels; ++level) {
    const uint32_t regions = kRegions >> level;
    for (uint32_t i = 0; i < regions * regions; ++i) {
      const uint32_t x = i % regions;
      const uint32_t y = i / regions;
      const bool low = level == 0 && x < kHalf && y < kHalf;
      const bool high = level == kHighLevel && x >= regions / 2 && y >= regions / 2;
      Expect("the use", scene.used, level, x, y, low || high ? kUsed : 0);
    }
  }
}

void CheckPicture(const sample::Picture& picture) {
  constexpr uint32_t kLeft = kSize / 4;
  constexpr uint32_t kRight = 3 * kSize / 4;
  const uint32_t pixels[] = {picture.Pixel(kLeft, kLeft), picture.Pixel(kRight, kRight),
                             picture.Pixel(kRight, kLeft)};
  if (pixels[0] != 0xff00ff00 || pixels[1] != (0xff00ff00 | kHighLevel << 16) ||
      pixels[2] != 0xff000000) {
    sample::Fail(
        fmt::format("the picture is wrong: {:#x}, {:#x}, {:#x}", pixels[0], pixels[1], pixels[2]));
  }
}

void Run(const sample::Options& options, const std::string& path) {
  sample::Gpu gpu("sample-sampler-feedback-d3d12", options, D3D_SHADER_MODEL_6_5);
  NeedSamplerFeedback(gpu.device());
  sample::Queue queue(gpu, CAIRN_QUEUE_DIRECT, "Graphics");
  Scene scene(gpu);
  sample::List list(gpu, queue, "Main");
  Record(list, scene);
  queue.Execute({&list});
  queue.WaitOrReportLoss(20);
  if (const std::string error = path.empty() ? "" : scene.picture.WritePng(path); !error.empty()) {
    sample::Fail(error);
  }
  CheckPicture(scene.picture);
  CheckMaps(scene);
  fmt::print("sample-sampler-feedback-d3d12: the maps of {} levels are correct\n", kLevels);
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Reads which parts and levels of a texture two draws sample.");
  sample::Options options;
  sample::AddOptions(line, &options);
  std::string path;
  line.Text("--output", &path, "a PNG to write");
  line.Read(argc, argv);
  Run(options, path);
  return 0;
}
