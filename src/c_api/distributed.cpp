// The C interface of distributed products.
#include <variant>

#include "c_api/c_api.hpp"
#include "vernier/distributed.hpp"
#include "vernier/vernier_distributed.h"

using vernier::DistributedProduct;

struct vernier_distributed_product {
  vernier_handle handle;
  std::variant<DistributedProduct<float>, DistributedProduct<double>, DistributedProduct<std::complex<float>>,
               DistributedProduct<std::complex<double>>>
      x;
};

namespace vernier::c_api {
namespace {

template <class T>
MatrixPart<T> part_of(const vernier_part* p) {
  require(p != nullptr, "vernier_distributed: a part is null");
  using Element = std::remove_const_t<T>;
  return {const_cast<Element*>(static_cast<const Element*>(p->X)),
          p->ldx,
          p->rows,
          p->row_count,
          p->columns,
          p->column_count};
}

const std::byte* bytes(const void* x) { return static_cast<const std::byte*>(x); }
std::byte* bytes(void* x) { return static_cast<std::byte*>(x); }

// body(T{}, product)
template <class Body>
vernier_status with_product(vernier_distributed d, Body body) {
  if (d == nullptr) return failed(error_without_handle, VERNIER_NOT_INITIALIZED, "the product is null");
  return guarded(d->handle->error,
                 [&] { std::visit([&]<class T>(DistributedProduct<T>& product) { body(T{}, product); }, d->x); });
}

// made(T{}): the product
template <class Make>
vernier_status create(vernier_handle handle, vernier_type type, vernier_distributed* product, Make made) {
  return with_handle(handle, [&] {
    require(product != nullptr, "vernier_distributed_create: product is null");
    *product = nullptr;
    with_type(type, [&]<class T>(T x) { *product = new vernier_distributed_product{handle, made(x)}; });
  });
}

// A fact, or 0 where there is none.
template <class Number, class Fact>
Number fact(vernier_distributed d, Fact find) {
  Number number = 0;
  with_product(d, [&](auto, const auto& product) { number = static_cast<Number>(find(product)); });
  return number;
}

template <class Words>
int64_t* message(vernier_distributed d, int64_t* count, Words words) {
  int64_t* first = nullptr;
  with_product(d, [&](auto, auto& product) {
    require(count != nullptr, "vernier_distributed: count is null");
    first = words(product).data();
    *count = static_cast<int64_t>(words(product).size());
  });
  return first;
}

}  // namespace
}  // namespace vernier::c_api

using namespace vernier::c_api;
using vernier::Op, vernier::Side;

extern "C" {

vernier_status vernier_distributed_create(vernier_handle handle, vernier_type type, vernier_op opa, vernier_op opb,
                                          int64_t m, int64_t n, int64_t k, vernier_distributed* product) {
  return create(handle, type, product,
                [&]<class T>(T) { return DistributedProduct<T>(as(opa), as(opb), m, n, k, options_of<T>(*handle)); });
}

vernier_status vernier_cuda_distributed_create(vernier_handle handle, vernier_type type, vernier_op opa, vernier_op opb,
                                               int64_t m, int64_t n, int64_t k, vernier_distributed* product) {
  return create(handle, type, product, [&]<class T>(T) {
    return DistributedProduct<T>(as(opa), as(opb), m, n, k, options_of<T>(*handle), {handle->on_gpu.stream});
  });
}

vernier_status vernier_distributed_destroy(vernier_distributed product) {
  delete product;
  return VERNIER_SUCCESS;
}

vernier_status vernier_distributed_scan(vernier_distributed d, vernier_side side, const vernier_part* part) {
  return with_product(d, [&]<class T>(T, auto& product) { product.scan(as(side), part_of<const T>(part)); });
}

#define VERNIER_FACT(Number, name)                                                      \
  Number vernier_distributed_##name(vernier_distributed d) {                            \
    return fact<Number>(d, [](const auto& product) { return Number{product.name()}; }); \
  }
#define VERNIER_FACT_OF_PASS(Number, name)                                           \
  Number vernier_distributed_##name(vernier_distributed d, int pass) {               \
    return fact<Number>(d, [&](const auto& product) { return product.name(pass); }); \
  }
#define VERNIER_MESSAGE(name)                                                  \
  int64_t* vernier_distributed_##name(vernier_distributed d, int64_t* count) { \
    return message(d, count, [](auto& product) { return product.name(); });    \
  }
VERNIER_FACT(int, scanning)
VERNIER_FACT(int, regular)
VERNIER_FACT(int, passes)
VERNIER_FACT_OF_PASS(int, moduli)
VERNIER_FACT_OF_PASS(size_t, element_bytes)
VERNIER_FACT_OF_PASS(size_t, words)
VERNIER_MESSAGE(maxima)
VERNIER_MESSAGE(sums)

void vernier_distributed_refuse(vernier_distributed d) {
  with_product(d, [](auto, auto& product) { product.refuse(); });
}

vernier_status vernier_distributed_combine(vernier_distributed d) {
  return with_product(d, [](auto, auto& product) { product.combine(); });
}

vernier_status vernier_distributed_convert(vernier_distributed d, int pass, vernier_side side, const vernier_part* part,
                                           void* elements, int64_t ld) {
  return with_product(d, [&]<class T>(T, const auto& product) {
    product.convert(pass, as(side), part_of<const T>(part), bytes(elements), ld);
  });
}

vernier_status vernier_distributed_multiply(vernier_distributed d, int pass, vernier_op opa, vernier_op opb, int64_t m,
                                            int64_t n, int64_t k, const void* A, int64_t lda, const void* B,
                                            int64_t ldb, void* C, int64_t ldc) {
  return with_product(d, [&](auto, const auto& product) {
    product.multiply(pass, as(opa), as(opb), m, n, k, bytes(A), lda, bytes(B), ldb, bytes(C), ldc);
  });
}

vernier_status vernier_distributed_partial(vernier_distributed d, int pass, const vernier_part* a,
                                           const vernier_part* b, void* C, int64_t ldc) {
  return with_product(d, [&]<class T>(T, const auto& product) {
    product.partial(pass, part_of<const T>(a), part_of<const T>(b), bytes(C), ldc);
  });
}

vernier_status vernier_distributed_add(vernier_distributed d, int pass, int64_t count, const void* from, void* to) {
  return with_product(d, [&](auto, const auto& product) { product.add(pass, count, bytes(from), bytes(to)); });
}

vernier_status vernier_distributed_to_words(vernier_distributed d, int pass, int64_t count, const void* elements,
                                            int64_t* words) {
  return with_product(d, [&](auto, const auto& product) { product.to_words(pass, count, bytes(elements), words); });
}

vernier_status vernier_distributed_from_words(vernier_distributed d, int pass, int64_t count, const int64_t* words,
                                              void* elements) {
  return with_product(d, [&](auto, const auto& product) { product.from_words(pass, count, words, bytes(elements)); });
}

vernier_status vernier_cuda_distributed_all_reduce(vernier_distributed d, int pass, int64_t count, void* elements,
                                                   void* communicator) {
  return with_product(
      d, [&](auto, const auto& product) { product.all_reduce(pass, count, bytes(elements), communicator); });
}

vernier_status vernier_distributed_finish(vernier_distributed d, const void* const* elements, int64_t ld,
                                          const void* alpha, const void* beta, const vernier_part* c) {
  return with_product(d, [&]<class T>(T, const auto& product) {
    require(alpha != nullptr && beta != nullptr, "vernier_distributed_finish: alpha or beta is null");
    const std::byte* sums[2] = {};
    for (int pass = 0; pass < product.passes() && elements != nullptr; ++pass) sums[pass] = bytes(elements[pass]);
    product.finish(sums, ld, *static_cast<const T*>(alpha), *static_cast<const T*>(beta), part_of<T>(c));
  });
}

}  // extern "C"
