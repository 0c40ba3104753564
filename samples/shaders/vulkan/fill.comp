#version 450
// SPDX-License-Identifier: Apache-2.0
//
// Stores value + i at dword first + i of the buffer, for every i below count:
// work whose result a program can check dword by dword.
// Dispatch (count + 63) / 64 groups of 64; threads past count store nothing.
// Bindings: set 0 binding 0, storage buffer; push constants, 12 bytes from
// offset 0.

layout(local_size_x = 64) in;

layout(set = 0, binding = 0, std430) buffer Destination
{
    uint dwords[];
} destination;

layout(push_constant) uniform Fill
{
    uint value;
    uint first; // in dwords
    uint count; // in dwords
} fill;

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i < fill.count)
        destination.dwords[fill.first + i] = fill.value + i;
}
