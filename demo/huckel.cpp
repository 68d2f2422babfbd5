#include "huckel.hpp"

#include <cblas.h>

#include <stdexcept>
#include <string>

// LAPACK, from OpenBLAS. Fortran passes the lengths of character arguments behind the others.
extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info, std::size_t);
void dsygst_(const int* itype, const char* uplo, const int* n, double* a, const int* lda, const double* b,
             const int* ldb, int* info, std::size_t);
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w, double* work,
             const int* lwork, int* iwork, const int* liwork, int* info, std::size_t, std::size_t);
}

namespace demo {
namespace {

void check(int info, const char* routine) {
  if (info != 0)
    throw std::runtime_error(std::string(routine) + " of LAPACK failed with info = " + std::to_string(info));
}

// Eigenvalues, ascending, of the symmetric matrix in A's lower triangle; with vectors, A becomes the eigenvectors.
std::vector<double> symmetric_eigenvalues(Matrix& A, bool vectors) {
  const int n = static_cast<int>(A.rows), query = -1;
  const char* job = vectors ? "V" : "N";
  std::vector<double> values(n), work(1);
  std::vector<int> integers(1);
  int info = 0;
  dsyevd_(job, "L", &n, A.data.data(), &n, values.data(), work.data(), &query, integers.data(), &query, &info, 1, 1);
  check(info, "dsyevd");
  work.resize(static_cast<std::size_t>(work[0]));
  integers.resize(integers[0]);
  const int lwork = static_cast<int>(work.size()), liwork = static_cast<int>(integers.size());
  dsyevd_(job, "L", &n, A.data.data(), &n, values.data(), work.data(), &lwork, integers.data(), &liwork, &info, 1, 1);
  check(info, "dsyevd");
  return values;
}

}  // namespace

Matrix hamiltonian(const std::vector<Gaussian>& basis, const Matrix& S) {
  constexpr double K = 1.75;
  Matrix H(S.rows, S.cols);
  for (std::int64_t j = 0; j < S.cols; ++j) {
    for (std::int64_t i = 0; i < S.rows; ++i) H(i, j) = K * S(i, j) * (basis[i].energy + basis[j].energy) / 2;
    H(j, j) = basis[j].energy;
  }
  return H;
}

double condition_number(Matrix S) {
  const std::vector<double> values = symmetric_eigenvalues(S, false);
  return values.back() / values.front();
}

Orbitals solve(const Matrix& H, const Matrix& S, const std::function<void(const char*)>& step) {
  const int n = static_cast<int>(S.rows), itype = 1;
  int info = 0;
  Orbitals result{H, {}};
  Matrix L = S;
  step("Cholesky factor of S");
  dpotrf_("L", &n, L.data.data(), &n, &info, 1);
  check(info, "dpotrf");
  dsygst_(&itype, "L", &n, result.C.data.data(), &n, L.data.data(), &n, &info, 1);
  check(info, "dsygst");
  step("eigenvectors of H");
  result.energies = symmetric_eigenvalues(result.C, true);
  step("back to the Gaussian basis");
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, n, n, 1.0, L.data.data(), n,
              result.C.data.data(), n);
  return result;
}

}  // namespace demo
