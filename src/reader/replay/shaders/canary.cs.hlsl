// SPDX-License-Identifier: Apache-2.0
//
// Stores (value ^ thread) at the dword of each thread: work that cannot fail, and that no program has. Experiments know it
// by its hash (kPlayersShader), and leave it as it is.
// Dispatch one group.
// Profile cs_5_0, entry point main, 64 threads a group.
// Bindings: u0, raw buffer of 64 dwords; b0, 1 dword of root constants.

RWByteAddressBuffer destination : register(u0);

cbuffer Canary : register(b0)
{
    uint value;
};

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    destination.Store(thread.x * 4, value ^ thread.x);
}
