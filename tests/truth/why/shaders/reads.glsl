// SPDX-License-Identifier: Apache-2.0
//
// READS_4096: 4,096 reads of `words`, each of which needs the one before, on and on in `at`, without a loop.
#define READ at = words[at & 63u] + 1u;
#define READS_4 READ READ READ READ

uint reads_16(uint at)
{
    READS_4 READS_4 READS_4 READS_4
    return at;
}

#define CALLS_4(call) at = call(at); at = call(at); at = call(at); at = call(at);
#define CALLS_16(call) CALLS_4(call) CALLS_4(call) CALLS_4(call) CALLS_4(call)

uint reads_256(uint at)
{
    CALLS_16(reads_16)
    return at;
}

#define READS_4096 CALLS_16(reads_256)
