// SPDX-License-Identifier: Apache-2.0
//
// A thread reads what comes, and takes at once what is attached; Next() takes from what it has read. Each pipe has
// always one transfer under way, which the thread sees the end of; only then it is forgotten.
#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "os/channel.h"
#include "os/windows/channel.h"

namespace cairn {
namespace {

using Event = ChannelServer::Event;

struct Pipe {
  OVERLAPPED transfer = {};
  SystemHandle end;
  uint64_t number = 0;
  ProcessId peer = -1;
  bool by_door = false;    // the system knows who has connected
  bool connected = false;  // else it is a door, and waits for somebody
  bool closed = false;
  size_t untold = 0;    // messages that wait for Next()
  bool paused = false;  // no transfer is under way: too many wait
  ChannelFrame frame;
};

struct Happened {
  Event event = Event::kNone;
  uint64_t number = 0;
  ChannelMessage message;
};

SystemHandle CopyFrom(HANDLE process, uint64_t handle, DWORD access, DWORD options) {
  HANDLE copy = nullptr;
  DuplicateHandle(process, reinterpret_cast<HANDLE>(handle), GetCurrentProcess(), &copy, access,
                  FALSE, options);
  return Owned(copy);
}

// Returns true if these are the two ends of one pipe. Both have its name.
bool AreBothEnds(HANDLE ours, HANDLE theirs) {
  DWORD our_side = 0;
  DWORD their_side = 0;
  return GetNamedPipeInfo(ours, &our_side, nullptr, nullptr, nullptr) != 0 &&
         GetNamedPipeInfo(theirs, &their_side, nullptr, nullptr, nullptr) != 0 &&
         (our_side & PIPE_SERVER_END) != (their_side & PIPE_SERVER_END) &&
         NameOfPipe(ours) == NameOfPipe(theirs);
}

// A process that can be waited for, killed, and asked for what it has attached.
SystemHandle OpenSender(uint32_t id) {
  constexpr DWORD kAccess = SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_DUP_HANDLE;
  SystemHandle process = Owned(::OpenProcess(kAccess | PROCESS_TERMINATE, FALSE, id));
  if (!process.valid()) process = Owned(::OpenProcess(kAccess, FALSE, id));
  return process;
}

ProcessHandle SenderOf(const Pipe& pipe) {
  if (pipe.by_door) return {pipe.peer, OpenSender(static_cast<uint32_t>(pipe.peer))};
  ProcessHandle sender = {pipe.frame.sender, OpenSender(pipe.frame.sender)};
  // The sender chose its number itself. If that process is gone, nobody can be mistaken for it.
  if (!sender.handle.valid()) return sender;
  const SystemHandle end =
      CopyFrom(HandleOf(sender.handle), pipe.frame.end, 0, DUPLICATE_SAME_ACCESS);
  if (end.valid() && AreBothEnds(HandleOf(pipe.end), HandleOf(end))) return sender;
  const bool has_ended = WaitForSingleObject(HandleOf(sender.handle), 0) == WAIT_OBJECT_0;
  return has_ended ? std::move(sender) : ProcessHandle{pipe.peer, SystemHandle()};
}

ChannelMessage MessageFrom(const Pipe& pipe) {
  ChannelMessage message;
  const ChannelFrame& frame = pipe.frame;
  message.size_bytes = std::min<size_t>(frame.size_bytes, kMostMessageBytes);
  message.data = frame.bytes;
  message.sender = SenderOf(pipe);
  DWORD handles = 0;
  GetProcessHandleCount(GetCurrentProcess(), &handles);
  message.handles_in_use = handles;
  if (frame.memory == 0) return message;
  const HANDLE sender = HandleOf(message.sender.handle);
  SystemHandle memory = message.sender.handle.valid()
                            ? CopyFrom(sender, frame.memory, 0, DUPLICATE_SAME_ACCESS)
                            : SystemHandle();
  message.memory_lost = !memory.valid();
  message.memory = AttachedMemory(std::move(memory));
  const SystemHandle taken = CopyFrom(sender, frame.taken, EVENT_MODIFY_STATE, 0);
  if (taken.valid()) SetEvent(HandleOf(taken));
  return message;
}

constexpr ULONG_PTR kStop = 1;

// The most events that wait to be returned. A sender of more must wait; the system's own buffers
// take some messages as well.
constexpr size_t kMostUntold = 64;

}  // namespace

struct ChannelServer::State {
  ~State();
  Status Open();
  Result<uint64_t> Add(SystemHandle end, ProcessId peer);
  bool OpenDoor(const std::string& name);
  Event Next(uint64_t* connection, ChannelMessage* message);
  void Close(uint64_t connection);

  // The caller of these functions holds the mutex.
  bool ListenAtDoor(bool first);
  bool Read(Pipe* pipe);
  void Tell(Happened happened);
  void CloseEnd(Pipe* pipe);
  void ErasePaused();
  void OnTold(uint64_t number);
  void OnEnd(Pipe* pipe, bool done, DWORD bytes);
  void OnConnected(Pipe* pipe);

  void Run();

  SystemHandle events;  // set while something has happened that was not told
  SystemHandle port;
  std::thread thread;
  std::mutex mutex;  // of all below
  std::map<const OVERLAPPED*, std::unique_ptr<Pipe>> pipes;
  std::deque<Happened> happened;
  std::wstring door;
  bool stops = false;
  uint64_t next_number = 2;
};

Status ChannelServer::State::Open() {
  events = Owned(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  port = Owned(CreateIoCompletionPort(INVALID_HANDLE_VALUE, nullptr, 0, 1));
  if (!events.valid() || !port.valid()) {
    return StatusFromLastError("the watcher cannot wait for messages");
  }
  thread = std::thread([this] { Run(); });
  return Status();
}

ChannelServer::State::~State() {
  if (!thread.joinable()) return;
  PostQueuedCompletionStatus(HandleOf(port), 0, kStop, nullptr);
  thread.join();
}

void ChannelServer::State::Run() {
  for (;;) {
    DWORD bytes = 0;
    ULONG_PTR key = 0;
    OVERLAPPED* transfer = nullptr;
    const BOOL done = GetQueuedCompletionStatus(HandleOf(port), &bytes, &key, &transfer, INFINITE);
    const std::lock_guard lock(mutex);
    if (key == kStop) {
      stops = true;
      for (const auto& [at, pipe] : pipes) CloseEnd(pipe.get());
      ErasePaused();
    }
    // Others may transfer by the same handle.
    const auto found = pipes.find(transfer);
    if (found != pipes.end()) OnEnd(found->second.get(), done != 0, bytes);
    if (stops && pipes.empty()) return;
  }
}

void ChannelServer::State::Tell(Happened what) {
  happened.push_back(std::move(what));
  SetEvent(HandleOf(events));
}

// The end of its transfer is still to come.
void ChannelServer::State::CloseEnd(Pipe* pipe) {
  if (pipe->closed) return;
  pipe->closed = true;
  CancelIoEx(HandleOf(pipe->end), &pipe->transfer);
  pipe->end.Close();
}

// Erases closed pipes that are paused: no transfer is left whose end would erase them.
void ChannelServer::State::ErasePaused() {
  std::erase_if(pipes, [](const auto& each) { return each.second->closed && each.second->paused; });
}

// Goes on with a paused pipe when one of its events was returned.
void ChannelServer::State::OnTold(uint64_t number) {
  const auto found = std::find_if(pipes.begin(), pipes.end(), [number](const auto& each) {
    return each.second->connected && each.second->number == number;
  });
  if (found == pipes.end()) return;
  Pipe* const pipe = found->second.get();
  --pipe->untold;
  if (!pipe->paused) return;
  pipe->paused = false;
  if (Read(pipe)) return;
  Tell({.event = Event::kClosed, .number = number});
  pipes.erase(found);
}

bool ChannelServer::State::Read(Pipe* pipe) {
  pipe->transfer = {};
  return ReadFile(HandleOf(pipe->end), &pipe->frame, sizeof(pipe->frame), nullptr,
                  &pipe->transfer) != 0 ||
         GetLastError() == ERROR_IO_PENDING || GetLastError() == ERROR_MORE_DATA;
}

void ChannelServer::State::OnConnected(Pipe* pipe) {
  ULONG client = 0;
  GetNamedPipeClientProcessId(HandleOf(pipe->end), &client);
  pipe->peer = client;
  pipe->connected = true;
  pipe->number = next_number++;
  Tell({.event = Event::kConnected, .number = pipe->number});
  // Listen for the next client; without that the door is closed.
  if (!ListenAtDoor(/*first=*/false)) door.clear();
}

void ChannelServer::State::OnEnd(Pipe* pipe, bool done, DWORD bytes) {
  const bool is_message = pipe->connected && done && bytes == sizeof(pipe->frame);
  if (!pipe->closed && !pipe->connected && done) {
    OnConnected(pipe);
  } else if (!pipe->closed && is_message) {
    Tell({.event = Event::kMessage, .number = pipe->number, .message = MessageFrom(*pipe)});
    pipe->paused = ++pipe->untold >= kMostUntold;
    if (pipe->paused) return;
  } else if (!pipe->closed && pipe->connected && done) {
    Tell({.event = Event::kNothing, .number = pipe->number});
  } else {
    if (!pipe->closed && pipe->connected) Tell({.event = Event::kClosed, .number = pipe->number});
    pipes.erase(&pipe->transfer);
    return;
  }
  if (Read(pipe)) return;
  Tell({.event = Event::kClosed, .number = pipe->number});
  pipes.erase(&pipe->transfer);
}

bool ChannelServer::State::ListenAtDoor(bool first) {
  auto made = std::make_unique<Pipe>();
  made->by_door = true;
  made->end = Owned(MakePipe(door, first));
  if (!made->end.valid() ||
      CreateIoCompletionPort(HandleOf(made->end), HandleOf(port), 0, 0) == nullptr) {
    return false;
  }
  Pipe* const pipe = made.get();
  pipes[&pipe->transfer] = std::move(made);
  if (ConnectNamedPipe(HandleOf(pipe->end), &pipe->transfer) != 0 ||
      GetLastError() == ERROR_IO_PENDING) {
    return true;
  }
  // A client connected before the call, for which the system posts no completion.
  if (GetLastError() == ERROR_PIPE_CONNECTED &&
      PostQueuedCompletionStatus(HandleOf(port), 0, 0, &pipe->transfer) != 0) {
    return true;
  }
  pipes.erase(&pipe->transfer);
  return false;
}

Result<uint64_t> ChannelServer::State::Add(SystemHandle end, ProcessId peer) {
  auto made = std::make_unique<Pipe>();
  made->connected = true;
  made->peer = peer;
  made->end = std::move(end);
  const std::lock_guard lock(mutex);
  made->number = next_number++;
  const uint64_t number = made->number;
  Pipe* const pipe = made.get();
  if (!NameOfPipe(HandleOf(pipe->end)).valid() ||
      CreateIoCompletionPort(HandleOf(pipe->end), HandleOf(port), 0, 0) == nullptr) {
    return StatusFromLastError("the watcher's pipe cannot be used");
  }
  pipes[&pipe->transfer] = std::move(made);
  if (Read(pipe)) return number;
  // A pipe that is closed already is reported like any that closes.
  Tell({.event = Event::kClosed, .number = number});
  pipes.erase(&pipe->transfer);
  return number;
}

bool ChannelServer::State::OpenDoor(const std::string& name) {
  const std::lock_guard lock(mutex);
  door = PathOfPipe(name);
  if (!ListenAtDoor(/*first=*/true)) door.clear();
  return !door.empty();
}

Event ChannelServer::State::Next(uint64_t* connection, ChannelMessage* message) {
  const std::lock_guard lock(mutex);
  if (happened.empty()) return Event::kNone;
  Happened next = std::move(happened.front());
  happened.pop_front();
  if (happened.empty()) ResetEvent(HandleOf(events));
  *connection = next.number;
  *message = std::move(next.message);
  if (next.event == Event::kMessage) OnTold(next.number);
  return next.event;
}

void ChannelServer::State::Close(uint64_t connection) {
  const std::lock_guard lock(mutex);
  for (const auto& [at, pipe] : pipes) {
    if (pipe->connected && pipe->number == connection) CloseEnd(pipe.get());
  }
  ErasePaused();
  std::erase_if(happened, [connection](const Happened& each) { return each.number == connection; });
  if (happened.empty()) ResetEvent(HandleOf(events));
}

ChannelServer::ChannelServer() : state_(std::make_unique<State>()) {}
ChannelServer::~ChannelServer() = default;

Status ChannelServer::Open() {
  return state_->Open();
}

Result<uint64_t> ChannelServer::Add(SystemHandle end, ProcessId peer) {
  return state_->Add(std::move(end), peer);
}

ChannelServer::Doors ChannelServer::OpenDoors(const std::string& name) {
  Doors doors;
  doors.named = state_->OpenDoor(name);
  return doors;
}

bool ChannelServer::has_doors() const {
  const std::lock_guard lock(state_->mutex);
  return !state_->door.empty();
}

ChannelServer::Event ChannelServer::Next(uint64_t* connection, ChannelMessage* message) {
  return state_->Next(connection, message);
}

void ChannelServer::Close(uint64_t connection) {
  state_->Close(connection);
}

const SystemHandle& ChannelServer::handle() const {
  return state_->events;
}

}  // namespace cairn
