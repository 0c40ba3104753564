// SPDX-License-Identifier: Apache-2.0
//
// Stores value + i at dword first + i of the buffer, for every i below count:
// work whose result a program can check dword by dword.
// Dispatch (count + 63) / 64 groups; threads past count store nothing.
// Profile cs_5_0, entry point main, 64 threads a group.
// Bindings: u0, raw buffer; b0, 3 dwords of root constants.

RWByteAddressBuffer destination : register(u0);

cbuffer Fill : register(b0)
{
    uint value;
    uint first; // in dwords
    uint count; // in dwords
};

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    if (thread.x < count)
        destination.Store((first + thread.x) * 4, value + thread.x);
}
