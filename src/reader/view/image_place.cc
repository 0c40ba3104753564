// SPDX-License-Identifier: Apache-2.0
#include "reader/view/image_place.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "base/text.h"
#include "format/calls/object_text.h"
#include "format/trace/trace_state.h"

namespace cairn::cli {
namespace {

// Returns the reason why an object has no image; nullptr for a texture.
const char* NoTexture(const TracedObject& object) {
  if (object.chain != Chain::kID3D12Resource) return ObjectKindText(object.chain).c_str();
  return object.resource && object.resource->gpu_address != 0 ? "buffer" : nullptr;
}

}  // namespace

Result<ImagePlace> FindImagePlace(TraceReader& trace, const std::string& name,
                                  const ImagePlace& wanted) {
  const uint64_t frames = trace.frame_count();
  const uint64_t first = trace.first_frame().value_or(0);
  if (wanted.frame) {
    const Result<uint64_t> ordinal = trace.OrdinalOf(*wanted.frame);
    if (!ordinal.ok() || *ordinal >= frames) {
      return Status(StatusCode::kInvalidArgument,
                    frames == 0 ? fmt::format("--frame: {} has no ends of frames", name)
                                : fmt::format("--frame: {} has the frames {} to {}", name, first,
                                              first + frames - 1));
    }
  }
  ImagePlace place = wanted;
  if (!place.frame && !place.call && frames != 0) place.frame = first + frames - 1;
  return place;
}

Result<ImageObjects> ImageObjects::Read(TraceReader& trace, const ImagePlace& place,
                                        const Progress& progress) {
  ImageObjects found;
  found.shown_ = kNoObject;
  bool has_call = !place.call.has_value();
  TraceState state(trace);
  TraceCursor cursor(trace);
  Record record;
  while (cursor.Next(&record)) {
    if (place.call && record.number > *place.call) break;
    if (place.call == record.number && record.kind == RecordKind::kCall) has_call = true;
    (void)state.Apply(record);
    if (record.kind == RecordKind::kFrame) {
      found.shown_ = record.object;
      if (place.frame && trace.first_frame().value_or(0) + cursor.frame() >= *place.frame) break;
    }
    if (!progress(record.number, trace.record_count())) {
      return Status(StatusCode::kIo, "stopped");
    }
  }
  CAIRN_RETURN_IF_ERROR(cursor.status());
  if (!has_call) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("--call: there is no call {}; cairn calls lists them",
                              GroupedDigits(*place.call)));
  }
  for (const auto& [number, object] : state.objects()) {
    if (object.ended != 0) continue;
    found.alive_[number] = NoTexture(object);
    if (!object.name.empty()) found.names_[number] = object.name;
  }
  return found;
}

Result<std::unordered_set<uint64_t>> ImageObjects::Choose(
    std::span<const std::string> words) const {
  std::unordered_set<uint64_t> chosen;
  for (const std::string& word : words) {
    const std::optional<uint64_t> number = ObjectNumberIn(word);
    std::vector<uint64_t> meant;
    if (number && alive_.contains(*number)) {
      meant.push_back(*number);
    } else {
      for (const auto& [named, name] : names_) {
        if (name == word) meant.push_back(named);
      }
    }
    const char* other = nullptr;  // what it is instead of a texture
    bool has_texture = false;
    for (const uint64_t object : meant) {
      if (alive_.at(object) == nullptr) {
        chosen.insert(object);
        has_texture = true;
      } else {
        other = alive_.at(object);
      }
    }
    if (has_texture) continue;
    return Status(StatusCode::kInvalidArgument,
                  meant.empty()
                      ? fmt::format("--object: nothing that lives there is called '{}'; cairn "
                                    "objects --alive lists what does",
                                    word)
                      : fmt::format("--object: '{}' is a {}, not a texture", word, other));
  }
  return chosen;
}

std::string ImageObjects::NameOf(uint64_t object) const {
  const auto found = names_.find(object);
  return found == names_.end() ? "" : found->second;
}

}  // namespace cairn::cli
