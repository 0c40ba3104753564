// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_TESTS_PROGRAMS_SEND_DESCRIPTORS_H_
#define CAIRN_TESTS_PROGRAMS_SEND_DESCRIPTORS_H_

#include <sys/socket.h>

#include <cstring>
#include <span>
#include <vector>

// One message with these descriptors. Returns false if it was not sent.
inline bool SendDescriptors(int socket, const void* bytes, size_t size,
                            std::span<const int> descriptors) {
  iovec data{const_cast<void*>(bytes), size};
  std::vector<char> control(CMSG_SPACE(descriptors.size_bytes()));
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* const part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
  }
  return sendmsg(socket, &header, MSG_NOSIGNAL) >= 0;
}

#endif  // CAIRN_TESTS_PROGRAMS_SEND_DESCRIPTORS_H_
