// What System<std::complex<R>> does in its own way: vectors are pairs of doubles.
#pragma once

#include "lapack/solve/system.hpp"

namespace vernier {

template <class R>
void complex_residuals(const System<std::complex<R>>& system, const Columns& columns, const double* x, const double* b,
                       double* r);
template <class R>
void add_complex_magnitudes(const System<std::complex<R>>& system, const double* x, double* y);
template <class R>
std::vector<double> largest_of_scaled_complex_columns(const System<std::complex<R>>& system,
                                                      const std::vector<int>& exponents);

}  // namespace vernier
