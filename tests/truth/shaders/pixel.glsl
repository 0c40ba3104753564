// SPDX-License-Identifier: Apache-2.0
//
// 8 x 8 pixels, each with a word of its own: the first instance notes that it began, the last that it ended.
#include "misdeed.glsl"

layout(location = 0) flat in uint instance;
layout(location = 0) out vec4 target;

// Of the draw; C++: kPixels.
layout(constant_id = 0) const uint width = 8u;

void main()
{
    uint lane = uint(gl_FragCoord.y) * width + uint(gl_FragCoord.x);
    if (instance == 0u) Words(work.notes).dwords[lane] = 1u;
    memoryBarrierBuffer();
    uint result = misbehave(lane, 0u);
    memoryBarrierBuffer();
    // A draw of many instances ends in the order in which it paints.
    if (instance == Words(work.notes).dwords[65] && result != 12345u) Words(work.notes).dwords[lane] = 2u;
    target = vec4(1.0);
}
