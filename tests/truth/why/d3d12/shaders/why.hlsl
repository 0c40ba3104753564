// SPDX-License-Identifier: Apache-2.0
//
// Shared by all shaders. The line that ends with "culprit" has the condition of the loop of the fault. No loop is
// without an end: each asks Spent().
// Profiles cs_5_0, vs_5_0, ps_5_0. Bindings: the root signature of d3d12/machine.cc.

// The CPU has written them before; 64 zeros in front, which no compiler can know. C++: Place of d3d12/machine.h
ByteAddressBuffer words : register(t0);
RWByteAddressBuffer results : register(u0);
// Another buffer: by its address, and by a view.
RWByteAddressBuffer other : register(u1);
RWBuffer<uint> view : register(u2);

// C++: Constants of d3d12/machine.h
cbuffer Constants : register(b0)
{
    uint most_trips; // of the loops of a thread together
    uint count;
    float start;
    float step;
    float limit;
    uint value;
};

#define RESULT_COUNT 1024u
#define LIST 64u
#define FLAG 80u
#define BOUND 81u

uint Word(uint index)
{
    return words.Load(index * 4);
}

static uint trips = 0;

// One trip of a loop: true if it was the last that this thread may make. It waits for memory, so that a trip takes a
// while on any device.
bool Spent()
{
    trips += 1 + Word(trips & 63);
    return trips >= most_trips;
}

void Finish(uint at, uint result)
{
    results.Store(at % RESULT_COUNT * 4, result);
}
