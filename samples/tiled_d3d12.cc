// SPDX-License-Identifier: Apache-2.0
//
// Reserved resources: a texture and a buffer, whose tiles are mapped to two heaps, filled by CopyTiles, and mapped
// otherwise in the second frame. One tile of the texture is mapped to nothing in each frame; it is read where that is
// defined. With --fault released the heaps are released before a dispatch stores into the buffer, with --fault unmapped
// nothing is mapped where it stores.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>

#include "d3d12_device.h"
#include "embedded/fill.cs.dxil.h"

namespace {

constexpr uint32_t kTile = 128;  // texels in each direction, of 32 bits
constexpr uint32_t kTiles = 4;   // of the texture, 2 by 2
constexpr uint32_t kSize = 2 * kTile;
constexpr uint32_t kBufferTiles = 3;
constexpr uint32_t kTileBytes = D3D12_TILED_RESOURCE_TILE_SIZE_IN_BYTES;
constexpr uint32_t kTileWords = kTileBytes / sizeof(uint32_t);
constexpr uint32_t kFrames = 2;
constexpr std::array<uint32_t, kBufferTiles> kColours = {0xff0000ff, 0xff00ff00, 0xffff0000};

// The number in kColours that each tile of the texture shows in a frame; none: it is mapped to nothing.
constexpr std::optional<uint32_t> kShown[kFrames][kTiles] = {{0, 1, 2, {}}, {{}, 1, 2, 2}};

D3D12_TILED_RESOURCES_TIER NeedTiles(ID3D12Device* device) {
  D3D12_FEATURE_DATA_D3D12_OPTIONS options = {};
  if (FAILED(device->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS, &options, sizeof(options))) ||
      options.TiledResourcesTier == D3D12_TILED_RESOURCES_TIER_NOT_SUPPORTED) {
    sample::Lack("reserved resources");
  }
  return options.TiledResourcesTier;
}

sample::ComPtr<ID3D12Heap> CreateHeap(ID3D12Device* device, uint32_t tiles,
                                      D3D12_HEAP_FLAGS flags) {
  D3D12_HEAP_DESC desc = {};
  desc.SizeInBytes = uint64_t{tiles} * kTileBytes;
  desc.Properties.Type = D3D12_HEAP_TYPE_DEFAULT;
  desc.Flags = flags;
  sample::ComPtr<ID3D12Heap> heap;
  sample::Check(device->CreateHeap(&desc, __uuidof(ID3D12Heap), heap.Receive()), "CreateHeap");
  return heap;
}

sample::ComPtr<ID3D12Resource> CreateReserved(ID3D12Device* device, const char* name,
                                              const D3D12_RESOURCE_DESC& desc) {
  sample::ComPtr<ID3D12Resource> resource;
  sample::Check(device->CreateReservedResource(&desc, D3D12_RESOURCE_STATE_COPY_DEST, nullptr,
                                               __uuidof(ID3D12Resource), resource.Receive()),
                "CreateReservedResource");
  sample::SetName(resource.get(), name);
  return resource;
}

sample::ComPtr<ID3D12Resource> CreateTexture(ID3D12Device* device) {
  D3D12_RESOURCE_DESC desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
  desc.Width = kSize;
  desc.Height = kSize;
  desc.DepthOrArraySize = 1;
  desc.MipLevels = 1;
  desc.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
  desc.SampleDesc.Count = 1;
  desc.Layout = D3D12_TEXTURE_LAYOUT_64KB_UNDEFINED_SWIZZLE;
  return CreateReserved(device, "Tiled texture", desc);
}

sample::ComPtr<ID3D12Resource> CreateBuffer(ID3D12Device* device) {
  D3D12_RESOURCE_DESC desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  desc.Width = uint64_t{kBufferTiles} * kTileBytes;
  desc.Height = 1;
  desc.DepthOrArraySize = 1;
  desc.MipLevels = 1;
  desc.SampleDesc.Count = 1;
  desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
  desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
  return CreateReserved(device, "Tiled buffer", desc);
}

D3D12_TILED_RESOURCE_COORDINATE At(uint32_t tile) {
  return {tile % 2, tile / 2, 0, 0};
}

struct Scene {
  explicit Scene(sample::Gpu& gpu)
      : reads_nothing(NeedTiles(gpu.device()) >= D3D12_TILED_RESOURCES_TIER_2),
        fill(sample::CreateComputePipeline(
            gpu, "Fill", {"FillCS", kFillCsDxil, sizeof(kFillCsDxil)}, 2, sample::Output::kRaw)),
        of_textures(
            CreateHeap(gpu.device(), kTiles, D3D12_HEAP_FLAG_ALLOW_ONLY_NON_RT_DS_TEXTURES)),
        of_buffers(CreateHeap(gpu.device(), kBufferTiles, D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS)),
        texture(CreateTexture(gpu.device())),
        buffer(CreateBuffer(gpu.device())),
        colours(gpu.CreateUploadBuffer(kBufferTiles * kTileWords)),
        picture(gpu, kSize, kSize) {
    for (uint32_t i = 0; i < colours.word_count; ++i) colours.words[i] = kColours[i / kTileWords];
  }
  bool reads_nothing;  // a tile that is mapped to nothing is zeros
  sample::Pipeline fill;
  sample::ComPtr<ID3D12Heap> of_textures;
  sample::ComPtr<ID3D12Heap> of_buffers;
  sample::ComPtr<ID3D12Resource> texture;
  sample::ComPtr<ID3D12Resource> buffer;
  sample::Buffer colours;
  sample::Picture picture;
};

constexpr D3D12_TILE_RANGE_FLAGS kMap = D3D12_TILE_RANGE_FLAG_NONE;
constexpr D3D12_TILE_RANGE_FLAGS kNothing = D3D12_TILE_RANGE_FLAG_NULL;
constexpr D3D12_TILE_RANGE_FLAGS kAsItWas = D3D12_TILE_RANGE_FLAG_SKIP;

// Maps tile after tile of the resource, from its first: each as its flag says, to the tile of the heap.
void Map(const sample::Queue& queue, ID3D12Resource* resource, ID3D12Heap* heap,
         std::span<const D3D12_TILE_RANGE_FLAGS> flags, const uint32_t* offsets) {
  std::array<UINT, kTiles> ones = {1, 1, 1, 1};
  const auto count = static_cast<UINT>(flags.size());
  const D3D12_TILED_RESOURCE_COORDINATE first = {};
  const D3D12_TILE_REGION_SIZE size = {count, FALSE, 0, 0, 0};
  queue.d3d12()->UpdateTileMappings(resource, 1, &first, &size, heap, count, flags.data(), offsets,
                                    ones.data(), D3D12_TILE_MAPPING_FLAG_NONE);
}

void MapFirstFrame(const sample::Queue& queue, const Scene& scene) {
  constexpr D3D12_TILE_RANGE_FLAGS kTexture[] = {kMap, kMap, kMap, kNothing};
  constexpr uint32_t kTextureOffsets[] = {2, 0, 1, 0};
  Map(queue, scene.texture.get(), scene.of_textures.get(), kTexture, kTextureOffsets);
  constexpr D3D12_TILE_RANGE_FLAGS kBuffer[] = {kMap, kMap, kMap};
  constexpr uint32_t kBufferOffsets[] = {2, 1, 0};
  Map(queue, scene.buffer.get(), scene.of_buffers.get(), kBuffer, kBufferOffsets);
}

// The last tile of the texture takes the memory of the first; the first and the last of the buffer are exchanged.
void MapSecondFrame(const sample::Queue& queue, const Scene& scene) {
  constexpr D3D12_TILE_RANGE_FLAGS kTexture[] = {kNothing, kAsItWas, kAsItWas, kMap};
  constexpr uint32_t kTextureOffsets[] = {0, 0, 0, 2};
  Map(queue, scene.texture.get(), scene.of_textures.get(), kTexture, kTextureOffsets);
  constexpr D3D12_TILE_RANGE_FLAGS kBuffer[] = {kMap, kAsItWas, kMap};
  constexpr uint32_t kBufferOffsets[] = {0, 0, 2};
  Map(queue, scene.buffer.get(), scene.of_buffers.get(), kBuffer, kBufferOffsets);
}

void CopyTile(const sample::List& list, const Scene& scene, uint32_t tile, uint32_t buffer_tile) {
  const D3D12_TILED_RESOURCE_COORDINATE at = At(tile);
  const D3D12_TILE_REGION_SIZE one = {1, FALSE, 0, 0, 0};
  list->CopyTiles(scene.texture.get(), &at, &one, scene.buffer.get(),
                  uint64_t{buffer_tile} * kTileBytes,
                  D3D12_TILE_COPY_FLAG_LINEAR_BUFFER_TO_SWIZZLED_TILED_RESOURCE);
}

// Draws the texture into the picture, by copies.
void ShowTiles(const sample::List& list, Scene& scene, uint32_t frame) {
  const sample::Scope pass(list, CAIRN_MARKER_PASS, "Show the tiles");
  scene.picture.Begin(list);
  sample::Transition(list, scene.picture.image(), D3D12_RESOURCE_STATE_RENDER_TARGET,
                     D3D12_RESOURCE_STATE_COPY_DEST);
  sample::Transition(list, scene.texture.get(), D3D12_RESOURCE_STATE_COPY_DEST,
                     D3D12_RESOURCE_STATE_COPY_SOURCE);
  D3D12_TEXTURE_COPY_LOCATION from = {};
  from.pResource = scene.texture.get();
  D3D12_TEXTURE_COPY_LOCATION to = {};
  to.pResource = scene.picture.image();
  for (uint32_t tile = 0; tile < kTiles; ++tile) {
    if (!kShown[frame][tile] && !scene.reads_nothing) continue;
    const uint32_t x = tile % 2 * kTile;
    const uint32_t y = tile / 2 * kTile;
    const D3D12_BOX box = {x, y, 0, x + kTile, y + kTile, 1};
    list->CopyTextureRegion(&to, x, y, 0, &from, &box);
  }
  sample::Transition(list, scene.texture.get(), D3D12_RESOURCE_STATE_COPY_SOURCE,
                     D3D12_RESOURCE_STATE_COPY_DEST);
  sample::Transition(list, scene.picture.image(), D3D12_RESOURCE_STATE_COPY_DEST,
                     D3D12_RESOURCE_STATE_RENDER_TARGET);
  scene.picture.CopyToCpu(list);
  scene.picture.Reuse(list);
}

void Record(sample::List& list, Scene& scene, uint32_t frame) {
  list.Begin();
  {
    const sample::Scope scope(list, CAIRN_MARKER_PASS, "Frame");
    {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, "Fill the tiles");
      if (frame == 0) {
        list->CopyResource(scene.buffer.get(), scene.colours.resource.get());
      }
      sample::Transition(list, scene.buffer.get(), D3D12_RESOURCE_STATE_COPY_DEST,
                         D3D12_RESOURCE_STATE_COPY_SOURCE);
      if (frame == 0) {
        for (uint32_t tile = 0; tile < kBufferTiles; ++tile) CopyTile(list, scene, tile, tile);
      } else {
        CopyTile(list, scene, kTiles - 1, 0);  // what was the buffer's last tile before
      }
      sample::Transition(list, scene.buffer.get(), D3D12_RESOURCE_STATE_COPY_SOURCE,
                         D3D12_RESOURCE_STATE_COPY_DEST);
    }
    ShowTiles(list, scene, frame);
  }
  list.End();
}

// Stores into the buffer, which has no memory any more.
void RecordFault(sample::List& list, const Scene& scene) {
  list.Begin();
  {
    const sample::Scope scope(list, CAIRN_MARKER_PASS, "Fill the buffer");
    sample::Transition(list, scene.buffer.get(), D3D12_RESOURCE_STATE_COPY_DEST,
                       D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
    list.SetPipeline(scene.fill);
    const uint32_t constants[] = {0, 0};
    list->SetComputeRoot32BitConstants(0, 2, constants, 0);
    list->SetComputeRootUnorderedAccessView(1, scene.buffer->GetGPUVirtualAddress());
    const sample::Scope work(list, CAIRN_MARKER_DISPATCH);
    list->Dispatch(1, 1, 1);
  }
  list.End();
}

void CheckPicture(const Scene& scene, uint32_t frame) {
  for (uint32_t i = 0; i < kSize * kSize; ++i) {
    const uint32_t x = i % kSize;
    const uint32_t y = i / kSize;
    const std::optional<uint32_t> shown = kShown[frame][y / kTile * 2 + x / kTile];
    const uint32_t expected = shown ? kColours[*shown] : scene.reads_nothing ? 0 : 0xff000000;
    if (const uint32_t pixel = scene.picture.Pixel(x, y); pixel != expected) {
      sample::Fail(fmt::format("pixel {}, {} of frame {} is wrong: {:#x}", x, y, frame, pixel));
    }
  }
}

void Run(const sample::Options& options, const std::string& fault, const std::string& path) {
  sample::Gpu gpu("sample-tiled-d3d12", options, D3D_SHADER_MODEL_6_0);
  Scene scene(gpu);
  sample::Queue queue(gpu, CAIRN_QUEUE_DIRECT, "Graphics");
  sample::List list(gpu, queue, "Main");
  for (uint32_t frame = 0; frame < kFrames && fault != "unmapped"; ++frame) {
    frame == 0 ? MapFirstFrame(queue, scene) : MapSecondFrame(queue, scene);
    Record(list, scene, frame);
    queue.Execute({&list});
    queue.WaitOrReportLoss(20);
    CheckPicture(scene, frame);
    gpu.telling().NextFrame(queue.d3d12());
  }
  if (!fault.empty()) {
    scene.of_buffers = {};
    scene.of_textures = {};
    RecordFault(list, scene);
    queue.Execute({&list});
    queue.WaitOrReportLoss(20);
    fmt::print("sample-tiled-d3d12: this device ignored the fault\n");
    return;
  }
  if (const std::string error = path.empty() ? "" : scene.picture.WritePng(path); !error.empty()) {
    sample::Fail(error);
  }
  fmt::print("sample-tiled-d3d12: the tiles of {} frames are correct\n", kFrames);
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Shows tiles of reserved resources, and maps them otherwise.");
  sample::Options options;
  sample::AddOptions(line, &options);
  std::string fault;
  std::string path;
  line.Text("--fault", &fault, "released: the heaps; unmapped: there are none");
  line.Text("--output", &path, "a PNG of the last frame to write");
  line.Read(argc, argv);
  if (!fault.empty() && fault != "released" && fault != "unmapped") {
    sample::Fail("--fault takes released or unmapped, not " + fault);
  }
  Run(options, fault, path);
  return 0;
}
