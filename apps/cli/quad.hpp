// vernier gemm --type dd, vernier solve --precision quad and --verified.
#pragma once

#include <string>

#include "command.hpp"

namespace vernier::cli {

struct QuadArguments {
  std::string a, b, c_in, output, contract, engine;
  std::string device = "cpu";  // or "cuda"
  double alpha = 1, beta = 0;
  Op opa = Op::none, opb = Op::none;
  int threads = 0;
  std::size_t workspace_limit = 0;
  std::string entries = "dd";  // of the output, in .npy (quad_matrix.hpp)
  bool verified = false;       // of solve_quad: its forward error is proved
};

int multiply_quad(const QuadArguments& arguments, const Console& console);
int solve_quad(const QuadArguments& arguments, const Console& console);
int solve_verified(const QuadArguments& arguments,
                   const Console& console);  // the output holds two columns for each of B

}  // namespace vernier::cli
