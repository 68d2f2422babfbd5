#include "jax_ffi.hpp"

#include <xla/ffi/api/ffi.h>
#include <exception>
#include <string>
#include <string_view>

#include "multiply.hpp"

namespace vernier::python {
namespace {

namespace ffi = xla::ffi;

bool kind_of(ffi::DataType type, Kind& kind) {
  constexpr ffi::DataType types[] = {ffi::DataType::F32, ffi::DataType::F64, ffi::DataType::C64, ffi::DataType::C128};
  for (int i = 0; i < 4; ++i)
    if (type == types[i]) return kind = static_cast<Kind>(i), true;
  return false;
}

// a: batch x m x k, b: batch x k x n, by rows, with one batch for all.
Batch batch_of(const ffi::AnyBuffer& a, const ffi::AnyBuffer& b, void* result, bool on_gpu) {
  Batch batch;
  const auto shape = a.dimensions(), right = b.dimensions();
  const auto last = shape.size() - 1;
  batch.device = on_gpu ? 0 : on_cpu;
  batch.m = shape[last - 1], batch.k = shape[last], batch.n = right[last];
  const auto rows_of = [](std::int64_t columns) { return std::max<std::int64_t>(1, columns); };
  batch.a = {a.untyped_data(), true, rows_of(batch.k)};
  batch.b = {b.untyped_data(), true, rows_of(batch.n)};
  batch.c = {result, true, rows_of(batch.n)};
  std::int64_t count = 1;
  for (std::size_t d = 0; d + 1 < last; ++d) count *= shape[d];
  if (last > 1) {
    batch.dimensions = 1, batch.sizes[0] = count;
    batch.strides_a[0] = batch.m * batch.k, batch.strides_b[0] = batch.k * batch.n;
    batch.strides_c[0] = batch.m * batch.n;
  }
  return batch;
}

ffi::Error product(const ffi::AnyBuffer& a, const ffi::AnyBuffer& b, ffi::Result<ffi::AnyBuffer> c,
                   std::string_view contract, bool on_gpu, void* stream, ffi::ScratchAllocator* scratch) {
  try {
    Batch batch = batch_of(a, b, c->untyped_data(), on_gpu);
    if (!kind_of(a.element_type(), batch.kind)) return ffi::Error::InvalidArgument("vernier: unknown element type");
    Request request{.contract = contract_of(std::string(contract), batch.kind), .stream = stream};
    simplify(batch, !request.contract.reproducible);
    if (const std::size_t bytes = workspace_of(batch, request); bytes > 0 && scratch != nullptr) {
      const auto memory = scratch->Allocate(bytes, 256);
      if (memory.has_value()) request.workspace = *memory, request.workspace_bytes = bytes;
    }
    multiply(batch, request);
    return ffi::Error::Success();
  } catch (const Error& error) {
    return ffi::Error(ffi::ErrorCode::kInvalidArgument, std::string(error.what()));
  } catch (const std::exception& error) {
    return ffi::Error(ffi::ErrorCode::kInternal, std::string(error.what()));
  }
}

ffi::Error on_the_cpu(ffi::AnyBuffer a, ffi::AnyBuffer b, ffi::Result<ffi::AnyBuffer> c, std::string_view contract) {
  return product(a, b, c, contract, false, nullptr, nullptr);
}

ffi::Error on_a_gpu(void* stream, ffi::ScratchAllocator scratch, ffi::AnyBuffer a, ffi::AnyBuffer b,
                    ffi::Result<ffi::AnyBuffer> c, std::string_view contract) {
  return product(a, b, c, contract, true, stream, &scratch);
}

XLA_FFI_DEFINE_HANDLER(
    cpu_handler, on_the_cpu,
    ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>().Attr<std::string_view>(
        "contract"));
XLA_FFI_DEFINE_HANDLER(gpu_handler, on_a_gpu,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::PlatformStream<void*>>()
                           .Ctx<ffi::ScratchAllocator>()
                           .Arg<ffi::AnyBuffer>()
                           .Arg<ffi::AnyBuffer>()
                           .Ret<ffi::AnyBuffer>()
                           .Attr<std::string_view>("contract"));

}  // namespace

void bind_jax(nb::module_& m) {
  m.def("jax_targets", [] {
    nb::dict targets;
    targets["cpu"] = nb::capsule(reinterpret_cast<void*>(cpu_handler));
    targets["CUDA"] = nb::capsule(reinterpret_cast<void*>(gpu_handler));
    return targets;
  });
}

}  // namespace vernier::python
