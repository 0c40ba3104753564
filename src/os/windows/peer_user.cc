// SPDX-License-Identifier: Apache-2.0
#include "os/peer_user.h"

#include <winsock2.h>
// Included after windows.h.
#include <iphlpapi.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "os/windows/channel.h"
#include "os/windows/system.h"

namespace cairn {
namespace {

// Returns the ID of the process that has the end `there` of the connection; 0 if none has.
DWORD OwnerOf(const TcpEnd& there, const TcpEnd& here) {
  std::vector<std::byte> table;
  DWORD size = 1 << 16;
  DWORD error = ERROR_INSUFFICIENT_BUFFER;
  // The table grows while it is read.
  for (int i = 0; i < 8 && error == ERROR_INSUFFICIENT_BUFFER; ++i) {
    table.resize(size + 4096);
    size = static_cast<DWORD>(table.size());
    error = GetExtendedTcpTable(table.data(), &size, FALSE, AF_INET,
                                TCP_TABLE_OWNER_PID_CONNECTIONS, 0);
  }
  if (error != NO_ERROR) return 0;
  DWORD count = 0;
  std::memcpy(&count, table.data(), sizeof(count));
  const size_t start = offsetof(MIB_TCPTABLE_OWNER_PID, table);
  count = static_cast<DWORD>(
      std::min<size_t>(count, (table.size() - start) / sizeof(MIB_TCPROW_OWNER_PID)));
  for (DWORD i = 0; i < count; ++i) {
    MIB_TCPROW_OWNER_PID row;
    std::memcpy(&row, table.data() + start + i * sizeof(row), sizeof(row));
    if (row.dwLocalAddr == htonl(there.address) && row.dwRemoteAddr == htonl(here.address) &&
        static_cast<u_short>(row.dwLocalPort) == htons(there.port) &&
        static_cast<u_short>(row.dwRemotePort) == htons(here.port)) {
      return row.dwOwningPid;
    }
  }
  return 0;
}

}  // namespace

PeerUsers::PeerUsers() = default;

PeerUser PeerUsers::Find(const TcpEnd& there, const TcpEnd& here) {
  const DWORD owner = OwnerOf(there, here);
  if (owner == 0) return PeerUser::kUnknown;
  const SystemHandle process =
      Owned(::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, owner));
  // Processes of others may not be looked at.
  if (!process.valid()) {
    return GetLastError() == ERROR_ACCESS_DENIED ? PeerUser::kOther : PeerUser::kUnknown;
  }
  const std::wstring user = UserOf(HandleOf(process));
  return !user.empty() && user == UserOf(GetCurrentProcess()) ? PeerUser::kSame : PeerUser::kOther;
}

}  // namespace cairn
