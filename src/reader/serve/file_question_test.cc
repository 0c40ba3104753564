// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/file_question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr bool kOrder = true;

// "" for one that is a question.
std::string Refusal(std::string_view target, bool is_order = false) {
  const Result<FileQuestion> question = ReadFileQuestion(target, is_order);
  if (question.ok()) return "";
  EXPECT_EQ(question.status().code(), StatusCode::kInvalidArgument) << target;
  return question.status().message();
}

std::vector<std::string> Verb(std::string_view target, bool is_order = false) {
  return VerbFor(
      ReadFileQuestion(target, is_order).value(),
      {.file = "/f", .other = "/o", .images = "/i", .other_images = "/k", .journal = "/j"});
}

TEST(FileQuestion, IsReadAsAPageWritesIt) {
  const FileQuestion calls =
      ReadFileQuestion("calls?function=Draw&object=a%2Fb+%C3%A4%26&thread=7&from=1&count=500",
                       false)
          .value();
  EXPECT_EQ(calls.asked, Asked::kCalls);
  EXPECT_EQ(calls.function, "Draw");
  EXPECT_EQ(calls.object, "a/b \xC3\xA4&");
  EXPECT_EQ(calls.thread, 7u);
  EXPECT_EQ(calls.from, 1u);
  EXPECT_EQ(calls.count, 500u);
  EXPECT_EQ(calls.frame, std::nullopt);
  EXPECT_EQ(ReadFileQuestion("", false)->asked, Asked::kPage);
  EXPECT_EQ(ReadFileQuestion("count?", false)->asked, Asked::kCount);
  EXPECT_EQ(ReadFileQuestion("calls?frame=", false)->frame, std::nullopt);
  EXPECT_EQ(ReadFileQuestion("state?call=18446744073709551615", false)->call, UINT64_MAX);
}

TEST(FileQuestion, NothingElseHasAName) {
  for (const char* target : {"nothing", "images?call=1", "../count", "/count", "count/", "Count",
                             "%63ount", "count%00", "count#", "open"}) {
    EXPECT_EQ(ReadFileQuestion(target, false).status().code(), StatusCode::kNotFound) << target;
  }
  for (const char* target : {"", "calls", "image?name=a.png"}) {
    EXPECT_EQ(ReadFileQuestion(target, kOrder).status().code(), StatusCode::kNotFound) << target;
  }
}

TEST(FileQuestion, NumbersAreDigits) {
  EXPECT_THAT(Refusal("state"), HasSubstr("'call' is missing"));
  EXPECT_THAT(Refusal("state?call="), HasSubstr("'call' is missing"));
  EXPECT_THAT(Refusal("state?call"), HasSubstr("'call' is missing"));
  EXPECT_THAT(Refusal("images", kOrder), HasSubstr("'call' is missing"));
  for (const char* number : {"-1", "%2B1", "+1", "1;rm", "0x1", "1e3", "1.5", "--output",
                             "18446744073709551616", "99999999999999999999999999999"}) {
    EXPECT_THAT(Refusal(std::string("state?call=") + number), HasSubstr("is not a number"))
        << number;
  }
}

TEST(FileQuestion, EachValueIsGivenOnceAndHasAUse) {
  EXPECT_THAT(Refusal("state?call=1&call=2"), HasSubstr("'call' is given twice"));
  EXPECT_THAT(Refusal("state?call=1&output=x"), HasSubstr("'output' has no use here"));
  EXPECT_THAT(Refusal("count?call=1"), HasSubstr("'call' has no use here"));
  EXPECT_THAT(Refusal("state?c%61ll=1"), HasSubstr("has no use here"));
  EXPECT_THAT(Refusal("state?call=1&&"), HasSubstr("has no use here"));
}

TEST(FileQuestion, ValuesAreText) {
  EXPECT_THAT(Refusal("calls?text=a%00b"), HasSubstr("NUL"));
  EXPECT_THAT(Refusal("calls?text=%FF"), HasSubstr("UTF-8"));
  for (const char* text : {"%", "%4", "%g0", "%0g", "a%"}) {
    EXPECT_THAT(Refusal(std::string("calls?text=") + text), HasSubstr("'%'")) << text;
  }
  EXPECT_THAT(Refusal("calls?text=" + std::string(10'000, 'a')), HasSubstr("so long"));
}

TEST(FileQuestion, ImagesHaveAMomentAndTextures) {
  const FileQuestion images =
      ReadFileQuestion("images?call=7&moment=before&completed=1&page=99&objects=12,31", kOrder)
          .value();
  EXPECT_EQ(images.asked, Asked::kImages);
  EXPECT_EQ(images.call, 7u);
  EXPECT_EQ(images.moment, "before");
  EXPECT_EQ(images.completed, 1u);
  EXPECT_EQ(images.page, 99u);
  EXPECT_THAT(images.objects, ElementsAre(12, 31));
  EXPECT_THAT(ReadFileQuestion("images?call=7", kOrder)->objects, IsEmpty());
  EXPECT_THAT(Refusal("images?call=7&moment=around", kOrder), HasSubstr("before or after"));
  EXPECT_THAT(Refusal("images?call=7&completed=yes", kOrder), HasSubstr("is not a number"));
  for (const char* objects : {",", "1,", ",1", "1,,2", "1,a", "1;2"}) {
    EXPECT_THAT(Refusal(std::string("images?call=7&objects=") + objects, kOrder),
                HasSubstr("numbers with ','"))
        << objects;
  }
  std::string many = "1";
  for (size_t i = 1; i < FileQuestion::kMostObjects; ++i) many += ",1";
  EXPECT_EQ(ReadFileQuestion("images?call=7&objects=" + many, kOrder)->objects.size(), 16u);
  EXPECT_THAT(Refusal("images?call=7&objects=" + many + ",1", kOrder), HasSubstr("16 at most"));
}

TEST(FileQuestion, AnImageHasANameAndNoPath) {
  EXPECT_EQ(ReadFileQuestion("image?name=call-7.png", false)->name, "call-7.png");
  for (const char* name : {"..", "%2e%2e%2fpage", "/etc/passwd", "a%5Cb", ".hidden"}) {
    EXPECT_THAT(Refusal(std::string("image?name=") + name), HasSubstr("no image's name")) << name;
  }
  EXPECT_THAT(Refusal("image?name="), HasSubstr("'name' is missing"));
}

TEST(FileQuestion, VerbsAreToldNumbersOnly) {
  EXPECT_THAT(Verb("images?call=18233", kOrder), IsEmpty());
  EXPECT_THAT(Verb("frame-images?frame=7", kOrder),
              ElementsAre("images", "--json", "--frame", "7", "-o", "/i", "/f"));
  EXPECT_THAT(Verb("other-images?frame=8", kOrder),
              ElementsAre("images", "--json", "--frame", "8", "-o", "/k", "/o"));
  EXPECT_THAT(Verb("compare"),
              ElementsAre("diff", "--json", "--align", "--limit", "2000", "/f", "/o"));
  EXPECT_THAT(Verb("bisect", kOrder), ElementsAre("bisect", "--json", "--progress", "--no-output",
                                                  "--no-why", "--journal", "/j", "/f"));
  EXPECT_THAT(Verb("stop-bisect", kOrder), IsEmpty());
  EXPECT_THAT(Verb("calls?function=--help"), IsEmpty());
}

}  // namespace
}  // namespace cairn
