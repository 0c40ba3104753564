// SPDX-License-Identifier: Apache-2.0
//
// Declares a verb's command line. CLI11 reads it, and is seen in command.cc and main.cc alone:
// every other file would take seconds longer to compile.
//
//   Command command(root, "trim", "Cuts frames out of a trace.", "cairn trim [OPTIONS] FILE", kExamples);
//   command.Option("file", &options->path, "FILE", "A .cairn file with a trace");
//   command.Option("--repeats", &options->repeats, "COUNT", "How often").From(1, 1000).WithDefault();
//   command.Flag("--json", &options->json, "Print JSON");
#ifndef CAIRN_CLI_COMMAND_H_
#define CAIRN_CLI_COMMAND_H_

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cairn::cli {

// The lines of the program's own --help about these.
void SetHelp(CLI::App& app, const std::string& usage, const std::string& examples);
// Prints --help of `app`: of the program, or of one of its verbs. False as PrintOutput.
bool PrintHelp(const CLI::App& root, const CLI::App& app);
// Declares that a foreign command line follows "--", so that shells complete it as one. Call it after SetHelp.
void SetTakesProgram(CLI::App& verb);

// A declared option; later settings of it change the command line.
class CommandOption {
 public:
  explicit CommandOption(CLI::Option* option) : option_(option) {}

  CommandOption WithDefault();  // the help says the value that it has now
  CommandOption From(uint64_t least, uint64_t most);
  CommandOption OneOf(std::vector<std::string> values);
  CommandOption Without(CommandOption other);  // not together with the other
  CommandOption OnlyWith(CommandOption other);
  CommandOption Hidden();

 private:
  CLI::Option* option_;
};

class Command {
 public:
  // `usage`, all options and `examples` are the text of --help.
  Command(CLI::App& root, const std::string& verb, const std::string& purpose,
          const std::string& usage, const std::string& examples);

  // Names that begin with "-" are options, others the next word that is none. `value` outlives the
  // parsing, and keeps what it has if the option is not given. `type`: what the help calls the value.
  CommandOption Option(const std::string& names, std::string* value, const std::string& type,
                       const std::string& help);
  CommandOption Option(const std::string& names, int* value, const std::string& type,
                       const std::string& help);
  CommandOption Option(const std::string& names, uint32_t* value, const std::string& type,
                       const std::string& help);
  CommandOption Option(const std::string& names, uint64_t* value, const std::string& type,
                       const std::string& help);
  // An option may be given several times, with one value each; words that are none are all words.
  CommandOption Option(const std::string& names, std::vector<std::string>* values,
                       const std::string& type, const std::string& help);
  CommandOption Flag(const std::string& names, bool* value, const std::string& help = "");
  // An option whose value may be left out. `given` becomes true with and without one.
  CommandOption OptionOfMaybe(const std::string& names, std::string* value, bool* given,
                              const std::string& type, const std::string& help);
  // A flag that may be given a word: --validate stands for --validate=WITHOUT. `value` is "" if it is not given.
  CommandOption FlagWithWord(const std::string& name, std::string* value,
                             const std::string& without, const std::string& help);

  // Options of several verbs.
  CommandOption Json(bool* json);  // what is printed is JSON, one document with a schema in docs/
  void TraceFile(std::string* path);
  void DumpFile(std::string* path);  // a .cairn file, whatever it holds
  // Words that are no options are .cairn files, which shells offer. The two above say so, too.
  void OffersDumps();
  // A frame or a range of them (cli/numbers.h). `help` says what is done with them.
  CommandOption Frames(std::string* frames, const std::string& help);
  CommandOption Call(std::string* call, const std::string& help);  // the number of one
  void Library(std::string* library);                              // the Direct3D 12 that plays
  void Adapter(std::string* adapter);                              // the GPU that it plays on
  void PlayTimeout(std::string* timeout);
  void NoPlayLimit(bool* no_limit);  // plays what asks for more than a file of its size may

  void Hide();  // the list of verbs leaves it out

  CLI::App* app() const { return app_; }

 private:
  CLI::App* app_;
};

}  // namespace cairn::cli

#endif  // CAIRN_CLI_COMMAND_H_
