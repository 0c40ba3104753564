#version 450
// SPDX-License-Identifier: Apache-2.0
//
// One thread stores `value` through `address`. Given the address of a live
// buffer this is an ordinary store; given any other it is the stray write that
// the samples are made to find.
// Dispatch one group. Needs the device feature bufferDeviceAddress, and no
// 64-bit integers in shaders: the address travels as two dwords.
// Bindings: push constants, 12 bytes from offset 0.

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

layout(local_size_x = 1) in;

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Destination
{
    uint dword;
};

layout(push_constant) uniform Fault
{
    uvec2 address; // low dword, high dword: a little-endian 64-bit address
    uint value;
} fault;

void main()
{
    Destination(fault.address).dword = fault.value;
}
