#include "multiply.hpp"

#include <algorithm>
#include <vernier/cuda_level3.hpp>
#include <vernier/level3.hpp>

namespace vernier::python {
namespace {

// A batch with at most one dimension left, by columns: C^T = B^T A^T where C is by rows.
struct Call {
  Op opa, opb;
  std::int64_t m, n, k;
  Matrix a, b, c;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0, count = 1;
};

Call call_of(const Batch& x) {
  const auto op = [&](const Matrix& matrix) { return matrix.by_rows == x.c.by_rows ? Op::none : Op::transpose; };
  Call call{op(x.a), op(x.b), x.m, x.n, x.k, x.a, x.b, x.c};
  if (x.dimensions > 0) {
    const int last = x.dimensions - 1;
    call.stride_a = x.strides_a[last], call.stride_b = x.strides_b[last], call.stride_c = x.strides_c[last];
    call.count = x.sizes[last];
  }
  if (x.c.by_rows) {
    std::swap(call.opa, call.opb);
    std::swap(call.m, call.n);
    std::swap(call.a, call.b);
    std::swap(call.stride_a, call.stride_b);
  }
  return call;
}

vernier::Options cpu_options(const Request& request) {
  return {
      .contract = request.contract, .engine = request.engine, .threads = request.threads, .progress = request.progress};
}

cuda::Options gpu_options(const Request& request) {
  return {.contract = request.contract,
          .engine = request.engine,
          .stream = request.stream,
          .workspace = request.workspace,
          .workspace_bytes = request.workspace_bytes};
}

template <class T>
T* moved(const Matrix& matrix, std::int64_t elements) {
  return static_cast<T*>(matrix.data) + elements;
}

template <class T>
Report run_on_cpu(const Batch& batch, const Request& request) {
  const Call x = call_of(batch);
  const auto *A = moved<T>(x.a, 0), *B = moved<T>(x.b, 0);
  auto* C = moved<T>(x.c, 0);
  const vernier::Options options = cpu_options(request);
  if (batch.dimensions == 0)
    return gemm<T>(x.opa, x.opb, x.m, x.n, x.k, T(1), A, x.a.leading, B, x.b.leading, T(0), C, x.c.leading, options);
  return gemm_strided_batched<T>(x.opa, x.opb, x.m, x.n, x.k, T(1), A, x.a.leading, x.stride_a, B, x.b.leading,
                                 x.stride_b, T(0), C, x.c.leading, x.stride_c, x.count, options);
}

template <class T>
Report run_on_gpu(const Batch& batch, const Request& request) {
  const Call x = call_of(batch);
  const auto *A = moved<T>(x.a, 0), *B = moved<T>(x.b, 0);
  auto* C = moved<T>(x.c, 0);
  const T one(1), zero(0);
  const cuda::Options options = gpu_options(request);
  if (batch.dimensions == 0)
    return cuda::gemm<T>(x.opa, x.opb, x.m, x.n, x.k, &one, A, x.a.leading, B, x.b.leading, &zero, C, x.c.leading,
                         options);
  return cuda::gemm_strided_batched<T>(x.opa, x.opb, x.m, x.n, x.k, &one, A, x.a.leading, x.stride_a, B, x.b.leading,
                                       x.stride_b, &zero, C, x.c.leading, x.stride_c, x.count, options);
}

// All but the last dimension of the batch, one after another.
template <class T>
Report run(const Batch& batch, const Request& request) {
  const auto once = [&](const Batch& x) {
    return x.device == on_cpu ? run_on_cpu<T>(x, request) : run_on_gpu<T>(x, request);
  };
  if (batch.dimensions <= 1) return once(batch);
  Batch inner = batch;
  inner.dimensions = 1;
  const int last = batch.dimensions - 1;
  inner.sizes[0] = batch.sizes[last], inner.strides_a[0] = batch.strides_a[last];
  inner.strides_b[0] = batch.strides_b[last], inner.strides_c[0] = batch.strides_c[last];
  Report all;
  std::int64_t index[max_dimensions] = {};
  for (bool first = true;; first = false) {
    std::int64_t a = 0, b = 0, c = 0;
    for (int d = 0; d < last; ++d)
      a += index[d] * batch.strides_a[d], b += index[d] * batch.strides_b[d], c += index[d] * batch.strides_c[d];
    inner.a.data = moved<T>(batch.a, a), inner.b.data = moved<T>(batch.b, b), inner.c.data = moved<T>(batch.c, c);
    Report report = once(inner);
    if (first) {
      all = std::move(report);
    } else {
      all.fallback = all.fallback || report.fallback;
      all.seconds += report.seconds;
    }
    int d = last - 1;
    while (d >= 0 && ++index[d] == batch.sizes[d]) index[d--] = 0;
    if (d < 0) return all;
  }
}

// What a product on a GPU takes, known for the last few of a thread: asking the library costs a microsecond.
struct Sized {
  Kind kind = Kind::float64;
  int device = on_cpu;
  std::int64_t m = 0, n = 0, k = 0;
  Contract contract = {};
  std::string engine = {};
  std::size_t bytes = 0;

  bool same_product(const Sized& x) const {
    return kind == x.kind && device == x.device && m == x.m && n == x.n && k == x.k && contract == x.contract &&
           engine == x.engine;
  }
};

void remove_dimension(Batch& batch, int d) {
  for (int i = d; i + 1 < batch.dimensions; ++i) {
    batch.sizes[i] = batch.sizes[i + 1], batch.strides_a[i] = batch.strides_a[i + 1];
    batch.strides_b[i] = batch.strides_b[i + 1], batch.strides_c[i] = batch.strides_c[i + 1];
  }
  --batch.dimensions;
}

}  // namespace

bool as_matrix(void* data, const std::int64_t shape[2], const std::int64_t strides[2], Matrix& matrix) {
  const auto fits = [&](int inner, int outer) {
    if (shape[inner] > 1 && strides[inner] != 1) return false;
    const auto least = std::max<std::int64_t>(1, shape[inner]);
    if (shape[outer] > 1 && strides[outer] < least) return false;
    matrix = {data, inner == 1, shape[outer] > 1 ? strides[outer] : least};
    return true;
  };
  if (shape[0] == 0 || shape[1] == 0) {  // strides say nothing then
    matrix = {data, true, std::max<std::int64_t>(1, shape[1])};
    return true;
  }
  return fits(1, 0) || fits(0, 1);
}

void simplify(Batch& batch, bool fold) {
  for (int d = batch.dimensions - 1; d >= 0; --d)
    if (batch.sizes[d] == 1) remove_dimension(batch, d);
  for (int d = batch.dimensions - 1; d > 0; --d) {
    const auto one = [&](const std::int64_t* strides) { return strides[d - 1] == strides[d] * batch.sizes[d]; };
    if (!one(batch.strides_a) || !one(batch.strides_b) || !one(batch.strides_c)) continue;
    batch.sizes[d] *= batch.sizes[d - 1];
    remove_dimension(batch, d - 1);
  }
  const bool rows_follow = fold && batch.dimensions == 1 && batch.strides_b[0] == 0 && batch.a.by_rows &&
                           batch.c.by_rows && batch.strides_a[0] == batch.m * batch.a.leading &&
                           batch.strides_c[0] == batch.m * batch.c.leading;
  if (!rows_follow) return;
  batch.m *= batch.sizes[0];
  batch.dimensions = 0;
}

Contract contract_of(const std::string& text, Kind kind) {
  if (!text.empty()) return Contract::parse(text);
  return kind == Kind::float32 || kind == Kind::complex64 ? Contract::fp32() : Contract::fp64();
}

std::size_t workspace_of(const Batch& batch, const Request& request) {
  if (batch.device == on_cpu || batch.dimensions > 0) return 0;
  const Call x = call_of(batch);
  const Sized wanted{batch.kind, batch.device, x.m, x.n, x.k, request.contract, request.engine};
  thread_local Sized recent[8];
  thread_local unsigned next = 0;
  for (const Sized& known : recent)
    if (known.same_product(wanted)) return known.bytes;
  Sized& entry = recent[next++ % 8] = wanted;
  return entry.bytes = with_type(batch.kind, [&](auto zero) {
           using T = decltype(zero);
           const cuda::Options options = gpu_options(request);
           const bool native = cuda::explain<T>(x.opa, x.opb, x.m, x.n, x.k, options).scheme == "native";
           return native ? std::size_t{0} : cuda::gemm_workspace<T>(x.m, x.n, x.k, options);
         });
}

Report multiply(const Batch& batch, const Request& request) {
  return with_type(batch.kind, [&](auto zero) { return run<decltype(zero)>(batch, request); });
}

Plan explain(Kind kind, bool on_gpu, std::int64_t m, std::int64_t n, std::int64_t k, const Request& request) {
  return with_type(kind, [&](auto zero) {
    using T = decltype(zero);
    if (on_gpu) return cuda::explain<T>(Op::none, Op::none, n, m, k, gpu_options(request));
    return vernier::explain<T>(Op::none, Op::none, n, m, k, cpu_options(request));
  });
}

}  // namespace vernier::python
