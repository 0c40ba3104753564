// SPDX-License-Identifier: Apache-2.0
//
// Ray tracing from a triangle to a picture: a bottom level is built far away, moved into view by an update, compacted,
// and seen four times through a top level, with two shader records. Where one of these steps is missing, the picture is
// another.
//
// With --fault instance one instance points to no bottom level. With --fault record nobody writes the identifier of the
// last hit record, and with --fault address nobody writes the address in it: the memory was used before. With --frames N
// the picture is traced N times. The inputs of the structures are overwritten after the first time: a recording that
// begins later needs what they were.
#include <fmt/format.h>

#include <array>
#include <cstring>

#include "d3d12_structures.h"
#include "d3d12abi/aggregates.h"
#include "embedded/rays.lib.dxil.h"

namespace {

constexpr uint32_t kSize = 64;
constexpr uint32_t kInstances = 4;
constexpr uint32_t kFirstId = 10;
constexpr uint32_t kFaultyInstance = 2;
constexpr uint64_t kNowhere = 0xFEFEFEFEFE00;  // as aligned as an address of a structure
constexpr uint32_t kUnwrittenRecord = 3;
constexpr int kUsedBefore = 0xFE;

struct Record {
  unsigned char identifier[D3D12_SHADER_IDENTIFIER_SIZE_IN_BYTES];
  float colour[4];
  D3D12_GPU_VIRTUAL_ADDRESS brightness;
  uint64_t unused;  // tables begin at multiples of 64 bytes
};
static_assert(sizeof(Record) == D3D12_RAYTRACING_SHADER_TABLE_BYTE_ALIGNMENT);

// The scene and the picture, for all shaders.
sample::ComPtr<ID3D12RootSignature> CreateGlobalSignature(ID3D12Device* device) {
  D3D12_DESCRIPTOR_RANGE range = {};
  range.RangeType = D3D12_DESCRIPTOR_RANGE_TYPE_UAV;
  range.NumDescriptors = 1;
  D3D12_ROOT_PARAMETER parameters[2] = {};
  parameters[0].ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE;
  parameters[0].DescriptorTable.NumDescriptorRanges = 1;
  parameters[0].DescriptorTable.pDescriptorRanges = &range;
  parameters[1].ParameterType = D3D12_ROOT_PARAMETER_TYPE_SRV;
  return sample::CreateRootSignature(device, {2, parameters, 0, nullptr, {}});
}

// The colour in a shader record, and the address of its brightness.
sample::ComPtr<ID3D12RootSignature> CreateLocalSignature(ID3D12Device* device) {
  D3D12_ROOT_PARAMETER parameters[2] = {};
  parameters[0].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
  parameters[0].Constants.Num32BitValues = 4;
  parameters[1].ParameterType = D3D12_ROOT_PARAMETER_TYPE_SRV;
  parameters[1].Descriptor.ShaderRegister = 1;
  return sample::CreateRootSignature(
      device, {2, parameters, 0, nullptr, D3D12_ROOT_SIGNATURE_FLAG_LOCAL_ROOT_SIGNATURE});
}

sample::ComPtr<ID3D12StateObject> CreateStateObject(ID3D12Device5* device,
                                                    ID3D12RootSignature* global,
                                                    ID3D12RootSignature* local) {
  const sample::Wide hit("Hit");
  const sample::Wide closest_hit("ClosestHit");
  D3D12_DXIL_LIBRARY_DESC library = {};
  library.DXILLibrary = {kRaysLibDxil, sizeof(kRaysLibDxil)};
  D3D12_HIT_GROUP_DESC group = {};
  group.HitGroupExport = hit.get();
  group.ClosestHitShaderImport = closest_hit.get();
  const D3D12_RAYTRACING_SHADER_CONFIG shaders = {4 * sizeof(float), 2 * sizeof(float)};
  const D3D12_RAYTRACING_PIPELINE_CONFIG pipeline = {1};
  const D3D12_GLOBAL_ROOT_SIGNATURE global_signature = {global};
  const D3D12_LOCAL_ROOT_SIGNATURE local_signature = {local};
  std::array<D3D12_STATE_SUBOBJECT, 7> parts = {{
      {D3D12_STATE_SUBOBJECT_TYPE_DXIL_LIBRARY, &library},
      {D3D12_STATE_SUBOBJECT_TYPE_HIT_GROUP, &group},
      {D3D12_STATE_SUBOBJECT_TYPE_RAYTRACING_SHADER_CONFIG, &shaders},
      {D3D12_STATE_SUBOBJECT_TYPE_RAYTRACING_PIPELINE_CONFIG, &pipeline},
      {D3D12_STATE_SUBOBJECT_TYPE_GLOBAL_ROOT_SIGNATURE, &global_signature},
      {D3D12_STATE_SUBOBJECT_TYPE_LOCAL_ROOT_SIGNATURE, &local_signature},
  }};
  LPCWSTR exports[] = {hit.get()};
  const D3D12_SUBOBJECT_TO_EXPORTS_ASSOCIATION association = {&parts[5], 1, exports};
  parts[6] = {D3D12_STATE_SUBOBJECT_TYPE_SUBOBJECT_TO_EXPORTS_ASSOCIATION, &association};
  const D3D12_STATE_OBJECT_DESC desc = {D3D12_STATE_OBJECT_TYPE_RAYTRACING_PIPELINE,
                                        static_cast<UINT>(parts.size()), parts.data()};
  sample::ComPtr<ID3D12StateObject> object;
  sample::Check(device->CreateStateObject(&desc, __uuidof(ID3D12StateObject), object.Receive()),
                "CreateStateObject");
  sample::SetName(object.get(), "Rays");
  return object;
}

// The records of the ray generation shader, of the miss shader, and two of the hit group.
void WriteShaderTable(const sample::Buffer& table, ID3D12StateObject* state,
                      D3D12_GPU_VIRTUAL_ADDRESS brightness, const std::string& fault) {
  const auto properties = sample::Newer<ID3D12StateObjectProperties>(state);
  Record records[4] = {};
  const char* const names[] = {"RayGen", "Miss", "Hit", "Hit"};
  for (uint32_t i = 0; i < 4; ++i) {
    const void* const identifier = properties->GetShaderIdentifier(sample::Wide(names[i]).get());
    if (identifier == nullptr) sample::Fail(fmt::format("there is no identifier of {}", names[i]));
    std::memcpy(records[i].identifier, identifier, sizeof(records[i].identifier));
    records[i].brightness = i < 2 ? 0 : brightness;
  }
  records[2].colour[0] = 1;
  records[3].colour[1] = 1;
  Record& last = records[kUnwrittenRecord];
  if (fault == "record") std::memset(last.identifier, kUsedBefore, sizeof(last.identifier));
  if (fault == "address") std::memset(&last.brightness, kUsedBefore, sizeof(last.brightness));
  std::memcpy(table.words, records, sizeof(records));
}

// A triangle that is first out of every ray's way.
struct Triangle {
  Triangle(sample::Gpu& gpu, ID3D12Device5* device)
      : vertices(gpu.CreateUploadBuffer(2 * sample::kTriangleFloats)) {
    const auto floats = reinterpret_cast<float*>(vertices.words);
    for (uint32_t i = 0; i < sample::kTriangleFloats; ++i) {
      floats[i] = sample::kTriangle[i] + (i % 3 == 0 ? 10.0f : 0.0f);
      floats[sample::kTriangleFloats + i] = sample::kTriangle[i];
    }
    geometry = sample::TriangleGeometry(vertices.resource->GetGPUVirtualAddress());
    level.AllocateBottom(gpu, device, &geometry,
                         D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_ALLOW_UPDATE |
                             D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_ALLOW_COMPACTION);
    sample::SetName(level.structure.resource.get(), "Triangle");
  }
  Triangle(const Triangle&) = delete;
  Triangle& operator=(const Triangle&) = delete;

  void MoveIntoView() {
    geometry.Triangles.VertexBuffer.StartAddress =
        vertices.resource->GetGPUVirtualAddress() + sample::kTriangleFloats * sizeof(float);
  }

  // What was built stays.
  void Overwrite() const {
    std::memset(vertices.words, 0, 2 * sample::kTriangleFloats * sizeof(float));
  }

  sample::Buffer vertices;
  D3D12_RAYTRACING_GEOMETRY_DESC geometry = {};
  sample::Level level;
};

// Builds the triangle, moves it, and returns the bytes that it takes when it is compacted.
uint64_t BuildTriangle(sample::Gpu& gpu, sample::Queue& queue, sample::List& list,
                       ID3D12GraphicsCommandList4* rays, Triangle& triangle) {
  const sample::Buffer size = gpu.CreateGpuBuffer(2, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
  const sample::Buffer read = gpu.CreateReadbackBuffer(2);
  list.Begin();
  {
    const sample::Scope frame(list, CAIRN_MARKER_PASS, "Geometry");
    {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, "Build the triangle");
      triangle.level.Build(list, rays);
    }
    {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, "Move the triangle");
      triangle.MoveIntoView();
      triangle.level.Build(list, rays, true);
    }
    const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC info = {
        size.resource->GetGPUVirtualAddress(),
        D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_COMPACTED_SIZE};
    const D3D12_GPU_VIRTUAL_ADDRESS source = triangle.level.Address();
    rays->EmitRaytracingAccelerationStructurePostbuildInfo(&info, 1, &source);
    sample::Transition(list, size.resource.get(), D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
                       D3D12_RESOURCE_STATE_COPY_SOURCE);
    list->CopyResource(read.resource.get(), size.resource.get());
  }
  list.End();
  queue.Execute({&list});
  queue.WaitOrReportLoss(20);
  uint64_t bytes = 0;
  std::memcpy(&bytes, read.words, sizeof(bytes));
  if (bytes == 0) sample::Fail("the compacted triangle has no size");
  return bytes;
}

// Four instances, one in each quarter of the picture.
struct Instances {
  Instances(sample::Gpu& gpu, ID3D12Device5* device, D3D12_GPU_VIRTUAL_ADDRESS triangle, bool fault)
      : descs(gpu.CreateUploadBuffer(
            sample::Words(kInstances * sizeof(D3D12_RAYTRACING_INSTANCE_DESC)))) {
    for (uint32_t i = 0; i < kInstances; ++i) {
      D3D12_RAYTRACING_INSTANCE_DESC desc = {};
      for (uint32_t axis = 0; axis < 3; ++axis) desc.Transform[axis][axis] = 0.4f;
      desc.Transform[0][3] = i % 2 == 0 ? -0.5f : 0.5f;
      desc.Transform[1][3] = i / 2 == 0 ? -0.5f : 0.5f;
      desc.InstanceID = kFirstId + i;
      desc.InstanceMask = 0xFF;
      desc.InstanceContributionToHitGroupIndex = i % 2;
      desc.AccelerationStructure = fault && i == kFaultyInstance ? kNowhere : triangle;
      std::memcpy(descs.words + i * sample::Words(sizeof(desc)), &desc, sizeof(desc));
    }
    level.inputs.InstanceDescs = descs.resource->GetGPUVirtualAddress();
    level.AllocateTop(gpu, device, kInstances);
    sample::SetName(level.structure.resource.get(), "Instances");
  }

  // What was built stays.
  void Overwrite() const {
    std::memset(descs.words, 0, kInstances * sizeof(D3D12_RAYTRACING_INSTANCE_DESC));
  }

  sample::Buffer descs;
  sample::Level level;
};

void Trace(const sample::List& list, ID3D12GraphicsCommandList4* rays, ID3D12StateObject* state,
           ID3D12RootSignature* signature, const sample::Picture& picture,
           const sample::Level& scene, const sample::Buffer& table) {
  const sample::Scope pass(list, CAIRN_MARKER_PASS, "Trace");
  ID3D12DescriptorHeap* const heap = picture.views();
  list->SetDescriptorHeaps(1, &heap);
  list->SetComputeRootSignature(signature);
  list->SetComputeRootDescriptorTable(0, cairn::GetGpuStart(heap));
  list->SetComputeRootShaderResourceView(1, scene.Address());
  rays->SetPipelineState1(state);
  const D3D12_GPU_VIRTUAL_ADDRESS records = table.resource->GetGPUVirtualAddress();
  D3D12_DISPATCH_RAYS_DESC desc = {};
  desc.RayGenerationShaderRecord = {records, sizeof(Record)};
  desc.MissShaderTable = {records + sizeof(Record), sizeof(Record), sizeof(Record)};
  desc.HitGroupTable = {records + 2 * sizeof(Record), 2 * sizeof(Record), sizeof(Record)};
  desc.Width = kSize;
  desc.Height = kSize;
  desc.Depth = 1;
  const sample::Scope work(list, CAIRN_MARKER_DISPATCH_RAYS);
  rays->DispatchRays(&desc);
}

void CheckPicture(const sample::Picture& picture) {
  constexpr uint32_t kBlue = 0xffff0000;
  for (uint32_t i = 0; i < kInstances; ++i) {
    const uint32_t pixel =
        picture.Pixel(kSize / 4 + i % 2 * kSize / 2, kSize / 4 + i / 2 * kSize / 2);
    const uint32_t record = i % 2 == 0 ? 0x0000ff : 0x00ff00;
    if (pixel != (0xff000000 | (kFirstId + i) << 16 | record)) {
      sample::Fail(fmt::format("instance {} is wrong: {:#x}", i, pixel));
    }
  }
  if (picture.Pixel(0, 0) != kBlue || picture.Pixel(kSize / 2, kSize / 2) != kBlue) {
    sample::Fail("rays that hit nothing are wrong");
  }
}

void Run(const sample::Options& options, const std::string& fault, const std::string& path,
         uint32_t frames) {
  sample::Gpu gpu("sample-raytracing-d3d12", options, D3D_SHADER_MODEL_6_0);
  if (!sample::HasRayTracing(gpu.device())) sample::Lack("ray tracing");
  const auto device = sample::Newer<ID3D12Device5>(gpu.device());
  sample::Queue queue(gpu, CAIRN_QUEUE_DIRECT, "Graphics");
  const auto global = CreateGlobalSignature(device.get());
  const auto local = CreateLocalSignature(device.get());
  const auto state = CreateStateObject(device.get(), global.get(), local.get());
  const sample::Buffer brightness = gpu.CreateUploadBuffer(1);
  *reinterpret_cast<float*>(brightness.words) = 1;
  const sample::Buffer table = gpu.CreateUploadBuffer(sample::Words(4 * sizeof(Record)));
  WriteShaderTable(table, state.get(), brightness.resource->GetGPUVirtualAddress(), fault);
  sample::Picture picture(gpu, kSize, kSize, "Picture", D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
  Triangle triangle(gpu, device.get());
  sample::List list(gpu, queue, "Main");
  const auto rays = sample::Newer<ID3D12GraphicsCommandList4>(list.d3d12());
  const uint64_t bytes = BuildTriangle(gpu, queue, list, rays.get(), triangle);

  const sample::Buffer compacted = gpu.CreateGpuBuffer(
      sample::Words(bytes), D3D12_RESOURCE_STATE_RAYTRACING_ACCELERATION_STRUCTURE);
  sample::SetName(compacted.resource.get(), "Compacted triangle");
  const D3D12_GPU_VIRTUAL_ADDRESS address = compacted.resource->GetGPUVirtualAddress();
  const Instances instances(gpu, device.get(), address, fault == "instance");
  list.Begin();
  {
    const sample::Scope frame(list, CAIRN_MARKER_PASS, "Frame");
    {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, "Compact the triangle");
      rays->CopyRaytracingAccelerationStructure(
          address, triangle.level.Address(),
          D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE_COMPACT);
      list.Barrier();
    }
    {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, "Build the instances");
      instances.level.Build(list, rays.get());
    }
    Trace(list, rays.get(), state.get(), global.get(), picture, instances.level, table);
    picture.CopyToCpu(list);
  }
  list.End();
  queue.Execute({&list});
  queue.WaitOrReportLoss(20);
  if (!fault.empty()) {
    fmt::print("sample-raytracing-d3d12: this device ignored the fault\n");
    return;
  }
  CheckPicture(picture);
  triangle.Overwrite();
  instances.Overwrite();
  for (uint32_t frame = 1; frame < frames; ++frame) {
    gpu.telling().NextFrame(queue.d3d12());
    list.Begin();
    {
      const sample::Scope scope(list, CAIRN_MARKER_PASS, "Frame");
      Trace(list, rays.get(), state.get(), global.get(), picture, instances.level, table);
      picture.CopyToCpu(list);
    }
    list.End();
    queue.Execute({&list});
    queue.WaitOrReportLoss(20);
    CheckPicture(picture);
  }
  if (const std::string error = path.empty() ? "" : picture.WritePng(path); !error.empty()) {
    sample::Fail(error);
  }
  fmt::print("sample-raytracing-d3d12: {} instances of a triangle are correct\n", kInstances);
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Traces rays to a triangle that was built, moved and compacted.");
  sample::Options options;
  sample::AddOptions(line, &options);
  std::string fault;
  std::string path;
  uint32_t frames = 1;
  line.Text("--fault", &fault,
            "instance: one points nowhere; record: the last has no identifier; address: the last "
            "points nowhere");
  line.Text("--output", &path, "a PNG to write");
  line.Number("--frames", &frames, 1, 1000, "how often the picture is traced");
  line.Read(argc, argv);
  if (!fault.empty() && fault != "instance" && fault != "record" && fault != "address") {
    sample::Fail("--fault takes instance, record or address, not " + fault);
  }
  Run(options, fault, path, frames);
  return 0;
}
