// SPDX-License-Identifier: Apache-2.0
//
// Decodes what a kDevice record says of its device.
#ifndef CAIRN_FORMAT_CALLS_RECORDED_DEVICE_H_
#define CAIRN_FORMAT_CALLS_RECORDED_DEVICE_H_

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "format/calls/record.h"
#include "format/calls/value_decoder.h"

namespace cairn {

struct RecordedDevice {
  DeviceBody body{};
  std::string_view gpu;  // in the record; as it was recorded, not made visible
  std::string_view driver;
  std::string_view application;
  // LUID of its adapter, high part first. Equal LUIDs of one trace are one adapter; nothing else is known by it: the
  // system gives other ones each time it starts. Missing where the implementation does not know it, and in traces of versions that did not record it.
  std::optional<uint64_t> adapter_luid;
  // Place of its adapter in the enumeration of that machine, from 0. Missing as the LUID is.
  std::optional<uint32_t> adapter_place;
};

inline std::string LuidText(uint64_t luid) {
  return fmt::format("0x{:016x}", luid);
}

// "adapter 1, LUID 0x0000000000012345", as far as it is known.
inline std::string AdapterText(const RecordedDevice& device) {
  std::string text;
  if (device.adapter_place) text = fmt::format("adapter {}", *device.adapter_place);
  if (!device.adapter_luid) return text;
  return text + (text.empty() ? "adapter " : ", ") + "LUID " + LuidText(*device.adapter_luid);
}

// Texts that are cut are empty. Errors: kCorrupt: the record is too short.
inline Result<RecordedDevice> DecodeDevice(const Record& record) {
  std::span<const std::byte> rest = record.body;
  const Result<DeviceBody> body = DecodeBody<DeviceBody>(&rest);
  if (!body.ok()) return body.status();
  RecordedDevice device;
  device.body = *body;
  for (std::string_view* const text : {&device.gpu, &device.driver, &device.application}) {
    const Result<uint32_t> size = DecodeBody<uint32_t>(&rest);
    if (!size.ok() || *size > rest.size()) return device;
    *text = {reinterpret_cast<const char*>(rest.data()), *size};
    rest = rest.subspan(*size);
  }
  const Result<uint64_t> luid = DecodeBody<uint64_t>(&rest);
  if (luid.ok() && *luid != 0) device.adapter_luid = *luid;
  const Result<uint32_t> from_one = DecodeBody<uint32_t>(&rest);
  if (from_one.ok() && *from_one != 0) device.adapter_place = *from_one - 1;
  return device;
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_RECORDED_DEVICE_H_
