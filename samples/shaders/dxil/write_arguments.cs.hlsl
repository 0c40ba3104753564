// SPDX-License-Identifier: Apache-2.0
//
// Writes the arguments of two ExecuteIndirect: a draw for each cell whose number is no multiple of three, side by side,
// with their count, and four dispatches. The one that `unwritten` names is left as the memory was.
// One group of 64 threads, a thread a cell.
// Profile cs_6_0, entry point main.
// Bindings: u0, raw buffer; b0, 1 dword of root constants.

RWByteAddressBuffer arguments : register(u0);

cbuffer Frame : register(b0)
{
    uint unwritten;
};

// In dwords, as indirect_d3d12.cc has them.
static const uint kCommand = 5;
static const uint kCount = 64 * kCommand;
static const uint kDispatches = kCount + 4;

[numthreads(64, 1, 1)]
void main(uint cell : SV_GroupIndex)
{
    bool visible = cell % 3 != 0;
    if (visible)
    {
        uint before = cell - (cell + 2) / 3;
        uint at = before * kCommand * 4;
        // A root constant, then D3D12_DRAW_ARGUMENTS.
        arguments.Store(at, cell);
        arguments.Store4(at + 4, uint4(3, 1, 0, 0));
    }
    // A wave operation, which no shader model before 6 has.
    uint visible_count = WaveActiveCountBits(visible);
    uint ignored;
    if (WaveIsFirstLane())
        arguments.InterlockedAdd(kCount * 4, visible_count, ignored);

    if (cell < 4 && cell != unwritten)
    {
        uint at = (kDispatches + cell * kCommand) * 4;
        // Two root constants, then D3D12_DISPATCH_ARGUMENTS.
        arguments.Store2(at, uint2(cell * 64, (cell + 1) * 1000));
        arguments.Store3(at + 8, uint3(1, 1, 1));
    }
}
