// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_BASE_RESULT_NAME_H_
#define CAIRN_BASE_RESULT_NAME_H_

#include <cstdint>
#include <string_view>

namespace cairn {

// Returns the name of an HRESULT of Direct3D and DXGI: "E_INVALIDARG"; empty if it is unknown.
constexpr std::string_view HresultName(uint32_t code) {
  switch (code) {
    case 0x00000000: return "S_OK";
    case 0x00000001: return "S_FALSE";
    case 0x80004001: return "E_NOTIMPL";
    case 0x80004002: return "E_NOINTERFACE";
    case 0x80004003: return "E_POINTER";
    case 0x80004004: return "E_ABORT";
    case 0x80004005: return "E_FAIL";
    case 0x8000FFFF: return "E_UNEXPECTED";
    case 0x80070005: return "E_ACCESSDENIED";
    case 0x80070006: return "E_HANDLE";
    case 0x8007000E: return "E_OUTOFMEMORY";
    case 0x80070057: return "E_INVALIDARG";
    case 0x88760870: return "D3DDDIERR_DEVICEREMOVED";
    case 0x887A0001: return "DXGI_ERROR_INVALID_CALL";
    case 0x887A0002: return "DXGI_ERROR_NOT_FOUND";
    case 0x887A0003: return "DXGI_ERROR_MORE_DATA";
    case 0x887A0004: return "DXGI_ERROR_UNSUPPORTED";
    case 0x887A0005: return "DXGI_ERROR_DEVICE_REMOVED";
    case 0x887A0006: return "DXGI_ERROR_DEVICE_HUNG";
    case 0x887A0007: return "DXGI_ERROR_DEVICE_RESET";
    case 0x887A000A: return "DXGI_ERROR_WAS_STILL_DRAWING";
    case 0x887A0020: return "DXGI_ERROR_DRIVER_INTERNAL_ERROR";
    case 0x887A0026: return "DXGI_ERROR_ACCESS_LOST";
    case 0x887A0036: return "DXGI_ERROR_ALREADY_EXISTS";
    case 0x887E0001: return "D3D12_ERROR_ADAPTER_NOT_FOUND";
    case 0x887E0002: return "D3D12_ERROR_DRIVER_VERSION_MISMATCH";
    default: return {};
  }
}

}  // namespace cairn

#endif  // CAIRN_BASE_RESULT_NAME_H_
