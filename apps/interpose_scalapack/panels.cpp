#include "panels.hpp"

#include <algorithm>

#include "depth.hpp"
#include "libvernier.hpp"

namespace vernier::interpose {
namespace {

constexpr std::int64_t least_chunk = 512;  // columns of a triangle that are multiplied together

// PBLAS hands no context to the functions of its table.
struct Running {
  const DistributedCall* call = nullptr;
  vernier_handle handle = nullptr;
  std::byte* c = nullptr;
  std::int64_t ldc = 1;
  vernier_status status = VERNIER_SUCCESS;
  std::int64_t entries = 0;  // of C that have been multiplied
  double seconds = 0;
};
thread_local Running running;

// A piece of the local part of C.
struct LocalProduct {
  char opa, opb;
  std::int64_t row, column, rows, columns;
  const std::byte *a, *b;
  std::int64_t lda, ldb;
};

void multiply(const LocalProduct& p) {
  const DistributedCall& c = *running.call;
  const auto size = static_cast<std::int64_t>(element_size(c.type));
  if (p.rows == 0 || p.columns == 0 || running.status != VERNIER_SUCCESS) return;
  const Call call{.routine = Routine::gemm,
                  .type = c.type,
                  .opa = p.opa,
                  .opb = p.opb,
                  .m = p.rows,
                  .n = p.columns,
                  .k = c.k,
                  .alpha = c.alpha,
                  .a = p.a,
                  .lda = p.lda,
                  .b = p.b,
                  .ldb = p.ldb,
                  .beta = c.beta,
                  .c = running.c + size * (p.row + p.column * running.ldc),
                  .ldc = running.ldc};
  const double start = now();
  running.status = call_routine(running.handle, call);
  running.seconds += now() - start;
}

// Of C only a triangle is wanted: some columns at a time, with the rows that they have in it.
void multiply_triangle(const LocalProduct& whole) {
  const DistributedCall& c = *running.call;
  const auto size = static_cast<std::int64_t>(element_size(c.type));
  const bool lower = c.c_triangle == 'L';
  const auto first_row = c.c->rows().begin() + whole.row, last_row = first_row + whole.rows;
  const std::int64_t chunk = std::max(least_chunk, whole.columns / 8);
  for (std::int64_t j = 0; j < whole.columns; j += chunk) {
    const std::int64_t columns = std::min(chunk, whole.columns - j);
    const auto column = [&](std::int64_t at) { return c.c->columns()[static_cast<std::size_t>(whole.column + at)]; };
    const std::int64_t begin = lower ? std::lower_bound(first_row, last_row, column(j)) - first_row : 0;
    const std::int64_t end =
        lower ? whole.rows : std::upper_bound(first_row, last_row, column(j + columns - 1)) - first_row;
    LocalProduct part = whole;
    part.row += begin, part.rows = end - begin;
    part.column += j, part.columns = columns;
    part.a += size * begin * (part.opa == 'N' ? 1 : part.lda);
    part.b += size * j * (part.opb == 'N' ? part.ldb : 1);
    multiply(part);
  }
}

char letter(const char* op) { return static_cast<char>(*op & ~32); }

void panel_gemm(char* opa, char* opb, int* m, int* n, int* k, char*, char* a, int* lda, char* b, int* ldb, char*,
                char* c, int* ldc) {
  if (*m == 0 || *n == 0) return;
  if (*k != running.call->k || *ldc != running.ldc) {
    running.status = VERNIER_UNSUPPORTED;
    return;
  }
  const std::int64_t place =
      (reinterpret_cast<std::byte*>(c) - running.c) / static_cast<std::int64_t>(element_size(running.call->type));
  const LocalProduct product{letter(opa),
                             letter(opb),
                             place % *ldc,
                             place / *ldc,
                             *m,
                             *n,
                             reinterpret_cast<std::byte*>(a),
                             reinterpret_cast<std::byte*>(b),
                             *lda,
                             *ldb};
  running.entries += product.rows * product.columns;
  if (running.call->c_triangle != 0)
    multiply_triangle(product);
  else
    multiply(product);
}

// The matrix where it lies.
struct Placed {
  char* data;
  InnerDescriptor descriptor;

  Placed(const SubMatrix& x, const vernier_part& part)
      : data(static_cast<char*>(const_cast<void*>(part.X))), descriptor(x.inner()) {
    descriptor.back() = static_cast<int>(part.ldx);
  }
};

// Bytes of all k of so many rows of op(A), of so many columns of op(B), on a process at most.
double row_panel(const DistributedCall& c, int rows) {
  return static_cast<double>(element_size(c.type)) * c.k * c.c->most_rows(rows);
}
double column_panel(const DistributedCall& c, int columns) {
  return static_cast<double>(element_size(c.type)) * c.k * c.c->most_columns(columns);
}

// Half of a dimension, in whole rounds of its blocks.
int halved(int count, int block, int processes) {
  const int round = block * processes, half = (count + 1) / 2;
  return std::min(count, (half + round - 1) / round * round);
}

}  // namespace

Pieces pieces_of(const Grid& grid, const DistributedCall& call, double most_shares) {
  constexpr double little = 1 << 25;  // products of numbers that one process may as well do alone
  const double k = call.k, m = call.m, n = call.n, processes = grid.rows * grid.columns;
  const double most_entries = static_cast<double>(call.c->most_rows()) * call.c->most_columns();
  if (most_entries * k > little && most_entries * processes > most_shares * m * n) return {};
  const double share = static_cast<double>(element_size(call.type)) * (m * k + k * n + m * n) / processes;
  Pieces p{call.m, call.n};
  const auto bytes_of_rows = [&] { return row_panel(call, p.rows); };
  const auto bytes_of_columns = [&] { return column_panel(call, p.columns); };
  if (bytes_of_rows() + bytes_of_columns() > most_panels(share)) return {};
  while (bytes_of_rows() > most_panel_bytes) {
    const int half = halved(p.rows, call.c->row_block(), grid.rows);
    if (half == p.rows) return {};
    p.rows = half;
  }
  while (bytes_of_columns() > most_panel_bytes) {
    const int half = halved(p.columns, call.c->column_block(), grid.columns);
    if (half == p.columns) return {};
    p.columns = half;
  }
  return p;
}

namespace {

void multiply_whole(const DistributedCall& call, WholePanels& whole) {
  whole.gather();
  const LocalProduct product{'N',       'N',       0,           0,          call.c->row_count(), call.c->column_count(),
                             whole.a(), whole.b(), whole.lda(), whole.ldb()};
  running.entries = product.rows * product.columns;
  multiply(product);
}

void multiply_by_pblas(const DistributedCall& call, const Pieces& pieces, const vernier_part& c_part,
                       const AllReserved& all_reserved) {
  PblasType type = *pblas().table(call.type)();
  type.Fgemm = reinterpret_cast<Function>(panel_gemm);
  Placed a(*call.a, call.a_part), b(*call.b, call.b_part), c(*call.c, c_part);
  const bool a_plain = call.opa == 'N', b_plain = call.opb == 'N';
  for (int i = 0; i < call.m; i += pieces.rows)
    for (int j = 0; j < call.n; j += pieces.columns) {
      const int m = std::min(pieces.rows, call.m - i), n = std::min(pieces.columns, call.n - j);
      const DeepBlocks deep(call.k);
      if (!all_reserved(row_panel(call, m), column_panel(call, n))) {
        running.status = VERNIER_OUT_OF_MEMORY;
        return;
      }
      pblas().product_ab(&type, "F", "F", &call.opa, &call.opb, m, n, call.k, type.one, a.data, a_plain ? i : 0,
                         a_plain ? 0 : i, a.descriptor.data(), b.data, b_plain ? 0 : j, b_plain ? j : 0,
                         b.descriptor.data(), type.one, c.data, i, j, c.descriptor.data());
    }
}

}  // namespace

PanelOutcome multiply_panels(const DistributedCall& call, const Pieces& pieces, vernier_handle handle,
                             const vernier_part& c, WholePanels* whole, const AllReserved& all_reserved) {
  running = {&call, handle, static_cast<std::byte*>(const_cast<void*>(c.X)), c.ldx};
  if (whole != nullptr)
    multiply_whole(call, *whole);
  else
    multiply_by_pblas(call, pieces, c, all_reserved);
  const bool complete = running.entries == call.c->count();
  const PanelOutcome outcome{running.status != VERNIER_SUCCESS || complete ? running.status : VERNIER_UNSUPPORTED,
                             running.seconds};
  running = {};
  return outcome;
}

}  // namespace vernier::interpose
