// SPDX-License-Identifier: Apache-2.0
#include "reader/view/creation_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "format/trace/testing/test_trace.h"
#include "reader/view/trace_views.h"

namespace cairn::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr uint64_t kDevice = 1;
struct Bytes16 {
  uint8_t bytes[16] = {};
};

D3D12_INDIRECT_ARGUMENT_DESC ArgumentOf(uint32_t type) {
  D3D12_INDIRECT_ARGUMENT_DESC argument = {};
  std::memcpy(&argument.Type, &type, sizeof(type));
  return argument;
}

class CreationPartsTest : public testing::Test {
 protected:
  CreationPartsTest() { test_.Object(kDevice, Chain::kID3D12Device, kDevice); }

  uint64_t CreateSignature(const D3D12_COMMAND_SIGNATURE_DESC& desc) {
    void* made = nullptr;
    return test_.Make(Method::ID3D12Device_CreateCommandSignature, kDevice, &desc, nullptr,
                      Bytes16{}, &made);
  }
  Json Objects() {
    EXPECT_TRUE(test_.status().ok()) << test_.status().message();
    TraceReader trace = test_.Open();
    const Result<ObjectList> list = ListObjects(trace, {});
    EXPECT_TRUE(list.ok());
    text_ = ObjectsText(*list);
    std::string document;
    EXPECT_TRUE(WriteObjectsJson(*list, [&document](std::string_view piece) {
      document += piece;
      return true;
    }));
    const Json json = Json::Parse(document);
    EXPECT_EQ(SchemaViolation(Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/objects.schema.json"),
                              json),
              "");
    return json["objects"];
  }

  TestTrace test_;
  std::string text_;
};

TEST_F(CreationPartsTest, ArgumentsOfACommandSignature) {
  D3D12_INDIRECT_ARGUMENT_DESC arguments[5] = {};
  arguments[0] = ArgumentOf(D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT);
  arguments[0].Constant = {1, 2, 4};
  arguments[1] = ArgumentOf(D3D12_INDIRECT_ARGUMENT_TYPE_VERTEX_BUFFER_VIEW);
  arguments[1].VertexBuffer.Slot = 3;
  arguments[2] = ArgumentOf(D3D12_INDIRECT_ARGUMENT_TYPE_SHADER_RESOURCE_VIEW);
  arguments[2].ShaderResourceView.RootParameterIndex = 5;
  arguments[3] = ArgumentOf(99);
  arguments[4] = ArgumentOf(D3D12_INDIRECT_ARGUMENT_TYPE_DRAW_INDEXED);
  const uint64_t refused = CreateSignature({64, 5, arguments, 0});
  test_.Return(refused);
  const uint64_t call = CreateSignature({64, 5, arguments, 0});
  test_.Object(2, Chain::kID3D12CommandSignature, kDevice, call);
  test_.Object(3, Chain::kID3D12CommandSignature, kDevice, refused);
  const Json objects = Objects();
  EXPECT_EQ(objects[1]["command_signature"]["stride_bytes"], 64);
  EXPECT_EQ(objects[1]["command_signature"]["argument_count"], 5);
  EXPECT_EQ(objects[1]["command_signature"]["arguments"].dump(),
            R"(["CONSTANT root 1, 4 values at 2","VERTEX_BUFFER_VIEW slot 3",)"
            R"("SHADER_RESOURCE_VIEW root 5","type 99","DRAW_INDEXED"])");
  EXPECT_THAT(text_, HasSubstr("(64 bytes each: CONSTANT root 1, 4 values at 2; VERTEX_BUFFER_VIEW "
                               "slot 3; SHADER_RESOURCE_VIEW root 5; type 99; DRAW_INDEXED)\n"));
  EXPECT_FALSE(objects[2].contains("command_signature"));
}

TEST_F(CreationPartsTest, ArgumentsAreBounded) {
  const std::vector<D3D12_INDIRECT_ARGUMENT_DESC> arguments(
      1000, ArgumentOf(D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH));
  const SignatureParts parts = PartsOf(D3D12_COMMAND_SIGNATURE_DESC{12, 1000, arguments.data(), 0});
  EXPECT_EQ(kMostCreationParts, parts.arguments.size());
  EXPECT_THAT(InWords(parts), HasSubstr("; … 968 more"));
  // A count without an array.
  EXPECT_EQ("12 bytes each", InWords(PartsOf(D3D12_COMMAND_SIGNATURE_DESC{12, 1000, nullptr, 0})));
}

// Descriptions as they are decoded: names of 16 bits, objects as numbers.
template <typename Description>
D3D12_STATE_SUBOBJECT Part(uint32_t type, const Description& desc) {
  D3D12_STATE_SUBOBJECT part = {};
  std::memcpy(&part.Type, &type, sizeof(type));
  part.pDesc = &desc;
  return part;
}
const WCHAR* Name(const char16_t* name) {
  return reinterpret_cast<const WCHAR*>(name);
}

TEST_F(CreationPartsTest, ExportsOfAStateObject) {
  D3D12_DXIL_LIBRARY_DESC library = {};
  library.DXILLibrary.BytecodeLength = 5824;
  D3D12_EXPORT_DESC exports[2] = {};
  exports[0].Name = Name(u"RayGen");
  exports[1].Name = Name(u"Miss\x1b");
  exports[1].ExportToRename = Name(u"Sky");
  D3D12_DXIL_LIBRARY_DESC named = library;
  named.NumExports = 2;
  named.pExports = exports;
  D3D12_EXISTING_COLLECTION_DESC collection = {};
  const uint64_t number = 12;
  std::memcpy(&collection.pExistingCollection, &number, sizeof(number));
  D3D12_HIT_GROUP_DESC group = {};
  group.HitGroupExport = Name(u"Glass");
  group.AnyHitShaderImport = Name(u"Fade");
  group.ClosestHitShaderImport = Name(u"Refract");
  const D3D12_STATE_SUBOBJECT parts[] = {
      Part(D3D12_STATE_SUBOBJECT_TYPE_DXIL_LIBRARY, library),
      Part(D3D12_STATE_SUBOBJECT_TYPE_DXIL_LIBRARY, named),
      Part(D3D12_STATE_SUBOBJECT_TYPE_EXISTING_COLLECTION, collection),
      Part(D3D12_STATE_SUBOBJECT_TYPE_HIT_GROUP, group), Part(12345, group)};
  StateObjectParts taken =
      PartsOf(D3D12_STATE_OBJECT_DESC{D3D12_STATE_OBJECT_TYPE_RAYTRACING_PIPELINE, 5, parts});
  EXPECT_EQ(
      "RAYTRACING_PIPELINE: all exports of a library of 5,824 bytes; \"RayGen\" of a library of "
      "5,824 bytes; \"Miss\\x1b\" of a library of 5,824 bytes, there \"Sky\"; all exports of state "
      "object 12; hit group \"Glass\": any hit \"Fade\", closest hit \"Refract\"",
      InWords(taken));
  ASSERT_EQ(5u, taken.exports.size());
  EXPECT_EQ("", taken.exports[0].name);
  EXPECT_EQ("Glass", taken.exports[4].name);
  EXPECT_EQ("hit group", taken.exports[4].kind);
  taken.grows = 7;
  EXPECT_THAT(InWords(taken), StartsWith("RAYTRACING_PIPELINE, adds to state object 7: all"));
}

TEST_F(CreationPartsTest, ExportsAreBounded) {
  std::vector<D3D12_EXPORT_DESC> exports(1000, {Name(u"A"), nullptr, {}});
  D3D12_DXIL_LIBRARY_DESC library = {};
  library.NumExports = 1000;
  library.pExports = exports.data();
  const std::vector<D3D12_STATE_SUBOBJECT> many(
      100, Part(D3D12_STATE_SUBOBJECT_TYPE_DXIL_LIBRARY, library));
  const StateObjectParts parts =
      PartsOf(D3D12_STATE_OBJECT_DESC{D3D12_STATE_OBJECT_TYPE_COLLECTION, 100, many.data()});
  EXPECT_EQ(kMostCreationParts, parts.exports.size());
  EXPECT_EQ(100'000u, parts.export_count);
  EXPECT_THAT(InWords(parts), HasSubstr("; … 99,968 more"));
}

}  // namespace
}  // namespace cairn::cli
