// SPDX-License-Identifier: Apache-2.0
//
// The table of development and retail builds: which of the macros of cairn/pix.h reach the driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "annotations_device.h"
#include "format/pix/pix_event.h"

namespace cairn::annotations_test {

// annotations_pix_calls.inc without and with USE_PIX_RETAIL.
void CallPixOfDevelopmentBuild(ID3D12GraphicsCommandList* list);
void CallPixOfRetailBuild(ID3D12GraphicsCommandList* list);

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Environment environment("logging");

// Returns the calls that the driver receives in this mode: function and text.
std::vector<std::string> Heard(void (*calls)(ID3D12GraphicsCommandList*),
                               D3D12_USER_DEFINED_ANNOTATION_MODE mode) {
  RecordedCalls recorded;
  const auto device = CreateWrappedDevice();
  SetMode(device, mode);
  const List list = CreateList(device);
  calls(list.list.get());
  std::vector<std::string> heard;
  for (const Call& call : recorded.Take()) {
    std::string line = DriverFunctionName(call.function);
    if (call.data != nullptr) {
      line += " " + PixText(call.metadata, std::as_bytes(std::span(call.bytes)));
    }
    heard.push_back(line);
  }
  return heard;
}

const auto kEverything = ElementsAre(
    "pfnCmdListBeginEvent development", "pfnCmdListSetMarker development", "pfnCmdListEndEvent",
    "pfnCmdListBeginEvent retail", "pfnCmdListSetMarker retail", "pfnCmdListEndEvent");

TEST(Annotations, P1_DevelopmentBuildForwardsAllMarkers) {
  EXPECT_THAT(Heard(CallPixOfDevelopmentBuild, kDriverRetail), kEverything);
}

// The same as in development: it is the macros that were compiled, not the kind of build, that count.
TEST(Annotations, P1_RetailBuildWithoutUsePixRetailForwardsAllMarkers) {
  EXPECT_THAT(Heard(CallPixOfDevelopmentBuild, kDriverRetail), kEverything);
  EXPECT_THAT(Heard(CallPixOfDevelopmentBuild, kRuntimeOnly), IsEmpty());
}

TEST(Annotations, P1_RetailBuildInRuntimeOnlyForwardsNothing) {
  EXPECT_THAT(Heard(CallPixOfRetailBuild, kRuntimeOnly), IsEmpty());
}

TEST(Annotations, P1_RetailBuildInDriverRetailForwardsRetailMarkersOnly) {
  EXPECT_THAT(Heard(CallPixOfRetailBuild, kDriverRetail),
              ElementsAre("pfnCmdListBeginEvent retail", "pfnCmdListSetMarker retail",
                          "pfnCmdListEndEvent"));
}

}  // namespace
}  // namespace cairn::annotations_test
