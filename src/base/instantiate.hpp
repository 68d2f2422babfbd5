// Instantiations by lists: LIST(F, T) is F(result, name, T, types of parameters...) for each function template of T. By
// a macro F(T), in each of the types.
#pragma once

#define VERNIER_INSTANTIATION(Result, name, T, ...) template Result name<T>(__VA_ARGS__);
#define VERNIER_FOR_REAL(LIST, F) LIST(F, float) LIST(F, double)
#define VERNIER_FOR_ALL(LIST, F) VERNIER_FOR_REAL(LIST, F) LIST(F, std::complex<float>) LIST(F, std::complex<double>)
#define VERNIER_EACH_REAL(F) F(float) F(double)
#define VERNIER_EACH_TYPE(F) VERNIER_EACH_REAL(F) F(std::complex<float>) F(std::complex<double>)
