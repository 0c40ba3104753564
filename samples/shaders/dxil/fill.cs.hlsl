// SPDX-License-Identifier: Apache-2.0
//
// Stores value + i at dword first + i of the buffer, for the 64 threads i of a group. Nothing checks where that is.
// Profile cs_6_0, entry point main, 64 threads a group.
// Bindings: u0, raw buffer; b0, 2 dwords of root constants.

RWByteAddressBuffer destination : register(u0);

cbuffer Fill : register(b0)
{
    uint first; // in dwords
    uint value;
};

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    destination.Store((first + thread.x) * 4, value + thread.x);
}
