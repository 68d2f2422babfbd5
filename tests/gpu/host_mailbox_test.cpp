// Questions of a host to a kernel of a stream.
#include "product/host_mailbox.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "base/status.hpp"
#include "cuda/device.hpp"

namespace vernier::test::host_mailbox_test {
namespace {

using cuda::PromptQuestion;

// Does the next product on the stream ask?
bool asked(const cuda::Stream& stream) { return PromptQuestion(stream).answer().word != nullptr; }

TEST(HostMailbox, OnlyItsOwnYesIsOne) {
  const cuda::Stream stream;
  for (int i = 0; i < 3; ++i) {
    PromptQuestion question(stream);
    const HostAnswer to = question.answer();
    ASSERT_NE(to.word, nullptr);
    to.give(true);
    EXPECT_TRUE(question.is_yes_within(0));
  }
  PromptQuestion late(stream);
  HostAnswer{late.answer().word, late.answer().question - 1}.give(true);
  EXPECT_FALSE(late.is_yes_within(1e-4));
}

TEST(HostMailbox, ANoIsNotAYes) {
  const cuda::Stream stream;
  PromptQuestion question(stream);
  ASSERT_NE(question.answer().word, nullptr);
  question.answer().give(false);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(question.is_yes_within(10));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));  // nothing was waited for
}

TEST(HostMailbox, NobodyAsksForAWhileAfterQuestionsInVain) {
  const cuda::Stream stream, other;
  for (const int pause : {4, 16, 64, 64}) {
    PromptQuestion in_vain(stream);
    ASSERT_NE(in_vain.answer().word, nullptr);
    EXPECT_FALSE(in_vain.is_yes_within(0));
    for (int i = 0; i < pause; ++i) EXPECT_FALSE(asked(stream)) << i << " of " << pause;
    EXPECT_TRUE(asked(other));
  }
  PromptQuestion question(stream);
  ASSERT_NE(question.answer().word, nullptr);
  question.answer().give(true);
  EXPECT_TRUE(question.is_yes_within(0));
  EXPECT_TRUE(asked(stream));
}

TEST(HostMailbox, WaitsForItsOwnAnswerOnABusyStream) {
  std::uint32_t* word = nullptr;
  ASSERT_EQ(cudaHostAlloc(reinterpret_cast<void**>(&word), sizeof *word, cudaHostAllocDefault), cudaSuccess);
  *word = 0;
  const cuda::Stream stream;
  for (const bool yes : {true, false}) {
    const cuda::HostMailbox unanswered(word), box(word);
    unanswered.answer().give(!yes);
    struct Late {
      HostAnswer answer;
      bool yes;
    } late{box.answer(), yes};
    const auto give = [](void* x) { static_cast<const Late*>(x)->answer.give(static_cast<const Late*>(x)->yes); };
    ASSERT_EQ(cudaLaunchHostFunc(stream, give, &late), cudaSuccess);
    EXPECT_EQ(box.wait(stream, "test"), yes);
    EXPECT_THROW(unanswered.wait(stream, "test"), Error);  // the stream ended without that answer
  }
  EXPECT_EQ(cudaFreeHost(word), cudaSuccess);
}

}  // namespace
}  // namespace vernier::test::host_mailbox_test
