#include "ring.hpp"

#include <algorithm>
#include <cstring>

namespace vernier::interpose {
namespace {

// PBLAS hands no context to the functions of its table.
struct RunningRing {
  const RingProduct* ring = nullptr;
  bool failed = false;
};
thread_local RunningRing running_ring;

std::size_t bytes() { return running_ring.ring->element_bytes; }
int units() { return static_cast<int>(bytes() / sizeof(double)); }
double* as_doubles(void* a) { return static_cast<double*>(a); }

// alpha and beta are zero or one; anything else is a call that this table was not made for.
enum Factor { zero, one, minus_one, factors };
char* factor(Factor which) { return reinterpret_cast<char*>(running_ring.ring->buffer) + bytes() * which; }
bool is_zero(const char* given) { return std::memcmp(given, factor(zero), bytes()) == 0; }
void expect_one(const char* given) {
  if (std::memcmp(given, factor(one), bytes()) != 0) running_ring.failed = true;
}

std::byte* at(void* a, int i, int j, int ld) {
  return static_cast<std::byte*>(a) +
         bytes() * (static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(ld));
}

void add(std::int64_t count, const void* from, void* to) {
  if (distributed().add(running_ring.ring->product, running_ring.ring->pass, count, from, to) != VERNIER_SUCCESS)
    running_ring.failed = true;
}

void send(int context, int m, int n, char* a, int lda, int row, int column) {
  pblas().send(context, m * units(), n, as_doubles(a), lda * units(), row, column);
}
void receive(int context, int m, int n, char* a, int lda, int row, int column) {
  pblas().receive(context, m * units(), n, as_doubles(a), lda * units(), row, column);
}
void broadcast(int context, char* scope, char* top, int m, int n, char* a, int lda) {
  pblas().broadcast(context, scope, top, m * units(), n, as_doubles(a), lda * units());
}
void receive_broadcast(int context, char* scope, char* top, int m, int n, char* a, int lda, int row, int column) {
  pblas().receive_broadcast(context, scope, top, m * units(), n, as_doubles(a), lda * units(), row, column);
}

// The processes that a sum goes over, and which of them is the one that gets it.
class Scope {
 public:
  Scope(char letter, int row, int column) : grid_(running_ring.ring->grid), letter_(static_cast<char>(letter & ~32)) {
    all_ = row < 0 || (letter_ == 'R' && column < 0);
    if (!all_) root_ = rank(row, column);
  }
  int size() const { return letter_ == 'R' ? grid_.columns : letter_ == 'C' ? grid_.rows : grid_.rows * grid_.columns; }
  int own() const { return (rank(grid_.row, grid_.column) - root_ + size()) % size(); }  // 0: the root
  bool all() const { return all_; }
  int row_of(int own) const {
    const int r = (own + root_) % size();
    return letter_ == 'R' ? grid_.row : letter_ == 'C' ? r : r / grid_.columns;
  }
  int column_of(int own) const {
    const int r = (own + root_) % size();
    return letter_ == 'R' ? r : letter_ == 'C' ? grid_.column : r % grid_.columns;
  }

 private:
  int rank(int row, int column) const {
    return letter_ == 'R' ? column : letter_ == 'C' ? row : row * grid_.columns + column;
  }
  const Grid& grid_;
  char letter_;
  bool all_ = false;
  int root_ = 0;
};

// A binomial tree towards the root, in pieces that the buffer holds.
void sum_block(int context, const Scope& scope, int m, int n, char* a, int lda) {
  char* const buffer = factor(factors);
  for (int step = 1; step < scope.size(); step *= 2) {
    const int own = scope.own();
    if ((own & step) != 0) {
      send(context, m, n, a, lda, scope.row_of(own - step), scope.column_of(own - step));
      return;
    }
    if (own + step >= scope.size()) continue;
    receive(context, m, n, buffer, m, scope.row_of(own + step), scope.column_of(own + step));
    for (int j = 0; j < n; ++j) add(m, at(buffer, 0, j, m), at(a, 0, j, lda));
  }
}

void sum(int context, char* letter, char* top, int m, int n, char* a, int lda, int row, int column) {
  const Scope scope(*letter, row, column);
  const int held = std::max(1, static_cast<int>(ring_sum_bytes / bytes()));
  const int rows = std::min(std::max(m, 1), held), columns = std::max(1, held / rows);
  for (int j = 0; j < n; j += columns)
    for (int i = 0; i < m; i += rows)
      sum_block(context, scope, std::min(rows, m - i), std::min(columns, n - j),
                reinterpret_cast<char*>(at(a, i, j, lda)), lda);
  if (!scope.all() || scope.size() == 1) return;
  if (scope.own() == 0)
    broadcast(context, letter, top, m, n, a, lda);
  else
    receive_broadcast(context, letter, top, m, n, a, lda, scope.row_of(0), scope.column_of(0));
}

// to = alpha from + beta to for elements that lie side by side
void combine(std::int64_t count, const char* alpha, const std::byte* from, const char* beta, std::byte* to) {
  const std::size_t size = bytes() * static_cast<std::size_t>(count);
  const bool adds = !is_zero(alpha), keeps = !is_zero(beta);
  if (adds) expect_one(alpha);
  if (keeps) expect_one(beta);
  if (adds && keeps)
    add(count, from, to);
  else if (adds)
    std::memcpy(to, from, size);
  else if (!keeps)
    std::memset(to, 0, size);
}

void madd(int* m, int* n, char* alpha, char* a, int* lda, char* beta, char* b, int* ldb) {
  for (int j = 0; j < *n; ++j) combine(*m, alpha, at(a, 0, j, *lda), beta, at(b, 0, j, *ldb));
}
void madd_turned(int* m, int* n, char* alpha, char* a, int* lda, char* beta, char* b, int* ldb) {
  for (int j = 0; j < *n; ++j)
    for (int i = 0; i < *m; ++i) combine(1, alpha, at(a, i, j, *lda), beta, at(b, j, i, *ldb));
}
void dda(int* m, int* n, char* alpha, char* a, int* lda, char* beta, char* b, int* ldb) {
  for (int j = 0; j < *n; ++j) combine(*m, beta, at(b, 0, j, *ldb), alpha, at(a, 0, j, *lda));
}
void dda_turned(int* m, int* n, char* alpha, char* a, int* lda, char* beta, char* b, int* ldb) {
  for (int j = 0; j < *n; ++j)
    for (int i = 0; i < *m; ++i) combine(1, beta, at(b, j, i, *ldb), alpha, at(a, i, j, *lda));
}

void pad(char*, char*, int* m, int* n, int*, char* alpha, char* beta, char* a, int* lda) {
  if (!is_zero(alpha) || !is_zero(beta)) running_ring.failed = true;
  for (int j = 0; j < *n; ++j) std::memset(at(a, 0, j, *lda), 0, bytes() * static_cast<std::size_t>(*m));
}

void scale(char*, int* m, int* n, int*, char* alpha, char* a, int* lda) {
  if (!is_zero(alpha)) return expect_one(alpha);
  for (int j = 0; j < *n; ++j) std::memset(at(a, 0, j, *lda), 0, bytes() * static_cast<std::size_t>(*m));
}

void gemm(char* opa, char* opb, int* m, int* n, int* k, char* alpha, char* a, int* lda, char* b, int* ldb, char* beta,
          char* c, int* ldc) {
  expect_one(alpha);
  if (is_zero(beta))
    for (int j = 0; j < *n; ++j) std::memset(at(c, 0, j, *ldc), 0, bytes() * static_cast<std::size_t>(*m));
  const auto op = [](const char* letter) { return (*letter & ~32) == 'N' ? VERNIER_OP_N : VERNIER_OP_T; };
  if (distributed().multiply(running_ring.ring->product, running_ring.ring->pass, op(opa), op(opb), *m, *n, *k, a, *lda,
                             b, *ldb, c, *ldc) != VERNIER_SUCCESS)
    running_ring.failed = true;
}

template <class F>
Function place(F function) {
  return reinterpret_cast<Function>(function);
}

PblasType table() {
  for (const Factor f : {zero, one, minus_one}) std::memset(factor(f), f, bytes());
  PblasType t = {};
  t.type = 'D';
  t.usiz = sizeof(double);
  t.size = static_cast<int>(bytes());
  t.zero = factor(zero);
  t.one = factor(one);
  t.negone = factor(minus_one);
  t.Cgesd2d = place(send);
  t.Cgerv2d = place(receive);
  t.Cgebs2d = place(broadcast);
  t.Cgebr2d = place(receive_broadcast);
  t.Cgsum2d = place(sum);
  t.Fmmadd = t.Fmmcadd = place(madd);
  t.Fmmtadd = t.Fmmtcadd = place(madd_turned);
  t.Fmmdda = t.Fmmddac = place(dda);
  t.Fmmddat = t.Fmmddact = place(dda_turned);
  t.Ftzpad = place(pad);
  t.Ftzscal = t.Fhescal = place(scale);
  t.Fgemm = place(gemm);
  return t;
}

// The largest matrix stays where it is.
PanelProduct choose(const RingProduct& r) {
  const double a = static_cast<double>(r.m) * r.k, b = static_cast<double>(r.k) * r.n,
               c = static_cast<double>(r.m) * r.n;
  if (c >= a && c >= b) return pblas().product_ab;
  return b >= a ? pblas().product_ac : pblas().product_bc;
}

}  // namespace

bool multiply_by_ring(const RingProduct& ring) {
  running_ring = {&ring};
  PblasType type = table();
  RingProduct r = ring;
  const auto data = [](const Elements& x) { return reinterpret_cast<char*>(x.data); };
  choose(ring)(&type, "F", "F", &ring.opa, &ring.opb, r.m, r.n, r.k, factor(one), data(r.a), 0, 0,
               r.a.descriptor.data(), data(r.b), 0, 0, r.b.descriptor.data(), factor(zero), data(r.c), 0, 0,
               r.c.descriptor.data());
  running_ring.ring = nullptr;
  return !running_ring.failed;
}

}  // namespace vernier::interpose
