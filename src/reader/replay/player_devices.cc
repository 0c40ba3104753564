// SPDX-License-Identifier: Apache-2.0
//
// The devices of a trace: on which adapter each is made, and how.
#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "d3d12abi/aggregates.h"
#include "format/calls/object_text.h"
#include "format/calls/recorded_device.h"
#include "reader/replay/player_impl.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

using CreateWithVersion = HRESULT(WINAPI*)(IUnknown*, D3D_FEATURE_LEVEL, REFIID, void**, int);
using CreatePlain = HRESULT(WINAPI*)(IUnknown*, D3D_FEATURE_LEVEL, REFIID, void**);

HRESULT CreateRealDevice(const D3D12Library& library, IUnknown* adapter, D3D_FEATURE_LEVEL level,
                         ComPtr<ID3D12Device>* device) {
  if (library.takes_api_version) {
    constexpr int kApiVersion10 = 0;
    return reinterpret_cast<CreateWithVersion>(library.create_device)(
        adapter, level, __uuidof(ID3D12Device), device->Receive(), kApiVersion10);
  }
  return reinterpret_cast<CreatePlain>(library.create_device)(
      adapter, level, __uuidof(ID3D12Device), device->Receive());
}

uint64_t LuidOf(ID3D12Device* device) {
  const LUID luid = GetAdapterLuid(device);
  return static_cast<uint64_t>(static_cast<uint32_t>(luid.HighPart)) << 32 | luid.LowPart;
}

// Implementations that do not tell their GPU are recorded with such a name.
constexpr std::string_view kNoName = "Direct3D 12 device";

RecordedAdapter AdapterIn(const RecordedDevice& device) {
  RecordedAdapter adapter = {.luid = device.adapter_luid,
                             .place = device.adapter_place,
                             .vendor_id = device.body.vendor_id,
                             .device_id = device.body.device_id,
                             .of_vulkan = device.driver.find(" on Vulkan ") != device.driver.npos};
  if (!device.gpu.starts_with(kNoName)) adapter.name = device.gpu;
  return adapter;
}

std::string InWords(const RecordedAdapter& recorded) {
  constexpr size_t kMostBytes = 256;
  std::string words = "on adapter";
  if (recorded.place) words += fmt::format(" {}", *recorded.place);
  if (recorded.name.empty()) return words + ", whose name is unknown,";
  return words + fmt::format(" \"{}\"", VisibleText(Utf8Prefix(recorded.name, kMostBytes)));
}

}  // namespace

std::string PlayerImpl::AdapterInWords(std::optional<uint32_t> place) const {
  if (!place || *place >= adapters_.adapters().size()) return "the default one";
  return fmt::format("adapter {} \"{}\"", *place, VisibleText(adapters_.adapters()[*place].name));
}

// Says how a device's adapter is not that of the recording. With one adapter there was no choice.
void PlayerImpl::NoteAdapter(uint64_t device, const RecordedAdapter& recorded,
                             std::optional<uint32_t> place) {
  if (adapters_.IsShared(recorded, place)) {
    log_.Note(fmt::format("the program had devices of several adapters: {} on {}",
                          adapters_.adapters().size() > 1 && !adapters_.asked()
                              ? "those of more than one are made"
                              : "all are made",
                          AdapterInWords(place)));
  }
  if (adapters_.asked() || adapters_.adapters().size() < 2) return;
  if (adapters_.IsAlike(recorded, place)) return;
  log_.Note(fmt::format(
      "{} was recorded {}, which is not here: it is made on {}; --adapter asks for "
      "another one",
      ObjectText(Chain::kID3D12Device, device), InWords(recorded), AdapterInWords(place)));
}

// Makes a device where `place` says, if there is a choice; without a place, where the implementation prefers it.
Status PlayerImpl::CreateDevice(D3D_FEATURE_LEVEL level, std::optional<uint32_t> place,
                                ComPtr<ID3D12Device>* device, HRESULT* result) {
  if (options_.create_device) {
    *device->Receive() = options_.create_device(level);
    *result = *device ? S_OK : E_FAIL;
    return Status();
  }
  const bool selects = adapters_.adapters().size() > 1 && place.has_value();
  ComPtr<IUnknown> adapter;
  if (selects) {
    const Result<void*> selected = SelectAdapter(*place);
    if (!selected.ok()) return selected.status();
    *adapter.Receive() = static_cast<IUnknown*>(*selected);
  }
  *result = CreateRealDevice(library_, adapter.get(), level, device);
  EndAdapterSelection();
  if (!selects || FAILED(*result) || !*device) return Status();
  const std::optional<uint32_t> made = AdapterPlaceOf(device->get(), LuidOf(device->get()));
  if (!made || *made == place) return Status();
  const std::string where = AdapterInWords(*made);
  if (!adapters_.asked()) {
    log_.Note(
        fmt::format("{} is not for this implementation of Direct3D 12: it makes a device on {}",
                    AdapterInWords(place), where));
    return Status();
  }
  *device = {};
  return {StatusCode::kUnsupported,
          fmt::format("--adapter: {} is not for this implementation of Direct3D 12: it makes the "
                      "device on {}",
                      AdapterInWords(place), where)};
}

Status PlayerImpl::OnDevice(const Record& record) {
  const Result<RecordedDevice> recorded = DecodeDevice(record);
  if (!recorded.ok()) {
    log_.LeaveOut(record.number, "a device: " + recorded.status().message());
    return Status();
  }
  const RecordedAdapter adapter = AdapterIn(*recorded);
  const std::optional<uint32_t> place = adapters_.Choose(adapter);
  NoteAdapter(record.object, adapter, place);
  if (options_.on_adapter && place) options_.on_adapter(*place);
  ComPtr<ID3D12Device> device;
  constexpr uint32_t kLowestLevel = D3D_FEATURE_LEVEL_11_0;
  const uint32_t recorded_level = recorded->body.feature_level;
  const uint32_t level = recorded_level == 0 ? kLowestLevel : recorded_level;
  HRESULT result = S_OK;
  const Status made = CreateDevice(static_cast<D3D_FEATURE_LEVEL>(level), place, &device, &result);
  if (!made.ok()) {
    return log_.Fail(PlayerFailure::kRefused, record.number, made.message(), made.code());
  }
  if (SUCCEEDED(result) && device) {
    had_device_ = true;
    const std::optional<uint32_t> made =
        options_.create_device ? place : AdapterPlaceOf(device.get(), LuidOf(device.get()));
    if (adapters_.IsAnother(adapter, made)) {
      other_devices_.insert(record.object);
      had_another_ = true;
      views_.KeepStructures();
    }
    new_devices_[record.object] = std::move(device);
    return Status();
  }
  const std::string what =
      fmt::format("no device with feature level {}_{} can be made here: 0x{:08X}; {}", level >> 12,
                  level >> 8 & 0xF, static_cast<uint32_t>(result), kNextWithoutDevice);
  // Without any there is nothing to play on.
  if (!had_device_ || options_.end_at_refusal) {
    return log_.Fail(PlayerFailure::kRefused, record.number, what, StatusCode::kNotFound);
  }
  log_.LeaveOut(record.number, what);
  return Status();
}

void PlayerImpl::TellDevice(ID3D12Device* device) const {
  if (options_.on_device) options_.on_device(DescribeDevice(library_, device, LuidOf(device)));
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
