// SPDX-License-Identifier: Apache-2.0
#include "cairn/user_data.h"

#include <cstddef>
#include <cstring>
#include <mutex>
#include <span>
#include <string_view>

#include "app/api/errors.h"
#include "app/recorder/block_writer.h"
#include "app/recorder/user_data.h"
#include "os/library.h"

namespace cairn {
namespace {

static_assert(CAIRN_USER_DATA_MAX_ENTRIES == kMaxUserData &&
              CAIRN_USER_DATA_MAX_KEY_BYTES == kMaxUserDataKeyBytes &&
              CAIRN_USER_DATA_MAX_BYTES == kMaxUserDataBytes);

// The writer of this process's block; a forked child has a block of its own. Never freed: threads may call while the
// process ends.
Result<UserDataWriter*> WriterOfThisProcess() {
  static std::mutex& mutex = *new std::mutex;
  static UserDataWriter* writer = nullptr;
  const std::lock_guard lock(mutex);
  if (writer != nullptr && writer->block().BelongsToThisProcess()) return writer;
  const Result<BlockWriter*> block = BlockWriter::OfThisProcess(kDefaultBlockBytes);
  if (!block.ok()) return block.status();
  return writer = new UserDataWriter(**block);
}

// A key that is too long is not read to its end.
std::string_view KeyOf(const char* key) {
  return key == nullptr ? std::string_view()
                        : std::string_view(key, strnlen(key, kMaxUserDataKeyBytes + 1));
}

// The function of a copy of Cairn that is preloaded, as under `cairn run`, while this copy has no block: a block of its
// own would take the place of the other one's at the watcher. Null if there is none.
template <typename Function>
Function OfPreloadedCopy(const char* name) {
  static const int own = 0;
  if (BlockWriter::FindOfThisProcess() != nullptr) return nullptr;
  return reinterpret_cast<Function>(FindSharedFunction(name, &own));
}

// Keeps the other copy's message as this one's.
CairnResult FinishOfPreloadedCopy(CairnResult result) {
  if (result == CAIRN_OK) return result;
  const auto message =
      OfPreloadedCopy<decltype(&cairnGetLastErrorMessage)>("cairnGetLastErrorMessage");
  return Fail(result, message == nullptr ? "" : message());
}

}  // namespace
}  // namespace cairn

CairnResult cairnSetUserData(const char* key, const void* data, size_t size_bytes) {
  if (data == nullptr && size_bytes != 0) {
    return cairn::Fail(CAIRN_ERROR_INVALID_ARGUMENT, "data is NULL, and size_bytes is not 0");
  }
  return cairn::Guarded([&] {
    const cairn::Status valid = cairn::CheckUserData(cairn::KeyOf(key), size_bytes);
    if (!valid.ok()) return cairn::Fail(valid);
    if (const auto set = cairn::OfPreloadedCopy<decltype(&cairnSetUserData)>("cairnSetUserData");
        set != nullptr) {
      return cairn::FinishOfPreloadedCopy(set(key, data, size_bytes));
    }
    const cairn::Result<cairn::UserDataWriter*> writer = cairn::WriterOfThisProcess();
    if (!writer.ok()) return cairn::Fail(writer.status());
    const std::span bytes(static_cast<const std::byte*>(data), size_bytes);
    return cairn::Finish((*writer)->Set(cairn::KeyOf(key), bytes));
  });
}

CairnResult cairnRemoveUserData(const char* key) {
  return cairn::Guarded([&] {
    const cairn::Status valid = cairn::CheckUserData(cairn::KeyOf(key), 0);
    if (!valid.ok()) return cairn::Fail(valid);
    if (const auto remove =
            cairn::OfPreloadedCopy<decltype(&cairnRemoveUserData)>("cairnRemoveUserData");
        remove != nullptr) {
      return cairn::FinishOfPreloadedCopy(remove(key));
    }
    // Nothing was set without a block.
    if (cairn::BlockWriter::FindOfThisProcess() == nullptr) return CAIRN_OK;
    const cairn::Result<cairn::UserDataWriter*> writer = cairn::WriterOfThisProcess();
    if (!writer.ok()) return cairn::Fail(writer.status());
    return cairn::Finish((*writer)->Remove(cairn::KeyOf(key)));
  });
}
