// SPDX-License-Identifier: Apache-2.0
//
// Shared by the source files of pix_macros_test: C++11.
#ifndef CAIRN_FORMAT_PIX_TESTING_PIX_MACROS_TEST_H_
#define CAIRN_FORMAT_PIX_TESTING_PIX_MACROS_TEST_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cairn_pix_test {

// Stands where a command list or queue would.
struct CallCounter {
  struct Call {
    char what;  // 'b'egin, 'm'arker, 'e'nd
    std::uint32_t metadata;
    std::vector<unsigned char> bytes;
  };
  std::vector<Call> calls;

  void BeginEvent(std::uint32_t metadata, const void* data, std::uint32_t size) {
    Add('b', metadata, data, size);
  }
  void SetMarker(std::uint32_t metadata, const void* data, std::uint32_t size) {
    Add('m', metadata, data, size);
  }
  void EndEvent() { Add('e', 0, nullptr, 0); }

 private:
  void Add(char what, std::uint32_t metadata, const void* data, std::uint32_t size) {
    const unsigned char* const first = static_cast<const unsigned char*>(data);
    Call call = {what, metadata, std::vector<unsigned char>(first, first + size)};
    calls.push_back(call);
  }
};

// pix_macros_calls.inc, compiled with nothing defined, USE_PIX, USE_PIX_RETAIL, both, CAIRN_NO_PIX and
// USE_PIX_RETAIL, and version 2 of the blob with a timestamp.
void CallWithNothing(CallCounter& context, int& evaluated);
void CallWithPix(CallCounter& context, int& evaluated);
void CallWithRetail(CallCounter& context, int& evaluated);
void CallWithPixAndRetail(CallCounter& context, int& evaluated);
void CallWithoutPix(CallCounter& context, int& evaluated);
void CallWithVersion2(CallCounter& context, int& evaluated);

}  // namespace cairn_pix_test

#endif  // CAIRN_FORMAT_PIX_TESTING_PIX_MACROS_TEST_H_
