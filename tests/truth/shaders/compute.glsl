// SPDX-License-Identifier: Apache-2.0
//
// A dispatch of any number of groups: the first notes that it began, the last that it ended, each invocation
// in a word of its own.
#include "misdeed.glsl"

layout(local_size_x = 64) in;

void main()
{
    uint lane = gl_LocalInvocationIndex;
    if (gl_WorkGroupID == uvec3(0)) Words(work.notes).dwords[lane] = 1u;
    memoryBarrierBuffer();
    uint result = misbehave(lane, 0u);
    memoryBarrierBuffer();
    // Never 12345 in 64 rounds from a lane's number; the compiler cannot know.
    if (gl_WorkGroupID == gl_NumWorkGroups - uvec3(1) && result != 12345u)
    {
        Words(work.notes).dwords[lane] = 2u;
    }
}
