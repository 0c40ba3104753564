// SPDX-License-Identifier: Apache-2.0
//
// What reports say of misbehave, whichever way it ends.
#ifndef CAIRN_TESTS_PROGRAMS_MISBEHAVE_REPORT_H_
#define CAIRN_TESTS_PROGRAMS_MISBEHAVE_REPORT_H_

namespace cairn::testing {

// The report's tree when misbehave stops its GPU in Blur.
inline constexpr char kTreeInBlur[] = R"(<Frame 1>
 - [>] queue 0 "Graphics" (direct), submission 1, command list 1 "Main"
    └─[>] Frame
       ├─[X] Opaque
       │  ├─[X] DRAW_INDEXED #1, graphics pipeline "Basic" [ VS: MainVS | PS: MainPS ]
       │  └─[X] DRAW_INDEXED #2, graphics pipeline "Basic" [ VS: MainVS | PS: MainPS ]
       ├─[>] DISPATCH #1: "Blur", compute pipeline "Blur" [ CS: BlurCS ]
       └─[ ] DISPATCH #2, compute pipeline "Blur" [ CS: BlurCS ]
)";

// The detail of a signal or an exception that the library's handler saw.
inline constexpr char kAtThatMoment[] = "the report shows the state at that moment";

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_PROGRAMS_MISBEHAVE_REPORT_H_
