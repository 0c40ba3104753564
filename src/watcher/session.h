// SPDX-License-Identifier: Apache-2.0
//
// Makes all decisions of a watcher, without the processes: events go in, and it acts through two
// interfaces. It decides which messages are taken, which processes are watched and until when, when
// the blocks are read, which files are written, which processes are killed, and which lines are
// printed. It has no clock and no thread of its own; watch_loop.h gives it the real system,
// session_test.cc one that can do everything in every order.
#ifndef CAIRN_WATCHER_SESSION_H_
#define CAIRN_WATCHER_SESSION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "os/descendants.h"
#include "os/process.h"
#include "os/shared_memory.h"
#include "watcher/block_bounds.h"
#include "watcher/descendant_log.h"
#include "watcher/handover_receiver.h"
#include "watcher/output_names.h"
#include "watcher/session_output.h"
#include "watcher/spoken_lines.h"
#include "watcher/watched_block.h"
#include "watcher/watcher.h"

namespace cairn {

// The most that programs can make a watcher spend, whatever they do; docs/reference/bounds.md.
inline constexpr size_t kMaxWatched = 4096;  // processes at once; those beyond run unwatched
inline constexpr size_t kMaxCaptures = 16;   // at once; those beyond are not captured
// While so many captures of programs that replaced themselves are still being written, no other begins.
inline constexpr size_t kMaxEndings = 32;
inline constexpr uint64_t kMaxFiles = 4096;   // that one watcher makes
inline constexpr uint64_t kMaxUnwritten = 8;  // reports that are told instead of written
inline constexpr uint64_t kMaxLines = 200;  // on stderr, and one that says how many more there were

// A process that survives being killed for this time is stuck inside a driver and cannot be ended.
inline constexpr uint64_t kUnkillableNs = uint64_t{5} * 1'000'000'000;

// The time that a wrapper's death waits for that of a program that it may only pass on: some kill themselves first.
inline constexpr uint64_t kPassedOnNs = uint64_t{1} * 1'000'000'000;

// The time that a program has to obey SIGTERM: from then on a second one kills it.
inline constexpr uint64_t kObeyNs = uint64_t{5} * 1'000'000'000;

// How often orphans are forgotten while the program itself runs, and has GPU work that is followed.
inline constexpr uint64_t kForgetNs = uint64_t{5} * 1'000'000'000;
// A process that still runs so long after the program's end is named in a line.
inline constexpr uint64_t kTellAwaitedNs = uint64_t{1} * 1'000'000'000;

// The memory of all blocks' probes between two looks at their words, at most. Beyond, the block that takes the most is
// no longer looked at.
inline constexpr uint64_t kMostProbeBytes = uint64_t{48} << 20;
// The bytes of the states that are kept of all processes, at most. Beyond, the newest state is not kept.
inline constexpr uint64_t kMostKeptBytes = uint64_t{64} << 20;
// The shared memory that is resident in the watcher, at most. Beyond, it forgets the pages of all blocks.
inline constexpr uint64_t kMostResidentBytes = uint64_t{32} << 20;
// The time that words are looked at, or messages taken, before the session checks for anything more urgent.
inline constexpr uint64_t kAtOnceNs = 20'000'000;
// Looking at all blocks takes half of the time at most.
inline constexpr uint64_t kShareOfTime = 2;
// The time between two checks whether a capture has come to its end.
inline constexpr uint64_t kLookAtEndingNs = 2'000'000;

inline constexpr size_t kMaxNamed = 8;  // processes in one line

inline constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

struct SessionSettings {
  WatchPolicy policy;
  // The dump of the first process with breadcrumbs. A second process's goes to NAME-PID.cairn. "":
  // PROGRAM.cairn in the working directory, after the program that has them, not after what started it.
  std::string output_path;
  // True if the program was told to capture. The trace is in the same file as a report. Otherwise
  // requests to capture are refused.
  bool capture = false;
  // An armed capture starts when a file comes to be here, and stops when it is gone again. "": none.
  std::string capture_trigger_path;
  // True: the session stays for processes that the program leaves behind and that have no block
  // yet.
  bool stays_for_descendants = true;
  // Takes one line (without its end) per incident.
  std::function<void(const std::string& line)> say;
  // The same for what is missing: reports that could not be written, processes that are not watched.
  std::function<void(const std::string& line)> warn;
  // Takes the path of each report that was written, behind its line, and once its file has this name; a later one of a
  // process replaces it there. May be empty.
  std::function<void(const std::string& path)> report_written;
  // Takes the reason why a capture could not be written, beside the line that says so. May be empty.
  std::function<void(const Status& why)> capture_lost;
  // Takes a report that could not be written, as the bytes of its file, whole or cut, so that its
  // verdict is printed all the same. At most kMaxUnwritten times. Empty: not wanted.
  std::function<void(std::span<const std::byte> file)> tell_unwritten;
};

// The processes of this machine, as the session needs them. `process`: the number that the session gave it.
// One thread.
class WatchedSystem {
 public:
  virtual ~WatchedSystem() = default;

  virtual uint64_t MonotonicNs() = 0;
  virtual uint64_t RealtimeNs() = 0;

  // Returns the next message. False: none for now.
  virtual bool Receive(ReceivedMessage* received) = 0;
  // Returns the number of connections that were rejected before they could send anything.
  virtual uint64_t TurnedAway() = 0;

  enum class Watching {
    kAlive,  // Session::OnEnded will be called
    kGone,   // it has ended, and nothing more can be learned of it
    kNoRoom,
  };
  virtual Watching Watch(uint64_t process, ProcessHandle handle) = 0;
  // Returns how a process ended and stops watching it. The process must have ended.
  virtual ProcessEnd CollectEnd(uint64_t process) = 0;
  // Stops watching a process whose end is not needed.
  virtual void Forget(uint64_t process) = 0;
  virtual ProcessCondition ConditionOf(uint64_t process) = 0;
  // Both are false for one that has just ended.
  virtual bool Kill(uint64_t process) = 0;
  virtual bool PassOn(uint64_t process, int signal_number) = 0;

  // Accept any process; return "" if it is gone.
  virtual std::string ProgramOf(ProcessId id) = 0;
  virtual std::string CommandLineOf(ProcessId id) = 0;
  // Returns the live processes that have a block and were given this watcher's address.
  virtual std::vector<ProcessId> ProcessesWithBlock() = 0;

  // os/memory.h.
  virtual uint64_t SharedBytesInUse() { return 0; }

  // os/descendants.h. A system that does not show them has none.
  virtual std::vector<Descendant> LivingDescendants() { return {}; }
  virtual ProcessLook LookAt(ProcessId, const LookFor&) { return {}; }
  // Reaps processes that ended, were left to this process by others, and are not watched.
  virtual void ForgetOrphans() {}
};

// One thread.
class WatchSession {
 public:
  // Both interfaces outlive the session.
  WatchSession(const SessionSettings& settings, WatchedSystem* system, SessionOutput* output);
  // Captures end.
  ~WatchSession();
  WatchSession(const WatchSession&) = delete;
  WatchSession& operator=(const WatchSession&) = delete;

  // Adds the first process, number 0. Reports its end in the same call if it is gone already.
  Status AddMainProcess(ProcessHandle handle, std::string program, std::string command_line);

  // Observes the descendants of the main process from its start: to explain at the end why no work
  // of theirs was seen, and to stay for those that outlive it. Call it before AddMainProcess.
  void FollowDescendants(RunFacts run) { descendants_.emplace(std::move(run)); }

  // Events. They may come in any order, also for processes that are gone.
  void OnMessages();
  void OnEnded(uint64_t process);
  void OnTime();
  // A capture starts, and the next time stops.
  void OnTrigger();
  // The user wants the program to have this signal. A second SIGTERM, kObeyNs after the first, kills all that is
  // watched instead.
  void OnSignal(int signal_number);

  // Processes that handed over a block are watched to their end, also when the first one has ended.
  bool Finished() const;
  // Returns the time of OnTime's next work, by the system's monotonic clock. kNever: OnTime has
  // none until an event comes.
  uint64_t NextTimeNs() const;
  // Prints the last lines. Call once, when the session is finished.
  void SayLast();

  // Returns how the first process ended.
  const ProcessEnd& end() const { return processes_.at(0)->end; }
  bool killed_for_hang() const;
  bool captured() const { return captured_; }
  // A report or a trace could not be written.
  bool lost_output() const { return lost_output_; }

 private:
  struct Process {
    Process(uint64_t process_number, ProcessId process_id, const WatchPolicy& policy)
        : number(process_number), id(process_id), watch(policy) {}

    uint64_t number;  // in the order in which they came; the main process is 0
    ProcessId id;
    bool gone = false;  // before it could be opened: it ends when what it sent has been read
    ProcessWatch watch;
    WatchedBlock block;
    std::string program;       // for people
    std::string command_line;  // as started
    std::string output_path;   // once it has one
    OutputNames::OfProcess output_names;
    std::unique_ptr<SessionCapture> capture;
    bool ended = false;
    uint64_t end_seen_at = kNever;       // so many messages had been taken then
    bool has_report_in_capture = false;  // whose file gets its name when the capture ends
    bool ends_capture = false;           // it has ended, and what is left of its capture is written
    bool abandoned = false;              // survived being killed
    ProcessEnd end;
    // Ended by a signal that it may only have passed on: until then nothing is said of that.
    uint64_t judged_at_ns = kNever;
    uint64_t next_probe_ns = kNever;
    uint64_t probe_cost_ns = 0;  // of the last one
    uint64_t probe_late_ns = 0;  // on purpose, the next one
    uint64_t busy_seen_ns = 0;   // busy_ns_ at the last one
    uint64_t killed_at_ns = kNever;
    // By a signal that was passed on, after the main process's end, or by SIGKILL because it did not obey SIGTERM.
    uint64_t asked_to_end_at_ns = kNever;

    bool alive() const { return !ended && !abandoned; }
    bool awaits_judgement() const { return judged_at_ns != kNever || ends_capture; }
    // Since when it should be gone.
    uint64_t doomed_at_ns() const { return std::min(killed_at_ns, asked_to_end_at_ns); }
  };

  bool main_alive() const { return processes_.at(0)->alive(); }
  // Null: it cannot be watched.
  Process* AddProcess(ProcessHandle handle);
  // The last one that had this number of the system; null: none did.
  Process* ProcessWith(ProcessId id);
  void ForgetEnded();
  // The process is not watched, or not captured: said of the first one.
  void Refuse(ProcessId sender, const char* why);
  void SayUnwatched();

  // False: there may be more, and other work has its turn.
  bool TakeMessages();
  void HandleMessage(ReceivedMessage& received);
  // The process that sent it; one that was not known is watched from now on. Null: it cannot be.
  Process* SenderOf(ReceivedMessage& received);
  void TakeBlock(ReceivedMessage& received);
  void TakeCapture(ReceivedMessage& received);
  size_t CaptureCount() const;
  void StartCapture(Process& process, SharedMemory region);
  void FinishCapture(Process& process);
  // Returns the path of its file; "" if there is none.
  std::string FinishCapture(std::unique_ptr<SessionCapture> capture, const std::string& program);
  void LookAtEndings();
  bool EndingsGoOn() const;

  void End(Process& process);
  void JudgeSoon(Process& process);
  void JudgeEnd(Process& process);
  // Judges the processes that may have passed on a death, once no process remains whose death that
  // may be.
  void JudgeWrappers();
  bool IsPassedOn(const ProcessEnd& end) const;
  uint64_t NextLookNs() const;
  void LookAtDescendants();
  void SayWhyNothing();
  // Reads its program and its command line, which change with an exec.
  void NameProcess(Process& process);
  void ProbeThoseDue();
  void Probe(Process& process);
  void BoundProbes();
  void BoundKeptStates(Process& newest);
  void SayIfHangsCannotBeNoticed(const Process& process);
  void NoticeLostDevices(Process& process);
  void CarryOut(Process& process, const Decision& decision);
  bool Kill(Process& process);
  void SayIfItGoesOn();
  void KillAll();
  void GiveUpOn(Process& process);
  // `where`: the name of the file that it is in, when the user reads of it.
  Status WriteReport(Process& process, const Decision& decision, std::string* where,
                     std::vector<std::byte>* unwritten);
  void ChooseOutputPath(Process& process);
  std::string NextPath(Process& process);

  // Counts the time until it goes out of scope.
  class Work {
   public:
    explicit Work(WatchSession* session)
        : session_(*session), begun_ns_(session->system_.MonotonicNs()) {}
    // A longer time means that the watcher was suspended itself.
    ~Work() {
      session_.busy_ns_ += std::min<uint64_t>(session_.system_.MonotonicNs() - begun_ns_, kMost);
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

   private:
    static constexpr uint64_t kMost = 2'000'000'000;
    WatchSession& session_;
    uint64_t begun_ns_;
  };

  SessionSettings settings_;
  WatchedSystem& system_;
  SessionOutput& output_;
  SpokenLines lines_;
  OutputNames names_;
  BlockBounds blocks_;
  // The capture of a program that replaced itself with another, while the rest of it is written.
  struct Ending {
    std::unique_ptr<SessionCapture> capture;
    std::string program;
  };
  std::vector<Ending> endings_;
  uint64_t busy_ns_ = 0;  // with anything
  uint64_t messages_taken_ = 0;
  std::vector<Process*> due_;
  bool said_not_probed_ = false;
  bool captured_ = false;
  bool killed_for_hang_ = false;
  bool lost_output_ = false;
  uint64_t terminated_at_ns_ = kNever;  // the first SIGTERM, while the main process lives
  bool said_goes_on_ = false;
  bool killed_all_ = false;  // it did not obey
  uint64_t unwritten_ = 0;
  bool said_without_words_ = false;
  uint64_t refused_ = 0;  // hand-overs
  std::optional<DescendantLog> descendants_;
  bool had_work_ = false;  // any process, that is followed: a block, or a capture
  uint64_t looked_ns_ = 0;
  uint64_t last_end_ns_ = kNever;     // of a process, when the main one had ended
  std::vector<ProcessId> unwatched_;  // that cannot be, and live
  std::vector<std::string> awaited_;  // after the main process's end
  bool said_awaited_ = false;
  bool awaits_nobody_ = false;  // the user has had enough
  // The signals that processes with GPU work died of, and true if one of them died of an unknown
  // cause.
  std::set<int> deaths_;
  bool died_of_unknown_ = false;
  uint64_t next_number_ = 0;
  // The processes by their number. Ended ones are removed; the main process stays.
  std::map<uint64_t, std::unique_ptr<Process>> processes_;
};

// Returns the program that a command runs, as it is named in lines.
std::string ProgramInWords(std::string_view command);

}  // namespace cairn

#endif  // CAIRN_WATCHER_SESSION_H_
