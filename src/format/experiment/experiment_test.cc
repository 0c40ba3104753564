// SPDX-License-Identifier: Apache-2.0
#include "format/experiment/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(Experiment, IsReadAsItIsWritten) {
  const Experiment experiments[] = {
      {},
      {.change = Change::kBarrierBefore},
      {.change = Change::kBarrierAfter},
      {.change = Change::kSerialQueues},
      {.change = Change::kKeepAlive},
      {.change = Change::kRobust},
      {.change = Change::kFillMemory, .fill = 0xfe},
      {.change = Change::kFillMemory, .fill = 0},
      {.change = Change::kKeepAlive, .fill = 0xfe, .fills = true},
      {.change = Change::kEmptyStage, .stage = EmptiedStage::kVertex},
      {.change = Change::kEmptyStage, .shaders = {0xa1, 0xb2}, .stage = EmptiedStage::kFragment},
      {.change = Change::kEmptyStage, .stage = EmptiedStage::kCompute},
      {.change = Change::kEmptyBinding},
      {.change = Change::kEmptyBinding, .shaders = {0xa1}},
      {.change = Change::kEmptyBinding,
       .shaders = {0xa1, 0xb2},
       .binding = {BindingPlace::From::kDescriptor, 0, 3}},
      {.change = Change::kEmptyBinding, .binding = {BindingPlace::From::kDescriptor, ~0u, ~0u}},
      {.change = Change::kEmptyBinding, .binding = {BindingPlace::From::kPushConstants}},
      {.change = Change::kEmptyBinding, .binding = {BindingPlace::From::kVertexInput, 0, 2}},
      {.change = Change::kLimitCounts, .counts = 1 << 24},
      {.change = Change::kLimitCounts, .counts = Experiment::kOnlyCount},
      {.change = Change::kMoreTime, .times = 10},
      {.change = Change::kLimitLoops, .trips = 65536},
      {.change = Change::kLimitLoops,
       .trips = Experiment::kOnlyCount,
       .shaders = {1, ~uint64_t{0}}},
      {.change = Change::kLimitLoops, .trips = 1, .shaders = {0xa1}, .loop = 2},
      {.change = Change::kCheckBounds},
      {.change = Change::kCheckBounds, .shaders = {0xa1, 0xb2}, .only_counts = true},
      {.change = Change::kLimitLoops, .trips = 1, .loop = 0},
  };
  for (const Experiment& experiment : experiments) {
    EXPECT_EQ(ParseExperiment(FormatExperiment(experiment)), experiment)
        << FormatExperiment(experiment);
  }
}

TEST(Experiment, IsAShortText) {
  EXPECT_EQ(FormatExperiment(
                {.change = Change::kLimitLoops, .trips = 65536, .shaders = {0xa1}, .loop = 2}),
            "loops=65536,shader=00000000000000a1,loop=2");
  EXPECT_EQ(FormatExperiment({.change = Change::kCheckBounds, .shaders = {0xa1}}),
            "bounds=skip,shader=00000000000000a1");
  EXPECT_EQ(FormatExperiment({.change = Change::kCheckBounds, .only_counts = true}),
            "bounds=count");
  EXPECT_EQ(FormatExperiment({.change = Change::kFillMemory, .fill = 0xfe}), "memory=fe");
  EXPECT_EQ(FormatExperiment({.change = Change::kKeepAlive, .fill = 0xfe, .fills = true}),
            "keep-alive,memory=fe");
  EXPECT_EQ(
      FormatExperiment(
          {.change = Change::kEmptyStage, .shaders = {0xa1}, .stage = EmptiedStage::kFragment}),
      "stage=fragment,shader=00000000000000a1");
  EXPECT_EQ(FormatExperiment({.change = Change::kEmptyBinding,
                              .shaders = {0xa1},
                              .binding = {BindingPlace::From::kDescriptor, 1, 3}}),
            "binding=1.3,shader=00000000000000a1");
  EXPECT_EQ(FormatExperiment({.change = Change::kEmptyBinding}), "binding=none");
  EXPECT_EQ(FormatExperiment(
                {.change = Change::kEmptyBinding, .binding = {BindingPlace::From::kPushConstants}}),
            "binding=push-constants");
  EXPECT_EQ(FormatExperiment({.change = Change::kEmptyBinding,
                              .binding = {BindingPlace::From::kVertexInput, 0, 2}}),
            "binding=input.2");
  EXPECT_EQ(FormatExperiment({.change = Change::kLimitCounts, .counts = 1 << 24}),
            "counts=16777216");
  EXPECT_EQ(FormatExperiment({.change = Change::kMoreTime, .times = 10}), "time=10");
  EXPECT_EQ(FormatExperiment({.change = Change::kKeepAlive}), "keep-alive");
  EXPECT_EQ(FormatExperiment({.change = Change::kRobust}), "robust");
}

TEST(Experiment, IsNoOtherText) {
  for (const char* text : {"loops",
                           "loops=",
                           "loops=0",
                           "loops=-1",
                           "loops=4294967296",
                           "loops=1,",
                           "loops=1,loop=",
                           "loops=1,loop=1,shader=00000000000000a1",
                           "loops=1,shader=a1",
                           "loops=1,loop=1,loop=2",
                           "loops=1x",
                           "bounds",
                           "bounds=",
                           "bounds=skip,",
                           "bounds=skip,loop=1",
                           "bounds=count,shader=a1",
                           "memory=",
                           "memory=f",
                           "memory=fff",
                           "memory=0x",
                           "memory=fe,",
                           "stage=",
                           "stage=pixel",
                           "stage=vertex,loop=1",
                           "binding",
                           "binding=",
                           "binding=1",
                           "binding=1.",
                           "binding=.1",
                           "binding=1.2.3",
                           "binding=-1.2",
                           "binding=input",
                           "binding=input.",
                           "binding=input.x",
                           "binding=none,",
                           "binding=0.3,loop=1",
                           "counts=",
                           "counts=0",
                           "counts=1,shader=00000000000000a1",
                           "time=",
                           "time=1",
                           "time=10,",
                           "robust=",
                           "robust,",
                           "barrier",
                           "keep-alive,",
                           " keep-alive"}) {
    EXPECT_EQ(ParseExperiment(text), std::nullopt) << text;
  }
  std::string many = "loops=1";
  for (size_t i = 0; i <= Experiment::kMostShaders; ++i) many += ",shader=00000000000000a1";
  EXPECT_EQ(ParseExperiment(many), std::nullopt);
}

}  // namespace
}  // namespace cairn
