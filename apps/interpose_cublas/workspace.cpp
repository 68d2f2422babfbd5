#include "workspace.hpp"

#include <atomic>
#include <mutex>
#include <new>
#include <thread>
#include <unordered_map>

#include "entry.hpp"
#include "handles.hpp"
#include "original.hpp"
#include "settings.hpp"

namespace vernier::interpose::cublas {
namespace {

struct Given {
  std::atomic<void*> data{nullptr};
  std::atomic<std::size_t> bytes{0};  // written last, and 0 meanwhile
  std::atomic<std::thread::id> user;  // the first thread that asked
  std::atomic<bool> shared{false};    // others did, too
};

// Never destroyed: calls may come until the very end.
struct Table {
  std::mutex mutex;
  std::unordered_map<Handle, Given> given;  // no handle is ever taken out: threads keep the place of their last one
  std::atomic<bool> any{false};             // has there ever been one?
};

Table& table() {
  static Table& once = *new Table;
  return once;
}

// Throws where there is no memory for one more.
Given& given_to(Handle handle) {
  static constinit thread_local Handle last = nullptr;
  static constinit thread_local Given* place = nullptr;
  if (place != nullptr && handle == last) return *place;
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  place = &t.given[handle];
  last = handle;
  return *place;
}

void give(Given& given, const Workspace& workspace) {
  given.bytes.store(0, std::memory_order_release);
  given.data.store(workspace.data, std::memory_order_release);
  given.user.store({}, std::memory_order_relaxed);
  given.shared.store(false, std::memory_order_relaxed);
  given.bytes.store(workspace.bytes, std::memory_order_release);
}

void remember(Handle handle, const Workspace& workspace) noexcept try {
  table().any.store(true, std::memory_order_relaxed);
  give(given_to(handle), workspace);
} catch (const std::bad_alloc&) {  // it is not used
}

void forget(Handle handle) noexcept try {
  if (table().any.load(std::memory_order_relaxed)) give(given_to(handle), {});
} catch (const std::bad_alloc&) {  // it has none
}

template <class... Arguments>
Status pass_on(const char* name, std::atomic<void*>& real, Handle handle, Arguments... arguments) noexcept try {
  void* const another = several_libraries ? function_of_another(handle, name) : nullptr;
  void* function = another != nullptr ? another : real.load(std::memory_order_acquire);
  if (function == nullptr) real.store(function = original(name), std::memory_order_release);
  if (function == nullptr) return not_supported;
  return reinterpret_cast<Status (*)(Handle, Arguments...)>(function)(handle, arguments...);
} catch (const std::bad_alloc&) {
  return alloc_failed;
}

}  // namespace

Workspace workspace_of(Handle handle) {
  if (!table().any) return {};
  Given& given = given_to(handle);
  const Workspace found{given.data, given.bytes};
  if (found.bytes == 0 || found.data == nullptr) return {};
  const std::thread::id self = std::this_thread::get_id();
  std::thread::id user;
  if (!given.user.compare_exchange_strong(user, self) && user != self) given.shared = true;
  return given.shared || found.data != given.data ? Workspace{} : found;
}

}  // namespace vernier::interpose::cublas

using namespace vernier::interpose::cublas;

// These are none of the journal's business: a program that calls no more of cuBLAS gets no summary.
VERNIER_SYMBOL cublasSetWorkspace_v2(Handle handle, void* data, std::size_t bytes) {
  static constinit std::atomic<void*> real{nullptr};
  const Status status = pass_on("cublasSetWorkspace_v2", real, handle, data, bytes);
  if (status == success) remember(handle, bytes == 0 ? Workspace{} : Workspace{data, bytes});
  return status;
}

VERNIER_SYMBOL cublasSetStream_v2(Handle handle, void* stream) {  // which takes the workspace away
  static constinit std::atomic<void*> real{nullptr};
  const Status status = pass_on("cublasSetStream_v2", real, handle, stream);
  if (status == success) forget(handle);
  return status;
}

VERNIER_SYMBOL cublasDestroy_v2(Handle handle) {
  static constinit std::atomic<void*> real{nullptr};
  forget(handle);
  const Status status = pass_on("cublasDestroy_v2", real, handle);
  forget_handle(handle);
  return status;
}
