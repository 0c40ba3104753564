// SPDX-License-Identifier: Apache-2.0
//
// A group a row of the picture: asks for a group of cells.ms for each of its eight cells.
// Profile as_6_5, entry point main.

struct Row
{
    uint row;
};

groupshared Row row;

[numthreads(1, 1, 1)]
void main(uint group : SV_GroupID)
{
    row.row = group;
    DispatchMesh(8, 1, 1, row);
}
