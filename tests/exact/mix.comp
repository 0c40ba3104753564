#version 450
// SPDX-License-Identifier: Apache-2.0
//
// Mixes what it reads into what is there, so that the result tells each dispatch from any other and from
// its being left out: its descriptors, its push constants and its place in the order.
layout(local_size_x = 64) in;

layout(set = 0, binding = 0, std430) readonly buffer From
{
    uint dwords[];
} from;

layout(set = 1, binding = 0, std430) buffer Into
{
    uint dwords[];
} into;

layout(push_constant) uniform Mix
{
    uint factor;
    uint addend;
    uint shift;
    uint more;
} mixing;

void main()
{
    uint i = gl_LocalInvocationID.x;
    uint x = into.dwords[i] * (2u * mixing.factor + 1u) + from.dwords[i] + mixing.addend;
    into.dwords[i] = (x ^ (x >> (mixing.shift & 15u))) + mixing.more;
}
