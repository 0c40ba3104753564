// SPDX-License-Identifier: Apache-2.0
//
// A table by hash, with open addressing: the search ends at an empty slot, and none is empty.
uint probe(uint key)
{
    uint at = key;
    while (words[TABLE + at % TABLE_SIZE] != 0u) // culprit
    {
        ++at;
        if (spent()) break;
    }
    return at;
}
