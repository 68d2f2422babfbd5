#include "workspace.hpp"

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "entry.hpp"
#include "handles.hpp"
#include "original.hpp"
#include "settings.hpp"

namespace vernier::interpose::cublas {
namespace {

struct Given {
  Workspace workspace;
  std::thread::id user;  // the first thread that asked
  bool shared = false;   // others did, too
};

// Never destroyed: calls may come until the very end.
struct Table {
  std::mutex mutex;
  std::unordered_map<Handle, Given> given;
  std::atomic<bool> any{false};  // has there ever been one?
};

Table& table() {
  static Table& once = *new Table;
  return once;
}

void remember(Handle handle, const Workspace& workspace) {
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  t.given[handle] = {workspace, {}, false};
  t.any = true;
}

void forget(Handle handle) {
  Table& t = table();
  if (!t.any) return;
  const std::lock_guard lock(t.mutex);
  if (const auto found = t.given.find(handle); found != t.given.end()) found->second = {};
}

template <class... Arguments>
Status pass_on(const char* name, std::atomic<void*>& real, Handle handle, Arguments... arguments) {
  void* const another = function_of_another(handle, name);
  void* function = another != nullptr ? another : real.load(std::memory_order_acquire);
  if (function == nullptr) real.store(function = original(name), std::memory_order_release);
  if (function == nullptr) return not_supported;
  return reinterpret_cast<Status (*)(Handle, Arguments...)>(function)(handle, arguments...);
}

}  // namespace

Workspace workspace_of(Handle handle) {
  Table& t = table();
  if (!t.any) return {};
  const std::lock_guard lock(t.mutex);
  const auto found = t.given.find(handle);
  if (found == t.given.end() || found->second.workspace.data == nullptr) return {};
  Given& given = found->second;
  const std::thread::id self = std::this_thread::get_id();
  if (given.user == std::thread::id()) given.user = self;
  given.shared = given.shared || given.user != self;
  return given.shared ? Workspace{} : given.workspace;
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
