// What `vernier run` says at the end: of each process what became of its calls, and why.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vernier/vernier.hpp>

#include "record.hpp"
#include "terminal.hpp"

namespace vernier::cli {

// `program` as it was to be run: where no process told anything, its file may say why.
void show_summary(const interpose::Board& board, const std::string& program, const Console& console);

// Lines for the processes that did not add one themselves, since they ended by _exit or a signal.
void complete_report(const interpose::Board& board, const std::string& path, const Console& console);

// Why the library underneath is faster for a record's "largest_native". The program's plan was one for its own BLAS and
// threads and what it had seen, or for its GPU: where the plan made here is for Vernier, the text says whose it is.
std::string native_text(const nlohmann::ordered_json& record);

// ... by the plan made here, of a product on a GPU or on a CPU.
std::string native_words(bool gpu, const Plan& plan);

}  // namespace vernier::cli
