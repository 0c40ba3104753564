// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/layer.h"

namespace cairn::cli {
namespace {

constexpr char kLibrary[] = "libcairn-d3d12.so";
constexpr char kPathVariable[] = "CAIRN_LAYER_PATH";
constexpr char kPreloadVariable[] = "LD_PRELOAD";
constexpr std::string_view kPreloadSeparators = " :";

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<std::string> FindLayer() {
  namespace fs = std::filesystem;
  std::error_code error;
  if (const std::string path = Variable(kPathVariable); !path.empty()) {
    if (fs::is_regular_file(path, error)) return fs::absolute(path, error).string();
    return Status(StatusCode::kNotFound,
                  fmt::format("{}={} is no file; name the library {}, or unset it", kPathVariable,
                              path, kLibrary));
  }
  const fs::path root = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  for (const char* folder : {CAIRN_LIBRARY_FOLDER, "lib"}) {
    const fs::path path = root / folder / kLibrary;
    if (fs::is_regular_file(path, error)) return path.string();
  }
  return Status(StatusCode::kNotFound,
                fmt::format("{} is not in {}; name it in {}, or say --no-layer", kLibrary,
                            (root / "lib").string(), kPathVariable));
}

}  // namespace

Result<std::string> LayerPreload() {
#if defined(CAIRN_SANITIZED)
  if (Variable(kPathVariable).empty()) return std::string();
#endif
  const Result<std::string> layer = FindLayer();
  if (!layer.ok()) return layer.status();
  if (layer->find_first_of(kPreloadSeparators) != std::string::npos) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("the path of {} contains a space or a colon, which {} cannot express; "
                    "install it elsewhere, or name a link to it in {}",
                    *layer, kPreloadVariable, kPathVariable));
  }
  const std::string others = Variable(kPreloadVariable);
  return others.empty() ? *layer : *layer + ":" + others;
}

}  // namespace cairn::cli
