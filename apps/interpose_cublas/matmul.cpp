// cublasLtMatmul: D = alpha op(A) op(B) + beta C, where nothing else is asked of it.
#include "entry.hpp"
#include "original.hpp"

namespace vernier::interpose::cublas {
namespace {

using Descriptor = void*;
using GetAttribute = Status (*)(Descriptor, int, void*, std::size_t, std::size_t*);

struct Queries {
  GetAttribute layout, product;
};

const Queries& queries() {
  static const Queries once = {reinterpret_cast<GetAttribute>(original("cublasLtMatrixLayoutGetAttribute")),
                               reinterpret_cast<GetAttribute>(original("cublasLtMatmulDescGetAttribute"))};
  return once;
}

// The attributes of one descriptor. An older library lacks some: they have the default there.
struct Attributes {
  GetAttribute get;
  Descriptor descriptor;

  template <class Value>
  Value operator()(int attribute, Value otherwise) const {
    Value value = otherwise;
    std::size_t written = 0;
    return get(descriptor, attribute, &value, sizeof value, &written) == success && written == sizeof value ? value
                                                                                                            : otherwise;
  }
};

struct Layout {
  int type;
  std::int64_t rows, columns, ld;
  std::int32_t count;
  std::int64_t stride;
  bool plain;  // by columns, complex numbers as pairs
};

Layout layout_of(Descriptor descriptor) {
  const Attributes get{queries().layout, descriptor};
  return {.type = static_cast<int>(get(layout_type, std::uint32_t{~0U})),
          .rows = static_cast<std::int64_t>(get(layout_rows, std::uint64_t{0})),
          .columns = static_cast<std::int64_t>(get(layout_columns, std::uint64_t{0})),
          .ld = get(layout_ld, std::int64_t{0}),
          .count = get(layout_batch_count, std::int32_t{1}),
          .stride = get(layout_batch_stride, std::int64_t{0}),
          .plain = get(layout_order, std::int32_t{-1}) == order_columns &&
                   get(layout_plane_offset, std::int64_t{0}) == 0 && get(layout_batch_mode, std::int32_t{0}) == 0};
}

bool alike(const Layout& x, const Layout& y) {
  return x.type == y.type && x.rows == y.rows && x.columns == y.columns && x.ld == y.ld && x.count == y.count &&
         x.stride == y.stride;
}

struct Product {
  Descriptor description;
  const void* alpha;
  const void* a;
  Descriptor a_layout;
  const void* b;
  Descriptor b_layout;
  const void* beta;
  const void* c;
  Descriptor c_layout;
  void* d;
  Descriptor d_layout;
  void* workspace;
  std::size_t workspace_bytes;
  void* stream;
};

// The call, unless it asks for more than a product: another type or order, a bias, a scale, C beside D.
std::optional<Call> call_of(const Product& p, vernier_type type, const Layout& d) {
  const Layout a = layout_of(p.a_layout), b = layout_of(p.b_layout), c = layout_of(p.c_layout);
  const Attributes get{queries().product, p.description};
  const int mode = get(product_pointer_mode, std::int32_t{host}), op_a = get(product_op_a, std::int32_t{op_n}),
            op_b = get(product_op_b, std::int32_t{op_n});
  const bool plain = a.plain && b.plain && c.plain && d.plain && a.type == d.type && b.type == d.type &&
                     a.count == d.count && b.count == d.count && get(product_scale_type, std::int32_t{-1}) == d.type &&
                     leaves_it_open(type, get(product_compute_type, std::int32_t{-1})) &&
                     (mode == host || mode == device) && get(product_op_c, std::int32_t{op_n}) == op_n &&
                     get(product_fill_mode, std::int32_t{fill_full}) == fill_full &&
                     get(product_epilogue, std::uint32_t{default_epilogue}) == default_epilogue;
  for (const int scale : {product_a_scale, product_b_scale, product_c_scale, product_d_scale, product_d_maximum})
    if (get(scale, static_cast<void*>(nullptr)) != nullptr) return std::nullopt;
  const bool in_place = p.c == p.d && alike(c, d), no_c = mode == host && is_zero(type, p.beta);
  if (!plain || (!in_place && !no_c)) return std::nullopt;
  const bool turned_a = op_a != op_n, turned_b = op_b != op_n;
  const std::int64_t k = turned_a ? a.rows : a.columns;
  if ((turned_a ? a.columns : a.rows) != d.rows || (turned_b ? b.rows : b.columns) != d.columns ||
      (turned_b ? b.columns : b.rows) != k)
    return std::nullopt;
  return Call{.routine = Routine::gemm,
              .type = type,
              .opa = op_letter(op_a, type),
              .opb = op_letter(op_b, type),
              .m = d.rows,
              .n = d.columns,
              .k = k,
              .alpha = p.alpha,
              .a = p.a,
              .lda = a.ld,
              .b = p.b,
              .ldb = b.ld,
              .beta = p.beta,
              .c = p.d,
              .ldc = d.ld,
              .batch = d.count == 1 ? Call::Batch::none : Call::Batch::strided,
              .count = d.count,
              .stride_a = a.stride,
              .stride_b = b.stride,
              .stride_c = d.stride,
              .stream = p.stream,
              .workspace = p.workspace_bytes > 0 ? p.workspace : nullptr,
              .workspace_bytes = p.workspace_bytes,
              .device_factors = mode == device};
}

bool take(Symbol& symbol, const Product& p) {
  if (this_thread.depth > 0) return false;
  Call unknown{.routine = Routine::gemm, .type = VERNIER_S};
  if (p.description == nullptr || p.a_layout == nullptr || p.b_layout == nullptr || p.c_layout == nullptr ||
      p.d_layout == nullptr || p.alpha == nullptr || p.beta == nullptr || queries().layout == nullptr ||
      queries().product == nullptr)
    return symbol.refuse(unknown, Reason::invalid);
  const Layout d = layout_of(p.d_layout);
  const std::optional<vernier_type> type = type_of(d.type);
  if (!type) return symbol.refuse(unknown, Reason::mode);
  const std::optional<Call> call = call_of(p, *type, d);
  if (!call || !can_be_redone(*call)) return symbol.refuse(unknown, Reason::mode);
  return symbol.take(*call);
}

}  // namespace
}  // namespace vernier::interpose::cublas

using namespace vernier::interpose;
using namespace vernier::interpose::cublas;

VERNIER_SYMBOL cublasLtMatmul(Handle handle, Descriptor description, const void* alpha, const void* a,
                              Descriptor a_layout, const void* b, Descriptor b_layout, const void* beta, const void* c,
                              Descriptor c_layout, void* d, Descriptor d_layout, const void* algorithm, void* workspace,
                              std::size_t workspace_bytes, void* stream) {
  VERNIER_STATE(cublasLtMatmul);
  if (take(symbol, {description, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout, workspace,
                    workspace_bytes, stream}))
    return success;
  return symbol.pass_on<Status>(handle, description, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout,
                                algorithm, workspace, workspace_bytes, stream);
}
