// A distributed product by parties that one process plays: who holds what, and how their messages meet.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "number/complex.hpp"
#include "support/random.hpp"
#include "vernier/distributed.hpp"

namespace vernier::test {

template <class T>
struct Stored {
  std::int64_t rows, columns;
  std::vector<T> data;

  Stored(std::int64_t r, std::int64_t c) : rows(r), columns(c), data(static_cast<std::size_t>(r * c)) {}
  std::int64_t ld() const { return std::max<std::int64_t>(1, rows); }
  T& at(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i + j * rows)]; }
};

// Kinds of data: what makes scales, proofs, passes and classes differ.
enum Kind { ordinary, some_wide, integers, all_wide, zeros, specials, small, large, sparse, kinds };

template <class R>
R element(Kind kind, std::int64_t row, std::int64_t column, Random& r) {
  constexpr int most = std::numeric_limits<R>::max_exponent;
  const double x = r.scattered(0.5);
  switch (kind) {
    case integers:
      return static_cast<R>(r.integer(-9, 9));
    case some_wide:
      return static_cast<R>(row == 0 ? std::ldexp(x, static_cast<int>(r.integer(-40, 40))) : x);
    case all_wide:
      return static_cast<R>(std::ldexp(x, static_cast<int>(r.integer(-most / 2, most / 2 - 4))));
    case zeros:
      return static_cast<R>(row % 3 == 0 || column % 4 == 1 ? 0 : x);
    case specials:
      if (r.integer(0, 99) < 3)
        return r.integer(0, 2) == 0 ? std::numeric_limits<R>::quiet_NaN()
                                    : static_cast<R>(r.sign()) * std::numeric_limits<R>::infinity();
      return static_cast<R>(r.integer(0, 9) == 0 ? 0 : x);
    case small:
      return static_cast<R>(std::ldexp(x, -most + 20));
    case large:
      return static_cast<R>(std::ldexp(x, most / 2 - 8));
    case sparse:
      return static_cast<R>(r.integer(0, 9) < 7 ? 0 : std::ldexp(x, static_cast<int>(r.integer(-6, 6))));
    default:
      return static_cast<R>(x);
  }
}

template <class T>
Stored<T> random_matrix(std::int64_t rows, std::int64_t columns, Kind kind, Random& r) {
  Stored<T> x(rows, columns);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto real = element<RealType<T>>(kind, i, j, r);
      if constexpr (is_complex<T>)
        x.at(i, j) = {real, element<RealType<T>>(kind, i, j, r)};
      else
        x.at(i, j) = real;
    }
  return x;
}

// Indices 0 .. count - 1 in sets of any size and order.
inline std::vector<std::vector<std::int64_t>> random_sets(std::int64_t count, Random& r) {
  std::vector<std::vector<std::int64_t>> sets(static_cast<std::size_t>(r.integer(1, 3)));
  for (const std::int64_t i : r.permutation(count))
    sets[static_cast<std::size_t>(r.integer(0, static_cast<std::int64_t>(sets.size()) - 1))].push_back(i);
  return sets;
}

// A copy of some rows and columns, with room below each column.
template <class T>
struct Part {
  std::vector<T> data;
  std::vector<std::int64_t> rows, columns;
  std::int64_t ld;

  Part(Stored<T>& x, std::vector<std::int64_t> r, std::vector<std::int64_t> c)
      : rows(std::move(r)), columns(std::move(c)), ld(static_cast<std::int64_t>(rows.size()) + 1) {
    for (const std::int64_t j : columns) {
      for (const std::int64_t i : rows) data.push_back(x.at(i, j));
      data.push_back(T{77});
    }
  }
  std::int64_t row_count() const { return static_cast<std::int64_t>(rows.size()); }
  std::int64_t column_count() const { return static_cast<std::int64_t>(columns.size()); }
  MatrixPart<const T> read() const {
    return {data.data(), ld, rows.data(), row_count(), columns.data(), column_count()};
  }
  MatrixPart<T> write() { return {data.data(), ld, rows.data(), row_count(), columns.data(), column_count()}; }
  void store(Stored<T>& x) const {
    for (std::size_t j = 0; j < columns.size(); ++j)
      for (std::size_t i = 0; i < rows.size(); ++i)
        x.at(rows[i], columns[j]) = data[i + j * static_cast<std::size_t>(ld)];
  }
};

template <class T>
struct Problem {
  Op opa, opb;
  std::int64_t m, n, k;
  T alpha, beta;
  Options options;
};

template <class T>
class Parties {
 public:
  using Product = DistributedProduct<T>;

  Parties(const Problem<T>& p, Stored<T>& a, Stored<T>& b, Random& r)
      : p_(p), r_(r), rows_(random_sets(p.m, r)), columns_(random_sets(p.n, r)), ks_(random_sets(p.k, r)) {
    const auto count = r.integer(1, 5);
    for (int i = 0; i < count; ++i) parties_.emplace_back(p.opa, p.opb, p.m, p.n, p.k, p.options);
    for (const auto& set : rows_)
      for (const auto& k : ks_) a_.push_back(p.opa == Op::none ? Part<T>(a, set, k) : Part<T>(a, k, set));
    for (const auto& set : columns_)
      for (const auto& k : ks_) b_.push_back(p.opb == Op::none ? Part<T>(b, k, set) : Part<T>(b, set, k));
  }

  void scan() {
    std::vector<std::size_t> a_owner, b_owner;
    for (std::size_t i = 0; i < a_.size(); ++i) a_owner.push_back(any());
    for (std::size_t i = 0; i < b_.size(); ++i) b_owner.push_back(any());
    while (parties_[0].scanning()) {
      for (std::size_t i = 0; i < a_.size(); ++i) parties_[a_owner[i]].scan(Side::left, a_[i].read());
      for (std::size_t i = 0; i < b_.size(); ++i) parties_[b_owner[i]].scan(Side::right, b_[i].read());
      exchange();
    }
  }

  Stored<T> multiply(Stored<T> c) {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      for (std::size_t j = 0; j < columns_.size(); ++j) {
        Part<T> part(c, rows_[i], columns_[j]);
        finish(i, j, part);
        part.store(c);
      }
    return c;
  }

  const Product& first() const { return parties_[0]; }

 private:
  std::size_t any() { return static_cast<std::size_t>(r_.integer(0, static_cast<std::int64_t>(parties_.size()) - 1)); }

  // Maxima and sums over all parties; every word travels as a double would hold it.
  void exchange() {
    std::vector<std::int64_t> maxima(parties_[0].maxima().size(), 0), sums(parties_[0].sums().size(), 0);
    for (const std::int64_t at : r_.permutation(static_cast<std::int64_t>(parties_.size()))) {
      Product& party = parties_[static_cast<std::size_t>(at)];
      ASSERT_EQ(party.maxima().size(), maxima.size());
      for (std::size_t i = 0; i < maxima.size(); ++i) maxima[i] = std::max(maxima[i], party.maxima()[i]);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += party.sums()[i];
    }
    for (const auto* words : {&maxima, &sums})
      for (const std::int64_t w : *words) ASSERT_TRUE(w >= 0 && w < std::int64_t{1} << 53);
    for (Product& party : parties_) {
      std::copy(maxima.begin(), maxima.end(), party.maxima().begin());
      std::copy(sums.begin(), sums.end(), party.sums().begin());
    }
    std::string message;
    for (Product& party : parties_) try {
        party.combine();
      } catch (const Error& error) {
        message = error.what();
        status_ = error.status();
        ++failed_;
      }
    if (failed_ == 0) return;
    ASSERT_EQ(failed_, parties_.size()) << "every party fails or none";
    throw Error(status_, message);
  }

  std::vector<std::byte> partial(int pass, std::size_t i, std::size_t j, std::size_t l) {
    const Product& party = parties_[any()];
    const Part<T>&a = a_[i * ks_.size() + l], &b = b_[j * ks_.size() + l];
    const auto count = rows_[i].size() * columns_[j].size();
    std::vector<std::byte> elements(count * party.element_bytes(pass));
    party.partial(pass, a.read(), b.read(), elements.data(), std::max<std::int64_t>(1, rows_size(i)));
    return elements;
  }

  std::vector<std::byte> sum(int pass, std::size_t i, std::size_t j) {
    const Product& party = parties_[any()];
    const auto count = static_cast<std::int64_t>(rows_[i].size() * columns_[j].size());
    const bool words = r_.integer(0, 1) == 1;
    std::vector<std::byte> total(static_cast<std::size_t>(count) * party.element_bytes(pass));
    std::vector<std::int64_t> total_words(static_cast<std::size_t>(count) * party.words(pass));
    for (const std::int64_t l : r_.permutation(static_cast<std::int64_t>(ks_.size()))) {
      const std::vector<std::byte> one = partial(pass, i, j, static_cast<std::size_t>(l));
      if (words) {
        std::vector<std::int64_t> one_words(total_words.size());
        party.to_words(pass, count, one.data(), one_words.data());
        for (std::size_t w = 0; w < total_words.size(); ++w) total_words[w] += one_words[w];
      } else {
        party.add(pass, count, one.data(), total.data());
      }
    }
    if (words) party.from_words(pass, count, total_words.data(), total.data());
    return total;
  }

  void finish(std::size_t i, std::size_t j, Part<T>& c) {
    std::vector<std::vector<std::byte>> sums;
    std::vector<const std::byte*> elements;
    for (int pass = 0; pass < first().passes(); ++pass) sums.push_back(sum(pass, i, j));
    for (const auto& x : sums) elements.push_back(x.data());
    parties_[any()].finish(elements.data(), std::max<std::int64_t>(1, rows_size(i)), p_.alpha, p_.beta, c.write());
  }

  std::int64_t rows_size(std::size_t i) const { return static_cast<std::int64_t>(rows_[i].size()); }

  const Problem<T>& p_;
  Random& r_;
  std::vector<std::vector<std::int64_t>> rows_, columns_, ks_;
  std::vector<Part<T>> a_, b_;
  std::vector<Product> parties_;
  Status status_ = Status::ok;
  std::size_t failed_ = 0;
};

}  // namespace vernier::test
