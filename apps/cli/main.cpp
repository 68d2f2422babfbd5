// vernier: the command line of the library.
#include "command_line.hpp"

int main(int argc, char** argv) { return vernier::cli::run_command_line(argc, argv); }
