// SPDX-License-Identifier: Apache-2.0
//
// cairn report: what failed, in which command, and what to run next.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cairn/breadcrumbs.h"

#include "base/text.h"
#include "cli/bisect_parts.h"
#include "cli/command.h"
#include "cli/dump_file.h"
#include "cli/report_store.h"
#include "cli/terminal.h"
#include "cli/text_columns.h"
#include "cli/verb.h"
#include "cli/written_output.h"
#include "format/file/file_cost.h"
#include "os/file.h"
#include "os/terminal.h"
#include "reader/analysis/findings.h"
#include "reader/page/page.h"
#include "reader/report/extract.h"
#include "reader/report/json.h"
#include "reader/report/markdown.h"
#include "reader/report/redact.h"
#include "reader/report/text.h"
#include "reader/serve/why_answer.h"

namespace cairn::cli {
namespace {

constexpr uint32_t kMinWidth = 40;
constexpr uint32_t kMaxWidth = 10'000;

constexpr char kReportExamples[] =
    "Examples:\n"
    "  cairn report game.cairn                   what was running, and why that is concluded\n"
    "  cairn report --last                       the newest report of cairn watchd\n"
    "  cairn report --all game.cairn | less      completed and not started work as well\n"
    "  cairn report --json game.cairn            for programs; the schema is "
    "docs/formats/report.schema.json\n"
    "  cairn report --redact game.cairn          names replaced by hashes, to be sent elsewhere\n"
    "  cairn report --markdown game.cairn        the answer alone, for a bug tracker\n"
    "  cairn report --html game.cairn            one page for a browser, game.html, to be sent; it "
    "needs\n"
    "                                            no network\n"
    "  cairn report --html new.html game.cairn   the same, under another name\n"
    "  cairn report --extract DIR game.cairn     shaders, user data, the driver's binary, into "
    "files";

struct ReportOptions {
  std::string path;
  std::string width;
  std::string color = "auto";
  std::string extract;
  std::string html;  // the page's name
  std::string why;   // an answer of cairn why
  bool page = false;
  bool last = false;
  bool force = false;
  bool json = false;
  bool markdown = false;
  bool redact = false;
  bool all = false;
};

// 0 means "no limit" to the report.
Result<uint32_t> ParseWidth(const std::string& text) {
  if (text.empty()) return TextColumns();
  uint32_t width = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, width);
  if (error != std::errc() || rest != end ||
      (width != 0 && (width < kMinWidth || width > kMaxWidth))) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("--width: '{}' is not a number from {} to {} (0: no limit)", text,
                              kMinWidth, kMaxWidth));
  }
  return width;
}

Result<TextOptions> TextOptionsOf(const ReportOptions& options) {
  const Result<uint32_t> width = ParseWidth(options.width);
  if (!width.ok()) return width.status();
  TextOptions text;
  text.file = options.path;
  text.width = *width;
  text.whole_rows = options.width.empty() && OutputSize().columns == 0;
  text.colour = options.color == "always" || (options.color == "auto" && StdoutShowsColour());
  if (options.all) {
    text.print_flags = CAIRN_PRINT_FINISHED_LISTS | CAIRN_PRINT_NOT_STARTED_LISTS |
                       CAIRN_PRINT_FINISHED_NODES | CAIRN_PRINT_NOT_STARTED_NODES |
                       CAIRN_PRINT_EXTENDED_DEVICE_INFO;
  }
  return text;
}

int Extract(const ReportOptions& options, const Snapshot& snapshot) {
  const std::vector<ExtractedFile> files = FilesToExtract(snapshot);
  if (files.empty()) {
    PrintError(
        "report",
        fmt::format(
            "--extract: '{}' holds neither shader code nor user data nor a binary of a driver",
            options.path));
    return kExitFailed;
  }
  const FilePath folder(options.extract);
  if (const std::error_code error = MakeFolders(folder)) {
    const std::string what = fmt::format("--extract: cannot make '{}'", options.extract);
    PrintError("report", StatusFromError(error, what).message());
    return kExitFailed;
  }
  std::string written;
  int exit_code = 0;
  for (const ExtractedFile& file : files) {
    const std::filesystem::path path = (folder / file.name).make_preferred();
    const Status status = WriteNew("--extract", path, file.bytes, options.force);
    if (status.ok()) {
      written += fmt::format("{} ({} bytes)\n", VisibleText(path.string()), file.bytes.size());
    } else {
      PrintError("report", status.message());
      exit_code = kExitFailed;
    }
  }
  return PrintOutput("report", written) ? exit_code : kExitFailed;
}

int WriteHtml(const ReportOptions& options, const Snapshot& snapshot) {
  Result<std::string> why = std::string();
  if (!options.why.empty()) why = ReadWhyAnswer(options.why);
  if (!why.ok()) {
    PrintError("report", "--why: " + why.status().message());
    return kExitFailed;
  }
  const std::string name = TextOfPath(FilePath(options.path).filename());
  const Findings findings = AnalyseDump(snapshot);
  return WriteHtmlFile("report", options.html, options.force, [&](const auto& print) {
    return WritePage({.file = options.redact ? "redacted.cairn" : name,
                      .snapshot = &snapshot,
                      .findings = &findings,
                      .names_file = !options.redact,
                      .why = *why},
                     print);
  });
}

// "--html FILE.cairn" names no page, and "--html" none either: it stands beside the file, under its name.
Status NamePage(ReportOptions* options) {
  const auto ends_with = [options](const char* ending) { return options->html.ends_with(ending); };
  if (options->path.empty() && !ends_with(".html") && !ends_with(".htm")) {
    std::swap(options->path, options->html);
  }
  if (options->path.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("no file is given; say cairn report --html {} FILE.cairn",
                              options->html.empty() ? "PAGE.html" : options->html));
  }
  if (ends_with(".cairn")) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("--html: '{}' is the name of a .cairn file, not of a page; give one "
                              "file at a time, or say --html=PAGE.html",
                              options->html));
  }
  if (options->html.empty()) options->html = WithEnding(options->path, ".html");
  return Status();
}

int Run(ReportOptions options) {
  const bool both = options.last && !options.path.empty();
  if (!NameLastReport("report", options.last, &options.path))
    return both ? kExitUsage : kExitFailed;
  if (options.page) {
    if (const Status named = NamePage(&options); !named.ok()) {
      PrintError("report", named.message());
      return kExitUsage;
    }
  }
  Result<TextOptions> text_options = TextOptionsOf(options);
  if (!text_options.ok()) {
    PrintError("report", text_options.status().message());
    return kExitUsage;
  }
  const std::optional<FileReader> reader = OpenDumpFile("report", options.path);
  if (!reader.has_value()) return options.path.empty() ? kExitUsage : kExitFailed;
  std::optional<Snapshot> snapshot = ReadDump("report", options.path, *reader);
  if (!snapshot.has_value()) return kExitFailed;
  if (!options.extract.empty()) return Extract(options, *snapshot);
  if (options.redact) {
    snapshot = Redact(std::move(*snapshot));
    text_options->file.clear();  // of the next steps' commands nothing would be left
  }
  if (options.page) return WriteHtml(options, *snapshot);
  const Findings findings = AnalyseDump(*snapshot);
  const auto print = [](std::string_view text) { return PrintOutput("report", text); };
  if (options.markdown) {
    const std::string name = TextOfPath(FilePath(options.path).filename());
    return print(MarkdownReport(*snapshot, findings, options.redact ? "" : name)) ? 0 : kExitFailed;
  }
  const bool printed =
      options.json ? WriteJsonReport(*snapshot, findings, print,
                                     {.file = text_options->file,
                                      .most_bytes = FileBudget(reader->size_bytes(), kReportBytes)})
                   : print(TextReport(*snapshot, findings, *text_options));
  return printed ? 0 : kExitFailed;
}

}  // namespace

Verb AddReportVerb(CLI::App& root) {
  auto options = std::make_shared<ReportOptions>();
  Command command(
      root, "report",
      "Says what failed, in which draw or dispatch, how sure that is, and what to run next.",
      "cairn report [OPTIONS] FILE", kReportExamples);
  command.DumpFile(&options->path);
  AddLastOption(&command, &options->last);
  const CommandOption json = command.Json(&options->json);
  const CommandOption redact =
      command.Flag("--redact", &options->redact, "Replace names by hashes");
  const CommandOption extract =
      command
          .Option(
              "--extract", &options->extract, "DIR",
              "Write shaders, user data and the driver's binary into this folder, and no report")
          .Without(json)
          .Without(redact);
  const CommandOption markdown = command
                                     .Flag("--markdown", &options->markdown,
                                           "Print the answer alone, as Markdown for a bug tracker")
                                     .Without(json)
                                     .Without(extract);
  const CommandOption html =
      command
          .OptionOfMaybe(
              "--html", &options->html, &options->page, "PAGE",
              "Write the report as one page for a browser, which needs no network; beside "
              "the file, as NAME.html, if no name is given")
          .Without(json)
          .Without(markdown)
          .Without(extract);
  command
      .Option("--why", &options->why, "ANSWER",
              "Show this answer of cairn why --json on the page of --html, too")
      .OnlyWith(html)
      .Without(redact);
  command.Flag("--force", &options->force, "Let --extract and --html replace files");
  command.Flag("--all", &options->all,
               "Show completed and not started work and all device details");
  command.Option(
      "--width", &options->width, "N",
      "Columns to use, 0 for no limit; those of the terminal if not given, or where there is none, "
      "of COLUMNS or 100 for sentences");
  command.Option("--color", &options->color, "WHEN", "Colours")
      .OneOf({"auto", "always", "never"})
      .WithDefault();
  return {.app = command.app(), .run = [options] { return Run(*options); }, .pages = true};
}

}  // namespace cairn::cli
