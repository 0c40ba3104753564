// SPDX-License-Identifier: Apache-2.0
//
// One thread stores `value` at dword `index`. In range this is an ordinary
// store; given a view that claims more elements than its buffer has, it is the
// stray write that the samples are made to find.
// Dispatch one group.
// Profile cs_5_0, entry point main, 1 thread a group.
// Bindings: u0, typed buffer (R32_UINT); b0, 2 dwords of root constants.
//
// Typed rather than raw: a typed element number reaches four times as far as a
// raw byte offset of the same 32 bits.

RWBuffer<uint> destination : register(u0);

cbuffer Fault : register(b0)
{
    uint index; // in dwords
    uint value;
};

[numthreads(1, 1, 1)]
void main()
{
    destination[index] = value;
}
