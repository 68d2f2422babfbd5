#include "sequences/block.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#if VERNIER_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

namespace vernier::sequences {
namespace {

constexpr std::int64_t guard = 17;  // elements
constexpr std::byte unwritten{0xfb};

double finite_element(Random& r, Kind kind, bool single) {
  const double x = r.normal();
  switch (kind) {
    case Kind::integer:
      return std::round(9 * x);
    case Kind::wide:
      return chance(r, 0.5) ? std::ldexp(x, static_cast<int>(single ? r.integer(-30, 30) : r.integer(-200, 200))) : x;
    case Kind::huge:
      return std::ldexp(x, single ? 60 : 505);
    case Kind::tiny:
      return std::ldexp(x, single ? -60 : -505);
    case Kind::denormal:
      return std::ldexp(x, (single ? -135 : -1040) + static_cast<int>(chance(r, 0.5) ? 0 : r.integer(0, 60)));
    case Kind::zero:
      return std::copysign(0.0, x);
    case Kind::one:
      return 1;
    case Kind::powers:
      return std::copysign(std::ldexp(1, static_cast<int>(r.integer(-20, 20))), x);
    case Kind::cancelling:
      return std::copysign(1 + std::ldexp(static_cast<double>(r.integer(0, 3)), -20), x);
    default:
      return x;
  }
}

double special_element(Random& r, Kind kind, bool single) {
  const double infinity = std::copysign(std::numeric_limits<double>::infinity(), r.sign());
  if (kind == Kind::nan) return NAN;
  if (kind == Kind::infinite) return infinity;
  return one_of<double>(r, {NAN, infinity, -0.0, single ? 0x1p-149 : 0x1p-1074, single ? 1e38 : 1e300});
}

std::vector<double> numbers(Random& r, Kind kind, bool single, std::int64_t rows, std::int64_t columns) {
  std::vector<double> x(static_cast<std::size_t>(rows * columns));
  if (x.empty()) return x;
  for (double& e : x) e = finite_element(r, kind, single);
  const auto at = [&](std::int64_t i, std::int64_t j) -> double& { return x[static_cast<std::size_t>(i + j * rows)]; };
  if (kind == Kind::zero_lines) {
    const std::int64_t row = r.integer(0, rows - 1), column = r.integer(0, columns - 1);
    for (std::int64_t j = 0; j < columns; ++j) at(row, j) = 0;
    for (std::int64_t i = 0; i < rows; ++i) at(i, column) = -0.0;
  }
  if (static_cast<int>(kind) >= finite_kinds)
    for (std::int64_t left = r.integer(1, 3); left > 0; --left)
      at(r.integer(0, rows - 1), r.integer(0, columns - 1)) = special_element(r, kind, single);
  return x;
}

}  // namespace

Complex Type::rounded(Complex x) const {
  if (!complex()) x.imag(0);
  return single() ? Complex(std::complex<float>(x)) : x;
}

void Type::store(Complex x, void* to) const {
  const double parts[] = {x.real(), x.imag()};
  const float floats[] = {static_cast<float>(x.real()), static_cast<float>(x.imag())};
  std::memcpy(to, single() ? static_cast<const void*>(floats) : parts, bytes());
}

Complex Type::load(const void* from) const {
  double parts[2] = {};
  float floats[2] = {};
  std::memcpy(single() ? static_cast<void*>(floats) : parts, from, bytes());
  return single() ? Complex(floats[0], floats[1]) : Complex(parts[0], parts[1]);
}

Matrix random_matrix(Random& r, Type type, Kind kind, std::int64_t rows, std::int64_t columns) {
  Matrix x(type, rows, columns);
  const std::vector<double> re = numbers(r, kind, type.single(), rows, columns);
  std::vector<double> im(re.size());
  if (type.complex()) im = numbers(r, one_of<Kind>(r, {kind, Kind::normal, Kind::zero}), type.single(), rows, columns);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto at = static_cast<std::size_t>(i + j * rows);
      x(i, j) = type.rounded({re[at], im[at]});
    }
  return x;
}

Matrix applied(vernier_op op, const Matrix& x) {
  if (op == VERNIER_OP_N) return x;
  Matrix y(x.type(), x.columns(), x.rows());
  for (std::int64_t j = 0; j < y.columns(); ++j)
    for (std::int64_t i = 0; i < y.rows(); ++i)
      y(i, j) = op == VERNIER_OP_C && x.type().complex() ? std::conj(x(j, i)) : x(j, i);
  return y;
}

#if VERNIER_HAS_CUDA
namespace {
void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}
}  // namespace
void* Device::allocate(std::size_t bytes) {
  void* data = nullptr;
  check(cudaMalloc(&data, bytes));
  return data;
}
void Device::free(void* data) { (void)cudaFree(data); }
void Device::send(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
  check(cudaStreamSynchronize(nullptr));
}
void Device::fetch(void* to, const void* from, std::size_t bytes) {
  check(cudaDeviceSynchronize());
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}
#else
void* Device::allocate(std::size_t) { throw std::runtime_error("built without CUDA"); }
void Device::free(void*) {}
void Device::send(void*, const void*, std::size_t) {}
void Device::fetch(void*, const void*, std::size_t) {}
#endif

Block::Block(const std::vector<Matrix>& matrices, std::int64_t pad, std::int64_t shift, bool on_gpu)
    : type_(matrices.front().type()),
      rows_(matrices.front().rows()),
      columns_(matrices.front().columns()),
      count_(static_cast<std::int64_t>(matrices.size())),
      ld_(std::max<std::int64_t>(1, rows_) + pad),
      shift_(shift) {
  bytes_.assign(static_cast<std::size_t>(2 * guard + shift + ld_ * columns_ * count_) * type_.bytes(), unwritten);
  for (std::int64_t matrix = 0; matrix < count_; ++matrix)
    for (std::int64_t j = 0; j < columns_; ++j)
      for (std::int64_t i = 0; i < rows_; ++i)
        type_.store(matrices[static_cast<std::size_t>(matrix)](i, j), bytes_.data() + place(i, j, matrix));
  before_ = bytes_;
  if (!on_gpu) return;
  device_ = {Device::allocate(bytes_.size()), Device::free};
  Device::send(device_.get(), bytes_.data(), bytes_.size());
}

std::size_t Block::place(std::int64_t i, std::int64_t j, std::int64_t matrix) const {
  return static_cast<std::size_t>(guard + shift_ + i + j * ld_ + matrix * stride()) * type_.bytes();
}

void* Block::data() const {
  const std::byte* start = device_ ? static_cast<const std::byte*>(device_.get()) : bytes_.data();
  return const_cast<std::byte*>(start) + place(0, 0, 0);
}

void Block::fetch() {
  if (device_) Device::fetch(bytes_.data(), device_.get(), bytes_.size());
}

void Block::put(const Matrix& x) {
  for (std::int64_t j = 0; j < columns_; ++j)
    for (std::int64_t i = 0; i < rows_; ++i) type_.store(x(i, j), bytes_.data() + place(i, j, 0));
  before_ = bytes_;
  if (device_) Device::send(device_.get(), bytes_.data(), bytes_.size());
}

Complex Block::at(std::int64_t i, std::int64_t j, std::int64_t matrix) const {
  return type_.load(bytes_.data() + place(i, j, matrix));
}

Complex Block::before(std::int64_t i, std::int64_t j, std::int64_t matrix) const {
  return type_.load(before_.data() + place(i, j, matrix));
}

bool Block::is_unchanged_where(const std::function<bool(std::int64_t, std::int64_t)>& chosen) const {
  for (std::int64_t matrix = 0; matrix < count_; ++matrix)
    for (std::int64_t j = 0; j < columns_; ++j)
      for (std::int64_t i = 0; i < rows_; ++i) {
        const std::size_t at = place(i, j, matrix);
        if (chosen(i, j) && std::memcmp(bytes_.data() + at, before_.data() + at, type_.bytes()) != 0) return false;
      }
  return true;
}

bool Block::is_unchanged_outside() const {
  std::vector<std::byte> now = bytes_;
  for (std::int64_t matrix = 0; matrix < count_; ++matrix)
    for (std::int64_t j = 0; j < columns_; ++j) {
      const std::size_t at = place(0, j, matrix);
      std::memcpy(now.data() + at, before_.data() + at, static_cast<std::size_t>(rows_) * type_.bytes());
    }
  return now == before_;
}

}  // namespace vernier::sequences
