// Questions of a host to a kernel of a stream.
#include "product/host_mailbox.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "cuda/device.hpp"

namespace vernier::test::host_mailbox_test {
namespace {

using cuda::HostMailbox;

void say(const HostAnswer& answer, std::uint32_t question, bool yes) { *answer.word = HostAnswer::text(question, yes); }

// Does the next product on the stream ask?
bool asked(const cuda::Stream& stream) { return HostMailbox(stream).answer().word != nullptr; }

TEST(HostMailbox, OnlyItsOwnYesIsOne) {
  const cuda::Stream stream;
  for (int i = 0; i < 3; ++i) {
    HostMailbox question(stream);
    const HostAnswer to = question.answer();
    ASSERT_NE(to.word, nullptr);
    say(to, to.question, true);
    EXPECT_TRUE(question.is_yes_within(0));
  }
  HostMailbox late(stream);
  say(late.answer(), late.answer().question - 1, true);
  EXPECT_FALSE(late.is_yes_within(1e-4));
}

TEST(HostMailbox, ANoIsNotAYes) {
  const cuda::Stream stream;
  HostMailbox question(stream);
  ASSERT_NE(question.answer().word, nullptr);
  say(question.answer(), question.answer().question, false);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(question.is_yes_within(10));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));  // nothing was waited for
}

TEST(HostMailbox, NobodyAsksForAWhileAfterQuestionsInVain) {
  const cuda::Stream stream, other;
  for (const int pause : {4, 16, 64, 64}) {
    HostMailbox in_vain(stream);
    ASSERT_NE(in_vain.answer().word, nullptr);
    EXPECT_FALSE(in_vain.is_yes_within(0));
    for (int i = 0; i < pause; ++i) EXPECT_FALSE(asked(stream)) << i << " of " << pause;
    EXPECT_TRUE(asked(other));
  }
  HostMailbox question(stream);
  ASSERT_NE(question.answer().word, nullptr);
  say(question.answer(), question.answer().question, true);
  EXPECT_TRUE(question.is_yes_within(0));
  EXPECT_TRUE(asked(stream));
}

}  // namespace
}  // namespace vernier::test::host_mailbox_test
