// SPDX-License-Identifier: Apache-2.0
//
// What all shaders share. The line that ends with "culprit" has the condition of the loop of the fault: the program finds
// it in the source within the SPIR-V, and tells it as the truth. No loop is without an end: each asks spent().
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

layout(buffer_reference, std430, buffer_reference_align = 4) volatile buffer Target
{
    uint dwords[];
};

layout(set = 0, binding = 0, std430) volatile buffer Words
{
    uint words[];
};

// C++: Constants of machine.h
layout(push_constant) uniform Constants
{
    uvec2 address;
    uvec2 other;
    uint most_trips; // of the loops of an invocation together
    uint count;
    float start;
    float step;
    float limit;
    uint value;
} constants;

// C++: Place of machine.h. In front: 64 zeros.
#define RESULTS 64u
#define RESULT_COUNT 1024u
#define LIST 1088u
#define TABLE 1104u
#define TABLE_SIZE 16u
#define LOCK 1120u
#define FLAG 1121u
#define BOUND 1122u

uint trips = 0u;

// One trip of a loop: true if it was the last that this invocation may make. It waits for memory, so that a trip takes
// a while on any device.
bool spent()
{
    trips += 1u + words[trips & 63u];
    return trips >= constants.most_trips;
}

void finish(uint at, uint result)
{
    words[RESULTS + at % RESULT_COUNT] = result;
}
