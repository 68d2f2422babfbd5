// cublasLtMatmul: D = f(alpha op(A) op(B) + beta C), by columns or by rows.
#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include "entry.hpp"
#include "epilogue.hpp"
#include "handles.hpp"
#include "original.hpp"

namespace vernier::interpose::cublas {
namespace {

struct LayoutQueries {
  GetAttribute layout, product;
};

const LayoutQueries& layout_queries() {
  static const LayoutQueries once = {reinterpret_cast<GetAttribute>(original("cublasLtMatrixLayoutGetAttribute")),
                                     reinterpret_cast<GetAttribute>(original("cublasLtMatmulDescGetAttribute"))};
  return once;
}

struct Layout {
  int type;
  std::int64_t rows, columns, ld;
  std::int32_t count;
  std::int64_t stride;
  bool by_rows;
  bool plain;  // complex numbers as pairs, matrices of a batch by a stride
};

Layout layout_of(Descriptor descriptor) {
  const Attributes get{layout_queries().layout, descriptor};
  return {.type = static_cast<int>(get(layout_type, std::uint32_t{~0U})),
          .rows = static_cast<std::int64_t>(get(layout_rows, std::uint64_t{0})),
          .columns = static_cast<std::int64_t>(get(layout_columns, std::uint64_t{0})),
          .ld = get(layout_ld, std::int64_t{0}),
          .count = get(layout_batch_count, std::int32_t{1}),
          .stride = get(layout_batch_stride, std::int64_t{0}),
          .by_rows = get(layout_order, std::int32_t{-1}) == order_rows,
          .plain = (get(layout_order, std::int32_t{-1}) == order_columns ||
                    get(layout_order, std::int32_t{-1}) == order_rows) &&
                   get(layout_plane_offset, std::int64_t{0}) == 0 && get(layout_batch_mode, std::int32_t{0}) == 0};
}

// What most calls need of a layout: an answer of cuBLASLt's takes 9 ns. The same eight words, which is what a layout is
// (cublasLtMatrixLayoutOpaque_t), say the same again.
struct Brief {
  std::uint64_t words[8];
  int type;
  std::int64_t rows, columns;
  bool known;

  bool is_of(const std::uint64_t* x) const {
    std::uint64_t apart = 0;
    for (int i = 0; i < 8; ++i) apart |= words[i] ^ x[i];
    return known && apart == 0;
  }
};

// On the heap, as what is decided about shapes.
constexpr int brief_bits = 6;
constinit thread_local Brief* briefs = nullptr;
struct Briefs {
  ~Briefs() { delete[] std::exchange(briefs, nullptr); }
};

Brief* new_briefs() {
  static thread_local Briefs deleted_at_the_end;
  static_cast<void>(deleted_at_the_end);
  return briefs = new Brief[1 << brief_bits]{};
}

// Another layout may take its place.
const Brief& brief_of(Descriptor descriptor) {
  const auto* const words = static_cast<const std::uint64_t*>(descriptor);
  std::uint64_t hash = 0;
  for (int i = 0; i < 4; ++i) hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
  Brief& brief = (briefs != nullptr ? briefs : new_briefs())[hash >> (64 - brief_bits)];
  if (brief.is_of(words)) return brief;
  const Attributes get{layout_queries().layout, descriptor};
  brief.known = true;
  std::copy_n(words, 8, brief.words);
  brief.type = static_cast<int>(get(layout_type, std::uint32_t{~0U}));
  brief.rows = static_cast<std::int64_t>(get(layout_rows, std::uint64_t{0}));
  brief.columns = static_cast<std::int64_t>(get(layout_columns, std::uint64_t{0}));
  return brief;
}

bool alike(const Layout& x, const Layout& y) {
  return x.type == y.type && x.rows == y.rows && x.columns == y.columns && x.ld == y.ld && x.count == y.count &&
         x.stride == y.stride && x.by_rows == y.by_rows;
}

struct Matmul {
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

bool sizes_fit(const Layout& a, bool turned_a, const Layout& b, bool turned_b, const Layout& d) {
  return (turned_a ? a.columns : a.rows) == d.rows && (turned_b ? b.rows : b.columns) == d.columns &&
         (turned_a ? a.rows : a.columns) == (turned_b ? b.columns : b.rows);
}

// A factor as the routine takes it: by columns, and turned where the order of the result is the other one.
char letter_of(int op, vernier_type type, const Layout& factor, bool result_by_rows) {
  const char letter = op_letter(op, type);
  if (factor.by_rows == result_by_rows) return letter;
  return letter == 'N' ? 'T' : letter == 'T' ? 'N' : 0;  // the conjugate alone is no operation
}

// Can what stands in C be what the routine adds to?
bool c_serves(const Matmul& p, const Layout& c, const Layout& d, bool no_c) {
  if (no_c || (p.c == p.d && alike(c, d))) return true;
  return c.plain && c.type == d.type && c.rows == d.rows && c.columns == d.columns && c.by_rows == d.by_rows &&
         c.count == 1 && p.c != nullptr && p.c != p.d;
}

bool any_scale(const Attributes& get) {
  for (const int scale : {product_a_scale, product_b_scale, product_c_scale, product_d_scale, product_d_maximum})
    if (get(scale, static_cast<void*>(nullptr)) != nullptr) return true;
  return false;
}

// Of matrices by rows: the transposes, whose product has its factors the other way round.
Call by_columns(Call call) {
  std::swap(call.opa, call.opb);
  std::swap(call.m, call.n);
  std::swap(call.a, call.b);
  std::swap(call.lda, call.ldb);
  std::swap(call.stride_a, call.stride_b);
  return call;
}

// The call, unless it asks for what libvernier does not do: another type or order, a scale, another epilogue.
std::optional<Call> call_of(const Matmul& p, vernier_type type, const Layout& d) {
  const Layout a = layout_of(p.a_layout), b = layout_of(p.b_layout), c = layout_of(p.c_layout);
  const Attributes get{layout_queries().product, p.description};
  const int mode = get(product_pointer_mode, std::int32_t{host}), op_a = get(product_op_a, std::int32_t{op_n}),
            op_b = get(product_op_b, std::int32_t{op_n});
  const bool plain = a.plain && b.plain && d.plain && a.type == d.type && b.type == d.type && a.count == d.count &&
                     b.count == d.count && get(product_scale_type, std::int32_t{-1}) == d.type &&
                     leaves_it_open(type, get(product_compute_type, std::int32_t{-1})) &&
                     (mode == host || mode == device) && get(product_op_c, std::int32_t{op_n}) == op_n &&
                     get(product_fill_mode, std::int32_t{fill_full}) == fill_full;
  const bool no_c = mode == host && is_zero(type, p.beta), in_place = p.c == p.d;
  if (!plain || any_scale(get) || !c_serves(p, c, d, no_c) || !sizes_fit(a, op_a != op_n, b, op_b != op_n, d))
    return std::nullopt;
  const std::optional<Epilogue> epilogue = epilogue_of(get, d.type, d.rows);
  const bool rows = a.by_rows || b.by_rows || d.by_rows;
  if (!epilogue || (!epilogue->empty() && (rows || d.count != 1))) return std::nullopt;
  if (!no_c && !in_place && d.count != 1) return std::nullopt;
  const Call call{.routine = Routine::gemm,
                  .type = type,
                  .opa = letter_of(op_a, type, a, d.by_rows),
                  .opb = letter_of(op_b, type, b, d.by_rows),
                  .m = d.rows,
                  .n = d.columns,
                  .k = op_a != op_n ? a.rows : a.columns,
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
                  .device_factors = mode == device,
                  .added = no_c || in_place ? nullptr : p.c,
                  .ld_added = c.ld,
                  .epilogue = *epilogue};
  if (call.opa == 0 || call.opb == 0) return std::nullopt;
  return d.by_rows ? by_columns(call) : call;
}

bool take(Symbol& symbol, Handle handle, const Matmul& p) noexcept try {
  if (this_thread.depth > 0) return false;
  Call unknown{.routine = Routine::gemm, .type = VERNIER_S};
  if (is_of_another(handle)) return symbol.refuse(unknown, Reason::mode);
  if (p.description == nullptr || p.a_layout == nullptr || p.b_layout == nullptr || p.c_layout == nullptr ||
      p.d_layout == nullptr || p.alpha == nullptr || p.beta == nullptr || layout_queries().layout == nullptr ||
      layout_queries().product == nullptr)
    return symbol.refuse(unknown, Reason::invalid);
  const Brief& of_a = brief_of(p.a_layout);
  const std::int64_t rows_of_a = of_a.rows, columns_of_a = of_a.columns;
  const Brief& d = brief_of(p.d_layout);
  const std::optional<vernier_type> type = type_of(d.type);
  if (!type) return symbol.refuse(unknown, Reason::mode);
  // A description is some sixty questions. As if by columns: what has these sizes is passed on however it lies.
  const auto product = [&] {
    const std::int64_t k = rows_of_a * columns_of_a / std::max<std::int64_t>(d.rows, 1);
    return Product{*type, 'N', 'N', d.rows, d.columns, k, d.rows, k, d.rows};
  };
  if (symbol.goes_on_at_once(rows_of_a, columns_of_a, d.columns, product)) return false;
  if (!symbol.concerns(rows_of_a, columns_of_a, d.columns)) return false;
  const std::optional<Call> call = call_of(p, *type, layout_of(p.d_layout));
  if (!call || !can_be_redone(*call)) return symbol.refuse(unknown, Reason::mode);
  return symbol.offer(*call);
} catch (const std::bad_alloc&) {
  return false;
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
  if (take(symbol, handle,
           {description, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout, workspace, workspace_bytes,
            stream}))
    return success;
  return symbol.pass_on<Status>(handle, description, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout,
                                algorithm, workspace, workspace_bytes, stream);
}
