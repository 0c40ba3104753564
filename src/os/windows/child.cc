// SPDX-License-Identifier: Apache-2.0
#include "os/child.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>

#include "os/file.h"
#include "os/windows/exit_code.h"
#include "os/windows/launch.h"
#include "os/windows/process_memory.h"
#include "os/windows/system.h"

namespace cairn {
namespace {

// "212:4096:1234": handle and size of the memory, and whose child it is for.
constexpr char kMemoryVariable[] = "CAIRN_CHILD_MEMORY";

// All that is in it dies when this process does, and cannot leave it.
SystemHandle MakeJob() {
  SystemHandle job = Owned(CreateJobObjectW(nullptr, nullptr));
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {};
  limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
  if (SetInformationJobObject(HandleOf(job), JobObjectExtendedLimitInformation, &limits,
                              sizeof(limits)) == 0) {
    return {};
  }
  return job;
}

// Empty; others may read it meanwhile.
SystemHandle EmptyFile(const std::filesystem::path& path) {
  return Owned(CreateFileW(SystemPath(path).c_str(), GENERIC_WRITE,
                           FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                           CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
}

Result<ProcessHandle> StartProcess(const ChildRequest& request, const SystemHandle& job,
                                   DWORD flags) {
  const std::string failed = fmt::format("a process for {} cannot be made", request.purpose);
  Launch launch;
  SystemHandle output, errors;
  if (!request.output.empty()) {
    output = EmptyFile(request.output);
    if (!output.valid()) return StatusFromLastError(failed);
    errors = EmptyFile(request.errors);
    if (!errors.valid()) return StatusFromLastError(failed);
    launch.output = HandleOf(output);
    launch.errors = HandleOf(errors);
  }
  launch.file = SystemPath(Wide(OwnProgramPath()));
  launch.words = {OwnProgramPath()};
  launch.words.insert(launch.words.end(), request.arguments.begin(), request.arguments.end());
  launch.environment = request.environment;
  SystemHandle memory;
  if (request.memory != nullptr) {
    memory = CopyOf(request.memory->handle());
    if (!memory.valid()) return StatusFromLastError(failed);
    launch.inherited.push_back(HandleOf(memory));
    launch.environment.push_back(fmt::format("{}={}:{}:{}", kMemoryVariable, memory.get(),
                                             request.memory->size_bytes(), OwnProcessId()));
  }
  launch.silent = request.silent;
  launch.job = HandleOf(job);
  launch.flags = flags | WithoutNewConsole();
  if (!job.valid()) return StatusFromLastError(failed);
  // Flush, so that the child's output comes behind this process's.
  std::fflush(nullptr);
  ProcessHandle process;
  const std::error_code error = LaunchProgram(launch, &process);
  if (error) return StatusFromError(error, failed);
  return process;
}

// "1:2:3"
bool ParseNumbers(std::string_view text, std::span<uint64_t> numbers) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (uint64_t& number : numbers) {
    if (&number != numbers.data() && (at == end || *at++ != ':')) return false;
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return false;
    at = rest;
  }
  return at == end;
}

// The child obeys requests that the console sends to all of its processes.
BOOL WINAPI LeaveItToTheChild(DWORD) {
  return TRUE;
}

std::atomic<FaultThread>* g_told = nullptr;
DWORD g_telling_thread = 0;

void TellFault() {
  const bool here = GetCurrentThreadId() == g_telling_thread;
  g_told->store(here ? FaultThread::kCaller : FaultThread::kOther, std::memory_order_relaxed);
}

LONG WINAPI OnUnhandledException(EXCEPTION_POINTERS*) {
  TellFault();
  return EXCEPTION_CONTINUE_SEARCH;
}

// Wine ends a thread without a stack before it comes to unhandled exceptions.
LONG WINAPI OnStackOverflow(EXCEPTION_POINTERS* what) {
  if (what->ExceptionRecord->ExceptionCode == EXCEPTION_STACK_OVERFLOW) TellFault();
  return EXCEPTION_CONTINUE_SEARCH;
}

// The C runtime ends the process when this returns.
void TellAbort(int) {
  TellFault();
}

}  // namespace

struct Child::State {
  SystemHandle job;
  ProcessHandle process;
  bool collected = false;

  ~State() {
    if (!collected && process.handle.valid()) (void)KillProcess(process);
  }
};

Result<Child> Child::Start(const ChildRequest& request) {
  auto state = std::make_unique<State>();
  state->job = MakeJob();
  Result<ProcessHandle> process = StartProcess(request, state->job, CREATE_NEW_PROCESS_GROUP);
  if (!process.ok()) return process.status();
  state->process = std::move(*process);
  return Child(std::move(state));
}

Child::Child(std::unique_ptr<State> state) : state_(std::move(state)) {}
Child::Child(Child&& other) noexcept = default;
Child& Child::operator=(Child&& other) noexcept = default;
Child::~Child() = default;

bool Child::WaitForEnd(uint64_t timeout_ns) const {
  return WaitForSingleObject(HandleOf(state_->process.handle), Milliseconds(timeout_ns)) ==
         WAIT_OBJECT_0;
}

Status Child::Kill() const {
  return KillProcess(state_->process);
}

Status Child::AskAllToEnd() const {
  const auto group = static_cast<DWORD>(state_->process.pid);
  if (GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, group) != 0 || (WaitForEnd(0) && !GroupLives())) {
    return {};
  }
  return Status(StatusCode::kUnsupported,
                fmt::format("process {} cannot be asked to end: it shares no console with this one",
                            state_->process.pid));
}

Status Child::KillAll() const {
  if (TerminateJobObject(HandleOf(state_->job), kKilledExitCode) != 0) return {};
  return StatusFromLastError("the processes of a child cannot be ended");
}

bool Child::GroupLives() const {
  struct {
    JOBOBJECT_BASIC_PROCESS_ID_LIST list;
    ULONG_PTR more[255];
  } found = {};
  // More than fit are an error, and more than one.
  if (QueryInformationJobObject(HandleOf(state_->job), JobObjectBasicProcessIdList, &found,
                                sizeof(found), nullptr) == 0) {
    return GetLastError() == ERROR_MORE_DATA;
  }
  for (DWORD i = 0; i < found.list.NumberOfProcessIdsInList; ++i) {
    const ULONG_PTR id = i == 0 ? found.list.ProcessIdList[0] : found.more[i - 1];
    if (id != static_cast<ULONG_PTR>(state_->process.pid)) return true;
  }
  return false;
}

ProcessEnd Child::End() {
  state_->collected = true;
  return CollectEnd(state_->process);
}

uint64_t Child::number() const {
  return static_cast<uint64_t>(state_->process.pid);
}

Result<ProcessEnd> RunInForeground(const ChildRequest& request) {
  const SystemHandle job = MakeJob();
  SetConsoleCtrlHandler(LeaveItToTheChild, TRUE);
  const Result<ProcessHandle> process = StartProcess(request, job, 0);
  if (process.ok()) WaitForSingleObject(HandleOf(process->handle), INFINITE);
  SetConsoleCtrlHandler(LeaveItToTheChild, FALSE);
  if (!process.ok()) return process.status();
  return CollectEnd(*process);
}

std::string CauseOfDeath(int value) {
  return NameOfExitCode(static_cast<uint32_t>(value));
}

bool WasKilled(const ProcessEnd& end) {
  return end.kind == EndKind::kSignalled && static_cast<uint32_t>(end.value) == kKilledExitCode;
}

bool WasAskedToEnd(const ProcessEnd& end) {
  constexpr uint32_t kTerminated = 0x4001'0004;  // DBG_TERMINATE_PROCESS: a console that was closed
  const auto code = static_cast<uint32_t>(end.value);
  return end.kind == EndKind::kSignalled &&
         (code == static_cast<uint32_t>(STATUS_CONTROL_C_EXIT) || code == kTerminated);
}

// Exits are replaced, too: no code runs any more that could end the process in another way.
void EndAs(const ProcessEnd& end) {
  TerminateProcess(GetCurrentProcess(), static_cast<UINT>(end.value));
  std::_Exit(end.value);
}

bool WasStartedAsChild() {
  return std::getenv(kMemoryVariable) != nullptr;
}

Result<SharedMemory> TakeMemoryOfParent() {
  const char* const variable = std::getenv(kMemoryVariable);
  if (variable == nullptr) return Status(StatusCode::kNotFound, "no other process has started it");
  const std::string text = variable;
  // The children of this process get no memory.
  _putenv_s(kMemoryVariable, "");
  std::array<uint64_t, 3> numbers = {};
  if (!ParseNumbers(text, numbers) || numbers[0] > uint64_t{1} << 31) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("{} is '{}', not three numbers", kMemoryVariable, text));
  }
  if (static_cast<uint64_t>(StarterOf(OwnProcessId())) != numbers[2]) {
    return Status(StatusCode::kNotFound, "the process that started it is gone");
  }
  return SharedMemory::MapForWriting(SystemHandle(static_cast<RawHandle>(numbers[0])), numbers[1]);
}

// Prevents both a message box and a report to the system's collection of errors.
void TakeUsualSignals() {}

void LeaveNoDump() {
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
}

void TellFaults(std::atomic<FaultThread>* told) {
  g_told = told;
  g_telling_thread = GetCurrentThreadId();
  // The rest of an overflowing stack that stays available to the handler.
  ULONG guaranteed_bytes = 64u << 10;
  SetThreadStackGuarantee(&guaranteed_bytes);
  SetUnhandledExceptionFilter(OnUnhandledException);
  AddVectoredExceptionHandler(/*First=*/1, OnStackOverflow);
  std::signal(SIGABRT, TellAbort);
}

}  // namespace cairn
