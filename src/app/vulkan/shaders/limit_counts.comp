#version 450
// SPDX-License-Identifier: Apache-2.0
//
// Limits the arguments of vkCmdDispatchIndirect in a CountRecord (format/experiment/count_record.h), as LimitCounts does.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Records {
  uint words[];
} records;
layout(push_constant) uniform Constants {
  uint record;  // the first word of used
  uint most;    // 2^32 - 1: no limit
} constants;

void main() {
  const uint used = constants.record;
  const uint given = used + 4;
  const uint limited = used + 8;
  const uvec3 counts =
      uvec3(records.words[used], records.words[used + 1], records.words[used + 2]);
  if (constants.most == 0xffffffffu || any(equal(counts, uvec3(0)))) return;
  uint most = constants.most;
  uvec3 kept;
  for (int i = 0; i < 3; ++i) {
    kept[i] = min(counts[i], most);
    most /= kept[i];
  }
  if (kept == counts) return;
  for (int i = 0; i < 3; ++i) {
    if (records.words[limited] == 0) records.words[given + i] = counts[i];
    records.words[used + i] = kept[i];
  }
  records.words[limited] += 1;
}
