// SPDX-License-Identifier: Apache-2.0
//
// Where value_printer.cc puts what it finds: text or JSON.
#ifndef CAIRN_CALLS_VALUE_OUTPUT_H_
#define CAIRN_CALLS_VALUE_OUTPUT_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

class ValueOutput {
 public:
  virtual void BeginStruct() = 0;
  virtual void EndStruct() = 0;
  virtual void BeginArray() = 0;
  virtual void EndArray() = 0;
  virtual void Key(std::string_view name) = 0;   // of the next value, in structs
  virtual void Word(std::string_view word) = 0;  // an enumerator, a name of ours
  virtual void Text(std::string_view utf8) = 0;  // of the program
  virtual void Unsigned(uint64_t number) = 0;
  virtual void Signed(int64_t number) = 0;
  virtual void Float(double number, bool is_single) = 0;
  virtual void Bool(bool value) = 0;
  virtual void Null() = 0;
  virtual void Bytes(std::span<const std::byte> bytes) = 0;
  // `kind`: "object", "address", ...; `meaning`: "" if nothing is known.
  virtual void Reference(std::string_view kind, uint64_t value, const std::string& meaning) = 0;
  // How many elements of an array are wanted, and that so many were left out.
  virtual uint64_t WantedElements() const = 0;
  virtual void LeftOut(uint64_t count) = 0;

 protected:
  ~ValueOutput() = default;
};

class TextOutput final : public ValueOutput {
 public:
  explicit TextOutput(bool whole) : whole_(whole) {}
  ~TextOutput() = default;

  void BeginStruct() override { Open('{'); }
  void EndStruct() override { Close('}'); }
  void BeginArray() override { Open('['); }
  void EndArray() override { Close(']'); }
  void Key(std::string_view name) override;
  void Word(std::string_view word) override;
  void Text(std::string_view utf8) override;
  void Unsigned(uint64_t number) override { Word(std::to_string(number)); }
  void Signed(int64_t number) override { Word(std::to_string(number)); }
  void Float(double number, bool is_single) override;
  void Bool(bool value) override { Word(value ? "TRUE" : "FALSE"); }
  void Null() override { Word("null"); }
  void Bytes(std::span<const std::byte> bytes) override;
  void Reference(std::string_view kind, uint64_t value, const std::string& meaning) override;
  uint64_t WantedElements() const override { return whole_ ? ~uint64_t{0} : 8; }
  void LeftOut(uint64_t count) override;

  std::string text;

 private:
  void Separate();
  void Open(char bracket);
  void Close(char bracket);

  bool whole_;
  bool first_ = true;
  bool after_key_ = false;
};

class JsonOutput final : public ValueOutput {
 public:
  JsonOutput() = default;
  ~JsonOutput() = default;

  void BeginStruct() override { Push(nlohmann::ordered_json::object()); }
  void EndStruct() override { stack_.pop_back(); }
  void BeginArray() override { Push(nlohmann::ordered_json::array()); }
  void EndArray() override { stack_.pop_back(); }
  void Key(std::string_view name) override { key_ = name; }
  void Word(std::string_view word) override { Put(std::string(word)); }
  void Text(std::string_view utf8) override;
  void Unsigned(uint64_t number) override { Put(number); }
  void Signed(int64_t number) override { Put(number); }
  void Float(double number, bool is_single) override;
  void Bool(bool value) override { Put(value); }
  void Null() override { Put(nullptr); }
  void Bytes(std::span<const std::byte> bytes) override;
  void Reference(std::string_view kind, uint64_t value, const std::string& meaning) override;
  uint64_t WantedElements() const override { return ~uint64_t{0}; }
  void LeftOut(uint64_t) override {}

  nlohmann::ordered_json json;

 private:
  nlohmann::ordered_json& Put(nlohmann::ordered_json value);
  void Push(nlohmann::ordered_json value) { stack_.push_back(&Put(std::move(value))); }

  std::vector<nlohmann::ordered_json*> stack_;
  std::string key_;
};

}  // namespace cairn

#endif  // CAIRN_CALLS_VALUE_OUTPUT_H_
