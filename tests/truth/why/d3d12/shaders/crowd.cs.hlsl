// SPDX-License-Identifier: Apache-2.0
//
// One of very many groups. It has no loop: 64 reads, each of which needs the one before.
#include "why.hlsl"

#define READ at = Word(at & 63) + 1;
#define READS_4 READ READ READ READ
#define READS_16 READS_4 READS_4 READS_4 READS_4

[numthreads(64, 1, 1)]
void main(uint3 thread : SV_DispatchThreadID)
{
    uint at = thread.x;
    READS_16 READS_16 READS_16 READS_16
    // Never 12345; the compiler cannot know.
    if (at == 12345) Finish(0, at);
}
