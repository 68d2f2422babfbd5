#include "sequences/manner.hpp"

#include "support/matrix.hpp"
#include "vernier/vernier_cuda.h"

#if VERNIER_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

namespace vernier::sequences {

Manner::Manner(Environment& e, Handle& handle, Type type, Complex alpha, Complex beta, bool leaves_outcome)
    : handle_(handle),
      surroundings_(e.surroundings),
      alpha_(type, alpha),
      beta_(type, beta),
      gpu_(e.gpu),
      leaves_outcome_(leaves_outcome) {
  if (gpu_) set_up(e.random);
}

const void* Manner::beta() const {
  return factors_on_gpu_ ? static_cast<const std::byte*>(factors_.get()) + 16 : beta_.data();
}

std::string Manner::words() const {
  if (!gpu_) return "";
  return test::joined(asynchronous_ ? ", asynchronous" : "", factors_on_gpu_ ? ", factors on the GPU" : "",
                      captures_ ? ", captured" : "", outcome_ ? ", with outcome" : "", ", workspace ",
                      workspace_bytes_);
}

#if VERNIER_HAS_CUDA
namespace {

void check(cudaError_t error) {
  if (error != cudaSuccess) throw Fault(cudaGetErrorString(error));
}

std::shared_ptr<void> on_gpu(std::size_t bytes) { return {Device::allocate(bytes), Device::free}; }

}  // namespace

void Manner::set_up(Random& r) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  stream_ = {stream, [](void* s) { (void)cudaStreamDestroy(static_cast<cudaStream_t>(s)); }};
  vernier_cuda_set_stream(handle_, stream);
  asynchronous_ = chance(r, 0.4), factors_on_gpu_ = chance(r, 0.4), captures_ = chance(r, 0.3);
  vernier_cuda_set_asynchronous(handle_, asynchronous_ ? 1 : 0);
  vernier_cuda_set_pointer_mode(handle_, factors_on_gpu_ ? VERNIER_POINTER_DEVICE : VERNIER_POINTER_HOST);
  if (factors_on_gpu_) {
    factors_ = on_gpu(32);
    Device::send(factors_.get(), alpha_.data(), 16);
    Device::send(static_cast<std::byte*>(factors_.get()) + 16, beta_.data(), 16);
  }
  if (chance(r, 0.8)) {
    outcome_ = on_gpu(sizeof(vernier_cuda_outcome));
    check(cudaMemset(outcome_.get(), 0, sizeof(vernier_cuda_outcome)));
  }
  vernier_cuda_set_outcome(handle_, static_cast<vernier_cuda_outcome*>(outcome_.get()));
  if (chance(r, 0.15)) {
    workspace_bytes_ = one_of<std::size_t>(r, {std::size_t{1} << 20, std::size_t{1} << 24, std::size_t{1} << 27});
    workspace_ = on_gpu(workspace_bytes_);
  }
  vernier_cuda_set_workspace(handle_, workspace_.get(), workspace_bytes_);
  check(cudaDeviceSynchronize());
}

Manner::~Manner() {
  if (!gpu_) return;
  (void)cudaDeviceSynchronize();
  vernier_cuda_set_stream(handle_, nullptr);
  vernier_cuda_set_outcome(handle_, nullptr);
  vernier_cuda_set_workspace(handle_, nullptr, 0);
  vernier_cuda_set_pointer_mode(handle_, VERNIER_POINTER_HOST);
  vernier_cuda_set_asynchronous(handle_, 0);
}

vernier_status Manner::run(const std::function<vernier_status()>& call) {
  if (!captures_) return surroundings_.of(call);
  const auto stream = static_cast<cudaStream_t>(stream_.get());
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  const vernier_status status = surroundings_.of(call);
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  if (status != VERNIER_SUCCESS) {
    (void)cudaGetLastError();
    if (graph != nullptr) (void)cudaGraphDestroy(graph);
    return status;
  }
  check(ended);
  cudaGraphExec_t runs = nullptr;
  check(cudaGraphInstantiate(&runs, graph, 0));
  check(cudaGraphDestroy(graph));
  graph_ = {runs, [](void* g) { (void)cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(g)); }};
  return status;
}

void Manner::launch() {
  check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph_.get()), static_cast<cudaStream_t>(stream_.get())));
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream_.get())));
}

bool Manner::left_c_alone(const std::string& call) const {
  if (!gpu_ || !leaves_outcome_ || !outcome_) return false;
  vernier_cuda_outcome outcome;
  Device::fetch(&outcome, outcome_.get(), sizeof outcome);
  const vernier_status status = vernier_cuda_complete_report(handle_, &outcome);
  if (status != VERNIER_SUCCESS && status != VERNIER_BOUND_NOT_MET)
    throw Fault(call + ": no report: " + vernier_last_error(handle_));
  return status == VERNIER_BOUND_NOT_MET;
}
#else
void Manner::set_up(Random&) { throw Fault("built without CUDA"); }
Manner::~Manner() = default;
vernier_status Manner::run(const std::function<vernier_status()>& call) { return surroundings_.of(call); }
void Manner::launch() {}
bool Manner::left_c_alone(const std::string&) const { return false; }
#endif

}  // namespace vernier::sequences
