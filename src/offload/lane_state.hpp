// What is done and what is not of one device's part: the bookkeeping of transfer.cpp. All members but copy() are for
// one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "offload/transfer.hpp"

namespace vernier::offload {

// What a thread does outside of the lock.
struct Work {
  enum class Kind { multiply, up, down } kind = Kind::multiply;
  std::size_t of = 0;  // block or panel
  std::int64_t piece = 0;
  int slot = -1;
};

class LaneState {
 public:
  LaneState(Lane& lane, const TransferSettings& settings);

  void open();

  std::optional<Work> take();      // queues what needs no thread, and says what one can do
  void do_work(const Work& work);  // takes the lock where it has to
  bool finished() const { return failed_ || undrained_ == 0; }
  double done() const { return 1 - static_cast<double>(undrained_) / static_cast<double>(pieces_); }
  void fail(const char* why) noexcept;
  LaneResult result();

  std::mutex mutex;

 private:
  struct PanelState {
    Pieces pieces;
    std::int64_t unsent = 0;
    bool direct = false;
  };
  struct BlockState {
    Pieces pieces;
    std::int64_t unfetched = 0;
    std::size_t first_piece = 0;  // in written_
    bool multiplied = false;
  };
  struct Flight {
    int slot, mark;
    std::size_t block;
    std::int64_t piece;
  };

  bool ready(const Block& block) const;
  bool memory_is_free(const Panel& panel) const;
  bool sent(int panel) const { return panel < 0 || panels_[static_cast<std::size_t>(panel)].unsent == 0; }
  bool fetched(int block) const { return block < 0 || blocks_[static_cast<std::size_t>(block)].unfetched == 0; }
  int up_slot();
  void send_directly();
  void fetch_pieces();
  void wait_for_memory(const Panel& panel);
  void sent_piece(std::size_t panel);
  void multiply(std::size_t block);
  void send(const Work& work);
  void drain(const Work& work);
  const HostMatrix& matrix(Matrix which) const;
  HostMatrix host_part(std::size_t panel, const Piece& piece) const;
  HostMatrix c_part(std::size_t block, const Piece& piece) const;
  std::size_t bytes_of(const Piece& p) const;
  std::byte* slot_at(int slot) const;

  int mark_of_panel(std::size_t panel) const { return slots_ * 2 + static_cast<int>(panel); }
  int mark_of_product(std::size_t block) const { return mark_of_panel(panels_.size()) + static_cast<int>(block); }
  int mark_of_fetch(std::size_t block) const { return mark_of_product(blocks_.size()) + static_cast<int>(block); }

  Lane& lane_;
  const TransferSettings& settings_;
  const int slots_;  // each way
  std::vector<PanelState> panels_;
  std::vector<BlockState> blocks_;
  std::vector<char> written_;  // of each piece of C
  std::size_t next_panel_ = 0, next_block_ = 0, next_fetch_ = 0;
  std::int64_t next_piece_ = 0, next_fetched_piece_ = 0;
  bool multiplying_ = false, failed_ = false;
  std::vector<int> free_up_, free_down_;
  std::deque<int> flying_up_;
  std::deque<Flight> flying_down_;
  std::int64_t pieces_ = 0, undrained_ = 0;
  std::string error_;
  std::vector<Rectangle> missing_;  // room for all, so that telling needs no memory
};

}  // namespace vernier::offload
