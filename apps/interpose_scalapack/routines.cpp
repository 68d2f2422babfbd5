#include "routines.hpp"

#include <complex>
#include <cstring>

#include "local_copy.hpp"
#include "whole_panels.hpp"

namespace vernier::interpose {
namespace {

SubMatrix sub_matrix(const Grid& grid, const Argument& x, int m, int n) {
  return SubMatrix(grid, x.descriptor, *x.i, *x.j, m, n);
}

bool in_triangle(char uplo, std::int64_t below) { return uplo == 'U' ? below <= 0 : below >= 0; }

// C := A' + C for local copies, the transpose or its conjugate.
void add_transposed(vernier_type type, bool conjugated, int n, const InnerDescriptor& inner, void* a, void* c) {
  using Transpose = void (*)(const int*, const int*, const void*, const void*, const int*, const int*, const int*,
                             const void*, void*, const int*, const int*, const int*);
  const char* name = type == VERNIER_S   ? "pstran_"
                     : type == VERNIER_D ? "pdtran_"
                     : type == VERNIER_C ? (conjugated ? "pctranc_" : "pctranu_")
                                         : (conjugated ? "pztranc_" : "pztranu_");
  const Constant one = constant(type, 1);
  const int first = 1;
  reinterpret_cast<Transpose>(original(name))(&n, &n, one.bytes, a, &first, &first, inner.data(), one.bytes, c, &first,
                                              &first, inner.data());
}

// What is wrong with it the library underneath will say.
Taken refused(ParallelSymbol& symbol, Reason reason = Reason::invalid) {
  symbol.refuse(reason);
  return {};
}

// Passed on, on all processes, in blocks as deep as they have memory for.
Taken left(const Grid& grid, const PanelDepth& depth) { return {false, agreed_depth(grid, depth)}; }

Taken taken(Ran ran, const Grid& grid, const PanelDepth& depth) {
  if (ran == Ran::refused) return left(grid, depth);
  return {ran == Ran::done};
}

}  // namespace

bool is_zero(vernier_type type, const void* factor) {
  const auto of = [&](auto x) { return *static_cast<const decltype(x)*>(factor) == decltype(x){}; };
  return type == VERNIER_S   ? of(float{})
         : type == VERNIER_D ? of(double{})
         : type == VERNIER_C ? of(std::complex<float>{})
                             : of(std::complex<double>{});
}

Constant constant(vernier_type type, double value) {
  Constant c;
  if (type == VERNIER_S || type == VERNIER_C) {
    const auto x = static_cast<float>(value);
    std::memcpy(c.bytes, &x, sizeof x);
  } else {
    std::memcpy(c.bytes, &value, sizeof value);
  }
  return c;
}

Taken take_gemm(ParallelSymbol& symbol, char opa, char opb, int m, int n, int k, const void* alpha, const Argument& a,
                const Argument& b, const void* beta, const Argument& c) {
  if (!symbol.concerns(m, n, k)) return {};
  const Grid grid = grid_of(a.descriptor[1]);
  if (!grid.here() || opa == 0 || opb == 0) return refused(symbol);
  SubMatrix x = opa == 'N' ? sub_matrix(grid, a, m, k) : sub_matrix(grid, a, k, m);
  SubMatrix y = opb == 'N' ? sub_matrix(grid, b, k, n) : sub_matrix(grid, b, n, k);
  SubMatrix z = sub_matrix(grid, c, m, n);
  if (!x.valid() || !y.valid() || !z.valid()) return refused(symbol);
  if (is_zero(symbol.type, alpha)) return refused(symbol, Reason::trivial);
  const std::size_t size = element_size(symbol.type);
  const PanelDepth depth = depth_of(grid, {&x, &y, &z}, k, size);
  const bool sound = x.find_local(grid) && y.find_local(grid) && z.find_local(grid);
  DistributedCall call{
      symbol.type,         opa, opb, m, n, k, alpha, beta, &x, &y, &z, x.part(a.data, size), y.part(b.data, size),
      z.part(c.data, size)};
  call.sound = sound;
  call.c_is_ours = is_zero(symbol.type, beta);
  if (!contract_fixes_bits() && multiply_by_blas(grid, call)) {
    symbol.take();
    return {true};
  }
  return symbol.wanted() ? taken(symbol.run(grid, call), grid, depth) : left(grid, depth);
}

Taken take_rank_k(ParallelSymbol& symbol, bool conjugated, char uplo, char op, int n, int k, const void* alpha,
                  const Argument& a, const void* beta, const Argument& c) {
  if (!symbol.concerns(n, n, k)) return {};
  const Grid grid = grid_of(a.descriptor[1]);
  if (!grid.here() || op == 0 || uplo == 0) return refused(symbol);
  SubMatrix x = op == 'N' ? sub_matrix(grid, a, n, k) : sub_matrix(grid, a, k, n);
  SubMatrix z = sub_matrix(grid, c, n, n);
  if (!x.valid() || !z.valid()) return refused(symbol);
  if (is_zero(symbol.type, alpha)) return refused(symbol, Reason::trivial);
  const std::size_t size = element_size(symbol.type);
  const PanelDepth depth = block_depth_of(grid, {&x, &z}, k, size);
  if (!symbol.wanted()) return left(grid, depth);
  const bool sound = x.find_local(grid) && z.find_local(grid);
  const char turned = conjugated ? 'C' : 'T';
  const vernier_part part = x.part(a.data, size);
  LocalCopy copy(symbol.type, z, z.part(c.data, size));
  DistributedCall call{
      symbol.type, op == 'N' ? 'N' : turned, op == 'N' ? turned : 'N', n, n, k, alpha, beta, &x, &x, &z, part, part,
      {}};
  call.sound = sound;
  call.c_triangle = uplo;
  call.c_is_ours = true;
  call.allocate = [&] {
    if (!copy.allocate()) return false;
    copy.take_all();
    if (conjugated) copy.make_diagonal_real();
    call.c_part = copy.part();
    return true;
  };
  if (const Taken t = taken(symbol.run(grid, call), grid, depth); !t.done) return t;
  if (conjugated) copy.make_diagonal_real();
  copy.give([&](std::int64_t below) { return in_triangle(uplo, below); });
  return {true};
}

Taken take_symmetric(ParallelSymbol& symbol, bool conjugated, char side, char uplo, int m, int n, const void* alpha,
                     const Argument& a, const Argument& b, const void* beta, const Argument& c) {
  const int order = side == 'L' ? m : n;
  if (!symbol.concerns(m, n, order)) return {};
  const Grid grid = grid_of(a.descriptor[1]);
  if (!grid.here() || side == 0 || uplo == 0) return refused(symbol);
  SubMatrix x = sub_matrix(grid, a, order, order), y = sub_matrix(grid, b, m, n), z = sub_matrix(grid, c, m, n);
  if (!x.valid() || !y.valid() || !z.valid()) return refused(symbol);
  if (is_zero(symbol.type, alpha)) return refused(symbol, Reason::trivial);
  const std::size_t size = element_size(symbol.type);
  const PanelDepth depth = block_depth_of(grid, {&x, &y, &z}, order, size);
  if (!symbol.wanted()) return left(grid, depth);
  const bool sound = x.find_local(grid) && y.find_local(grid) && z.find_local(grid);
  const vernier_part symmetric = x.part(a.data, size);
  LocalCopy whole(symbol.type, x, symmetric), strict(symbol.type, x, symmetric);
  const bool left = side == 'L';
  const vernier_part other = y.part(b.data, size);
  DistributedCall call{
      symbol.type,         'N', 'N', m, n, order, alpha, beta, left ? &x : &y, left ? &y : &x, &z, {}, {},
      z.part(c.data, size)};
  call.sound = sound;
  call.c_is_ours = is_zero(symbol.type, beta);
  call.allocate = [&] {
    if (!whole.allocate() || !strict.allocate()) return false;
    whole.take([&](std::int64_t below) { return in_triangle(uplo, below); });
    strict.take([&](std::int64_t below) { return below != 0 && in_triangle(uplo, below); });
    if (conjugated) whole.make_diagonal_real();
    call.a_part = left ? whole.part() : other;
    call.b_part = left ? other : whole.part();
    return true;
  };
  call.arrange = [&] { add_transposed(symbol.type, conjugated, order, x.inner(), strict.data(), whole.data()); };
  return taken(symbol.run(grid, call), grid, depth);
}

Taken take_triangular(ParallelSymbol& symbol, char side, char uplo, char op, char diag, int m, int n, const void* alpha,
                      const Argument& a, const Argument& b) {
  const int order = side == 'L' ? m : n;
  if (!symbol.concerns(m, n, order)) return {};
  const Grid grid = grid_of(a.descriptor[1]);
  if (!grid.here() || side == 0 || uplo == 0 || op == 0 || diag == 0) return refused(symbol);
  SubMatrix x = sub_matrix(grid, a, order, order), y = sub_matrix(grid, b, m, n);
  if (!x.valid() || !y.valid()) return refused(symbol);
  if (is_zero(symbol.type, alpha)) return refused(symbol, Reason::trivial);
  const std::size_t size = element_size(symbol.type);
  const PanelDepth depth = block_depth_of(grid, {&x, &y}, order, size);
  if (!symbol.wanted()) return left(grid, depth);
  const bool sound = x.find_local(grid) && y.find_local(grid);
  LocalCopy triangle(symbol.type, x, x.part(a.data, size));
  const bool left = side == 'L';
  const vernier_part other = y.part(b.data, size);
  const Constant zero = constant(symbol.type, 0), unit = constant(symbol.type, 1);
  DistributedCall call{symbol.type, left ? op : 'N', left ? 'N' : op, m,  n,  order, alpha,
                       zero.bytes,  left ? &x : &y,  left ? &y : &x,  &y, {}, {},    other};
  call.sound = sound;
  call.triangle = uplo;
  call.triangle_is_b = !left;
  call.allocate = [&] {
    if (!triangle.allocate()) return false;
    triangle.take([&](std::int64_t below) { return in_triangle(uplo, below); });
    if (diag == 'U') triangle.set_diagonal(unit.bytes);
    call.a_part = left ? triangle.part() : other;
    call.b_part = left ? other : triangle.part();
    return true;
  };
  return taken(symbol.run(grid, call), grid, depth);
}

}  // namespace vernier::interpose
