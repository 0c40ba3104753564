// SPDX-License-Identifier: Apache-2.0
#include "os/service_doors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <system_error>

#include "os/channel.h"
#include "os/process.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// A folder takes the place of the user's runtime folder.
class ServiceDoorsTest : public ::testing::Test {
 protected:
  ServiceDoorsTest() {
    fs::create_directories(folder_);
    setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
    names_ = DoorsOfService("cairn-test");
  }
  ~ServiceDoorsTest() override {
    unsetenv("XDG_RUNTIME_DIR");
    fs::remove_all(folder_);
  }

  SystemHandle Visit(DoorName kind) {
    const char greeting[] = {'h', 'i'};
    std::error_code error;
    return ConnectTo(kind, kind == DoorName::kName ? names_.name : names_.path,
                     std::as_bytes(std::span(greeting)), error);
  }

  const fs::path folder_ =
      fs::path(::testing::TempDir()) / ("service_doors_test." + std::to_string(getpid()));
  ServiceDoorNames names_;
};

TEST_F(ServiceDoorsTest, AreNamedAfterTheUserAndTheRuntimeFolder) {
  EXPECT_EQ(names_.path, (folder_ / "cairn-test").string());
  EXPECT_THAT(names_.name, HasSubstr("cairn-test-" + std::to_string(geteuid())));
  EXPECT_THAT(names_.name, EndsWith(folder_.string()));
  unsetenv("XDG_RUNTIME_DIR");
  const ServiceDoorNames usual = DoorsOfService("cairn-test");
  EXPECT_EQ(usual.name, "cairn-test-" + std::to_string(geteuid()));
  EXPECT_EQ(usual.path, "/run/user/" + std::to_string(geteuid()) + "/cairn-test");
  setenv("XDG_RUNTIME_DIR", ("/" + std::string(200, 'x')).c_str(), 1);
  EXPECT_EQ(DoorsOfService("cairn-test").path, "");
}

TEST_F(ServiceDoorsTest, BothLeadToTheService) {
  ServiceDoors doors;
  ASSERT_TRUE(doors.Open(names_).ok());
  for (const DoorName kind : {DoorName::kPath, DoorName::kName}) {
    const SystemHandle visitor = Visit(kind);
    ASSERT_TRUE(visitor.valid());
    ServiceDoors::Visitor met;
    EXPECT_EQ(doors.Accept(kind == DoorName::kPath ? doors.at_path() : doors.at_name(), &met),
              ServiceDoors::Came::kVisitor);
    EXPECT_EQ(met.peer, OwnProcessId());
    EXPECT_TRUE(ServiceDoors::HasMessage(met.connection));
    ChannelMessage message;
    ASSERT_EQ(ServiceDoors::Receive(met.connection, &message), Received::kMessage);
    EXPECT_EQ(message.size_bytes, 2u);
    EXPECT_FALSE(ServiceDoors::HasMessage(met.connection));
  }
  ServiceDoors::Visitor none;
  EXPECT_EQ(doors.Accept(doors.at_path(), &none), ServiceDoors::Came::kNobody);
}

TEST_F(ServiceDoorsTest, ASecondServiceIsTold) {
  ServiceDoors doors;
  ASSERT_TRUE(doors.Open(names_).ok());
  {
    ServiceDoors second;
    EXPECT_THAT(second.Open(names_).message(), HasSubstr("it runs already"));
  }
  EXPECT_TRUE(Visit(DoorName::kPath).valid()) << "the first one's is still there";
}

TEST_F(ServiceDoorsTest, AFileThatAKilledServiceLeftIsReplaced) {
  const pid_t killed = fork();
  if (killed == 0) {
    ServiceDoors doors;
    _exit(doors.Open(names_).ok() ? 0 : 1);  // without the destructor
  }
  ASSERT_GT(killed, 0);
  int status = 0;
  ASSERT_EQ(waitpid(killed, &status, 0), killed);
  ASSERT_EQ(status, 0);
  ASSERT_TRUE(fs::exists(names_.path));
  {
    ServiceDoors doors;
    ASSERT_TRUE(doors.Open(names_).ok());
    EXPECT_TRUE(Visit(DoorName::kPath).valid());
  }
  EXPECT_FALSE(fs::exists(names_.path));
}

TEST_F(ServiceDoorsTest, AFileThatIsNoSocketStays) {
  std::ofstream(names_.path) << "mine";
  {
    ServiceDoors doors;
    ASSERT_TRUE(doors.Open(names_).ok()) << "the name is left";
    EXPECT_FALSE(doors.at_path().valid());
    EXPECT_TRUE(doors.at_name().valid());
  }
  EXPECT_TRUE(fs::is_regular_file(names_.path));
}

TEST_F(ServiceDoorsTest, WithoutAnyItSaysWhy) {
  fs::remove_all(folder_);
  ServiceDoors first;
  ASSERT_TRUE(first.Open(names_).ok()) << "by its name";
  {
    ServiceDoors second;
    EXPECT_THAT(second.Open(names_).message(),
                HasSubstr("it runs already: @" + names_.name + " is open"));
  }
  EXPECT_THAT(ServiceDoors().Open({"", ""}).message(),
              HasSubstr("neither XDG_RUNTIME_DIR (File name too long) nor the socket @ (File name "
                        "too long) can be opened"));
}

}  // namespace
}  // namespace cairn
