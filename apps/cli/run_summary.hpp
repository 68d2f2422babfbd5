// What `vernier run` says at the end: of each process what became of its calls, and why.
#pragma once

#include <string>

#include "record.hpp"
#include "terminal.hpp"

namespace vernier::cli {

// `program` as it was to be run: where no process told anything, its file may say why.
void show_summary(const interpose::Board& board, const std::string& program, const Console& console);

// Lines for the processes that did not add one themselves, since they ended by _exit or a signal.
void complete_report(const interpose::Board& board, const std::string& path, const Console& console);

}  // namespace vernier::cli
