// A product in a graph, and new data for it.
#pragma once

#include "gpu/fixture.hpp"

namespace vernier::test {

class CapturedProduct {
 public:
  template <class Product>
  explicit CapturedProduct(const cuda::Stream& stream, Product product) {
    cudaGraph_t graph = nullptr;
    cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    product();
    cuda::check(cudaStreamEndCapture(stream, &graph), "capture");
    cuda::check(cudaGraphInstantiate(&executable_, graph, 0), "graph");
    (void)cudaGraphDestroy(graph);
  }
  ~CapturedProduct() { (void)cudaGraphExecDestroy(executable_); }
  CapturedProduct(const CapturedProduct&) = delete;
  CapturedProduct& operator=(const CapturedProduct&) = delete;

  void replay(const cuda::Stream& stream) const {
    cuda::check(cudaGraphLaunch(executable_, stream), "graph");
    stream.wait();
  }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

template <class T>
void overwrite(const DeviceCopy<T>& to, const Matrix<T>& x) {
  cuda::copy_to_device(to.data() - Matrix<T>::guard, x.data() - Matrix<T>::guard,
                       static_cast<std::size_t>(2 * Matrix<T>::guard + x.ld() * x.columns()) * sizeof(T));
}

}  // namespace vernier::test
