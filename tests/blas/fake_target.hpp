// A device in memory of the host that multiplies as the CPU does.
#pragma once

#include "../offload/fake_link.hpp"
#include "blas/offload/offload.hpp"

namespace vernier::test {

template <class T>
OffloadTarget<T> fake_target(const Contract& contract, std::uint64_t seed, const Fault* fault = nullptr,
                             int devices = 1) {
  OffloadTarget<T> target;
  target.devices = devices;
  target.name = "a fake device";
  target.link = [=](int device, offload::BlockProduct product) -> std::unique_ptr<offload::Link> {
    return std::make_unique<FakeLink>(std::move(product), seed + static_cast<std::uint64_t>(device),
                                      device == 0 ? fault : nullptr);
  };
  target.free_memory = [](int) { return std::size_t{1} << 28; };
  target.memory_of = [](const void*, const void*) { return offload::Memory::pageable; };
  target.synchronize = [] {};
  target.workspace = [](auto m, auto n, auto, bool) { return static_cast<std::size_t>(m + n); };
  target.multiply = [contract](const GemmCall<T>& x, std::size_t, void*) {
    Options options;
    options.contract = contract;
    options.threads = 1;
    return gemm<T>(x.opa, x.opb, x.m, x.n, x.k, x.alpha, x.a, x.lda, x.b, x.ldb, x.beta, x.c, x.ldc, options);
  };
  return target;
}

}  // namespace vernier::test
