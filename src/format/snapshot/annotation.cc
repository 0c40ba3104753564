// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/annotation.h"

#include <span>
#include <string>

#include "format/pix/pix_event.h"

namespace cairn {

uint32_t AddAnnotation(const AnnotationHeader& header, TextRef payload, uint64_t* text_budget_bytes,
                       Snapshot* snapshot) {
  const std::string_view bytes = snapshot->Text(payload);
  const std::span<const std::byte> payload_bytes = std::as_bytes(std::span(bytes));
  const PixEvent event = DecodePixEvent(header.metadata, payload_bytes, header.size);
  const std::string name = event.complete && event.format != PixFormat::kUnknown
                               ? event.text
                               : PixText(header.metadata, payload_bytes, header.size);
  if (name.size() > *text_budget_bytes) return kNone;
  *text_budget_bytes -= name.size();
  Annotation annotation;
  annotation.event_id = header.event_id;
  annotation.metadata = header.metadata;
  annotation.size_bytes = header.size;
  annotation.has_colour = event.colour.kind == PixColourKind::kArgb;
  annotation.colour = annotation.has_colour ? event.colour.value : 0;
  annotation.payload = payload;
  annotation.name = snapshot->AddText(name);
  snapshot->annotations.push_back(annotation);
  return static_cast<uint32_t>(snapshot->annotations.size() - 1);
}

}  // namespace cairn
