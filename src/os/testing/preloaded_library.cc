// SPDX-License-Identifier: Apache-2.0
//
// A library that does nothing but be there.
extern "C" int cairn_preloaded_library() {
  return 1;
}
