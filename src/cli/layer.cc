// SPDX-License-Identifier: Apache-2.0
#include "cli/layer.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "os/environment.h"
#include "os/process.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

bool IsFile(const FilePath& path) {
  return FactsAt(path).type == fs::file_type::regular;
}

}  // namespace

Result<std::string> FindLayerLibrary() {
  const char* const named = OwnVariable(kLayerPathVariable);
  if (const std::string path = named == nullptr ? "" : named; !path.empty()) {
    std::error_code error;
    if (IsFile(path)) return TextOfPath(fs::absolute(FilePath(path), error));
    return Status(StatusCode::kNotFound,
                  fmt::format("{}={} is no file; name the library {}, or unset it",
                              kLayerPathVariable, path, kLayerLibrary));
  }
  const std::vector<FilePath> places = LayerPlaces();
  for (const FilePath& place : places) {
    if (IsFile(place)) return TextOfPath(place);
  }
  return Status(StatusCode::kNotFound,
                fmt::format("{} is not in {}; name it in {}, or say --no-layer", kLayerLibrary,
                            TextOfPath(places.back().parent_path()), kLayerPathVariable));
}

bool IsNotForOtherPrograms() {
#if defined(CAIRN_SANITIZED)
  const char* const named = OwnVariable(kLayerPathVariable);
  return named == nullptr || named[0] == 0;
#else
  return false;
#endif
}

Result<std::string> PreloadedLayer() {
  if (IsNotForOtherPrograms()) return std::string();
  Result<std::string> layer = FindLayerLibrary();
  if (!layer.ok()) return layer;
  const Status checked = CheckPreloaded(*layer);
  if (checked.ok()) return layer;
  return Status(checked.code(), fmt::format("{}; install it elsewhere, or name a link to it in {}",
                                            checked.message(), kLayerPathVariable));
}

bool EnvironmentAsksForCapture() {
  const char* const value = OwnVariable("CAIRN_CAPTURE");
  return value != nullptr && std::string_view(value).starts_with("on");
}

}  // namespace cairn::cli
