// SPDX-License-Identifier: Apache-2.0
//
// FakeInfoQueue: an ID3D12InfoQueue as debug layers have it, with its limit, its two stacks of filters and
// its switches: for tests of who adds messages. Another object's methods count its references.
#ifndef CAIRN_D3D12ABI_TESTING_FAKE_INFO_QUEUE_H_
#define CAIRN_D3D12ABI_TESTING_FAKE_INFO_QUEUE_H_

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

class FakeInfoQueue final : public ID3D12InfoQueue {
 public:
  explicit FakeInfoQueue(IUnknown& owner) : owner_(owner) {}

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    return owner_.QueryInterface(riid, object);
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return owner_.AddRef(); }
  ULONG STDMETHODCALLTYPE Release() override { return owner_.Release(); }

  HRESULT STDMETHODCALLTYPE SetMessageCountLimit(UINT64 limit) override {
    limit_ = limit;
    while (messages_.size() > limit_) Discard();
    return S_OK;
  }
  void STDMETHODCALLTYPE ClearStoredMessages() override { messages_.clear(); }
  HRESULT STDMETHODCALLTYPE GetMessage(UINT64 index, D3D12_MESSAGE* message,
                                       SIZE_T* size) override {
    if (index >= messages_.size() || size == nullptr) return E_INVALIDARG;
    const Message& stored = messages_[index];
    const SIZE_T needed = sizeof(D3D12_MESSAGE) + stored.text.size() + 1;
    if (message == nullptr) {
      *size = needed;
      return S_FALSE;
    }
    if (*size < needed) return E_INVALIDARG;
    char* const text = reinterpret_cast<char*>(message + 1);
    std::memcpy(text, stored.text.c_str(), stored.text.size() + 1);
    *message = {stored.category, stored.severity, stored.id, text, stored.text.size() + 1};
    return S_OK;
  }
  UINT64 STDMETHODCALLTYPE GetNumMessagesAllowedByStorageFilter() override { return allowed_; }
  UINT64 STDMETHODCALLTYPE GetNumMessagesDeniedByStorageFilter() override { return denied_; }
  UINT64 STDMETHODCALLTYPE GetNumStoredMessages() override { return messages_.size(); }
  UINT64 STDMETHODCALLTYPE GetNumStoredMessagesAllowedByRetrievalFilter() override {
    return static_cast<UINT64>(
        std::count_if(messages_.begin(), messages_.end(),
                      [this](const Message& message) { return Passes(retrieval_, message); }));
  }
  UINT64 STDMETHODCALLTYPE GetNumMessagesDiscardedByMessageCountLimit() override {
    return discarded_;
  }
  UINT64 STDMETHODCALLTYPE GetMessageCountLimit() override { return limit_; }

  HRESULT STDMETHODCALLTYPE AddStorageFilterEntries(D3D12_INFO_QUEUE_FILTER* filter) override {
    return Add(storage_, filter);
  }
  HRESULT STDMETHODCALLTYPE GetStorageFilter(D3D12_INFO_QUEUE_FILTER* filter,
                                             SIZE_T* size) override {
    return Get(storage_, filter, size);
  }
  void STDMETHODCALLTYPE ClearStorageFilter() override { storage_.assign(1, {}); }
  HRESULT STDMETHODCALLTYPE PushEmptyStorageFilter() override { return Push(storage_, {}); }
  HRESULT STDMETHODCALLTYPE PushCopyOfStorageFilter() override {
    return Push(storage_, Filter(storage_.back()));
  }
  HRESULT STDMETHODCALLTYPE PushStorageFilter(D3D12_INFO_QUEUE_FILTER* filter) override {
    Push(storage_, {});
    return Add(storage_, filter);
  }
  void STDMETHODCALLTYPE PopStorageFilter() override { Pop(storage_); }
  UINT STDMETHODCALLTYPE GetStorageFilterStackSize() override {
    return static_cast<UINT>(storage_.size());
  }
  HRESULT STDMETHODCALLTYPE AddRetrievalFilterEntries(D3D12_INFO_QUEUE_FILTER* filter) override {
    return Add(retrieval_, filter);
  }
  HRESULT STDMETHODCALLTYPE GetRetrievalFilter(D3D12_INFO_QUEUE_FILTER* filter,
                                               SIZE_T* size) override {
    return Get(retrieval_, filter, size);
  }
  void STDMETHODCALLTYPE ClearRetrievalFilter() override { retrieval_.assign(1, {}); }
  HRESULT STDMETHODCALLTYPE PushEmptyRetrievalFilter() override { return Push(retrieval_, {}); }
  HRESULT STDMETHODCALLTYPE PushCopyOfRetrievalFilter() override {
    return Push(retrieval_, Filter(retrieval_.back()));
  }
  HRESULT STDMETHODCALLTYPE PushRetrievalFilter(D3D12_INFO_QUEUE_FILTER* filter) override {
    Push(retrieval_, {});
    return Add(retrieval_, filter);
  }
  void STDMETHODCALLTYPE PopRetrievalFilter() override { Pop(retrieval_); }
  UINT STDMETHODCALLTYPE GetRetrievalFilterStackSize() override {
    return static_cast<UINT>(retrieval_.size());
  }

  HRESULT STDMETHODCALLTYPE AddMessage(D3D12_MESSAGE_CATEGORY category,
                                       D3D12_MESSAGE_SEVERITY severity, D3D12_MESSAGE_ID id,
                                       LPCSTR text) override {
    if (text == nullptr) return E_INVALIDARG;
    Message message = {category, severity, id, text};
    if (!Passes(storage_, message)) {
      ++denied_;
      return S_OK;
    }
    ++allowed_;
    if (messages_.size() >= limit_) Discard();
    if (limit_ != 0) messages_.push_back(std::move(message));
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE AddApplicationMessage(D3D12_MESSAGE_SEVERITY severity,
                                                  LPCSTR text) override {
    return AddMessage(D3D12_MESSAGE_CATEGORY_APPLICATION_DEFINED, severity,
                      D3D12_MESSAGE_ID_STRING_FROM_APPLICATION, text);
  }

  HRESULT STDMETHODCALLTYPE SetBreakOnCategory(D3D12_MESSAGE_CATEGORY c, BOOL on) override {
    break_on_category_[c] = on;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE SetBreakOnSeverity(D3D12_MESSAGE_SEVERITY s, BOOL on) override {
    break_on_severity_[s] = on;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE SetBreakOnID(D3D12_MESSAGE_ID id, BOOL on) override {
    break_on_id_[id] = on;
    return S_OK;
  }
  BOOL STDMETHODCALLTYPE GetBreakOnCategory(D3D12_MESSAGE_CATEGORY c) override {
    return break_on_category_[c];
  }
  BOOL STDMETHODCALLTYPE GetBreakOnSeverity(D3D12_MESSAGE_SEVERITY s) override {
    return break_on_severity_[s];
  }
  BOOL STDMETHODCALLTYPE GetBreakOnID(D3D12_MESSAGE_ID id) override { return break_on_id_[id]; }
  void STDMETHODCALLTYPE SetMuteDebugOutput(BOOL mute) override { mute_ = mute; }
  BOOL STDMETHODCALLTYPE GetMuteDebugOutput() override { return mute_; }

 private:
  struct Message {
    D3D12_MESSAGE_CATEGORY category;
    D3D12_MESSAGE_SEVERITY severity;
    D3D12_MESSAGE_ID id;
    std::string text;
  };
  struct List {
    std::vector<D3D12_MESSAGE_CATEGORY> categories;
    std::vector<D3D12_MESSAGE_SEVERITY> severities;
    std::vector<D3D12_MESSAGE_ID> ids;
  };
  struct Filter {
    List allowed;  // an empty list allows everything
    List denied;
  };

  template <typename T>
  static bool Holds(const std::vector<T>& values, T value) {
    return std::find(values.begin(), values.end(), value) != values.end();
  }
  static bool Passes(const std::vector<Filter>& stack, const Message& m) {
    const auto& [allowed, denied] = stack.back();
    const auto allows = [](const auto& values, auto value) {
      return values.empty() || Holds(values, value);
    };
    return allows(allowed.categories, m.category) && allows(allowed.severities, m.severity) &&
           allows(allowed.ids, m.id) && !Holds(denied.categories, m.category) &&
           !Holds(denied.severities, m.severity) && !Holds(denied.ids, m.id);
  }
  template <typename T>
  static void Append(std::vector<T>& to, const T* from, UINT count) {
    to.insert(to.end(), from, from + count);
  }
  static HRESULT Add(std::vector<Filter>& stack, const D3D12_INFO_QUEUE_FILTER* filter) {
    if (filter == nullptr) return E_INVALIDARG;
    const auto add = [](List& list, const D3D12_INFO_QUEUE_FILTER_DESC& desc) {
      Append(list.categories, desc.pCategoryList, desc.NumCategories);
      Append(list.severities, desc.pSeverityList, desc.NumSeverities);
      Append(list.ids, desc.pIDList, desc.NumIDs);
    };
    add(stack.back().allowed, filter->AllowList);
    add(stack.back().denied, filter->DenyList);
    return S_OK;
  }
  // The lists stand behind the struct in the caller's memory.
  static HRESULT Get(std::vector<Filter>& stack, D3D12_INFO_QUEUE_FILTER* filter, SIZE_T* size) {
    if (size == nullptr) return E_INVALIDARG;
    SIZE_T needed = sizeof(*filter);
    const auto place = [&](const auto& values, auto*& list, UINT& count) {
      count = static_cast<UINT>(values.size());
      const SIZE_T bytes = values.size() * sizeof(values[0]);
      auto* const to = reinterpret_cast<char*>(filter) + needed;
      needed += bytes;
      if (filter == nullptr || *size < needed) return;
      list = reinterpret_cast<std::remove_reference_t<decltype(list)>>(to);
      if (bytes != 0) std::memcpy(to, values.data(), bytes);
    };
    D3D12_INFO_QUEUE_FILTER result = {};
    const auto place_list = [&](const List& list, D3D12_INFO_QUEUE_FILTER_DESC& desc) {
      place(list.categories, desc.pCategoryList, desc.NumCategories);
      place(list.severities, desc.pSeverityList, desc.NumSeverities);
      place(list.ids, desc.pIDList, desc.NumIDs);
    };
    place_list(stack.back().allowed, result.AllowList);
    place_list(stack.back().denied, result.DenyList);
    if (filter == nullptr) {
      *size = needed;
      return S_FALSE;
    }
    if (*size < needed) return E_INVALIDARG;
    *filter = result;
    return S_OK;
  }
  static HRESULT Push(std::vector<Filter>& stack, Filter filter) {
    stack.push_back(std::move(filter));
    return S_OK;
  }
  static void Pop(std::vector<Filter>& stack) {
    if (stack.size() > 1) stack.pop_back();
  }
  void Discard() {
    if (messages_.empty()) return;
    messages_.erase(messages_.begin());
    ++discarded_;
  }

  IUnknown& owner_;
  UINT64 limit_ = 1024;
  UINT64 allowed_ = 0;
  UINT64 denied_ = 0;
  UINT64 discarded_ = 0;
  std::vector<Message> messages_;
  std::vector<Filter> storage_ = std::vector<Filter>(1);
  std::vector<Filter> retrieval_ = std::vector<Filter>(1);
  std::map<D3D12_MESSAGE_CATEGORY, BOOL> break_on_category_;
  std::map<D3D12_MESSAGE_SEVERITY, BOOL> break_on_severity_;
  std::map<D3D12_MESSAGE_ID, BOOL> break_on_id_;
  BOOL mute_ = 0;
};

#pragma GCC diagnostic pop

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_D3D12ABI_TESTING_FAKE_INFO_QUEUE_H_
