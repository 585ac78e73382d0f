// The engine on tiny models: stopping, cancelling, streaming, refusals, records.
#include "vase/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/engine_helpers.h"
#include "vase/error.h"

namespace vase {
namespace {

using test::bytes;
using test::kept_of;
using test::Listener;
using test::options;
using test::run_all;
using test::TinyModel;
using test::TinyOptions;
using test::tokens_of;


class EngineTest : public testing::Test {
 protected:
  static std::shared_ptr<const Model> plain() {
    static const TinyModel file{TinyOptions{}};
    static const auto model = Model::load(file.path());
    return model;
  }
  // Greedy output walks the bytes of `cycle` for ever.
  static std::shared_ptr<const Model> cyclic(std::string_view cycle) {
    std::vector<int32_t> tokens;
    for (unsigned char c : cycle) tokens.push_back(c);
    const TinyModel file{TinyOptions{.embedding = 512, .cycle = tokens}};
    return Model::load(file.path());
  }
  static SessionOptions greedy(int max_tokens) {
    SessionOptions o = options(max_tokens);
    o.sampling.temperature = 0;
    return o;
  }
  const CacheOptions cache_{.budget = 64, .buffer = 32};
  Listener listener_;
};

// Field report 46.
TEST_F(EngineTest, ExactlyAsManyTokensAsAsked) {
  Engine engine(plain(), Policy::parse("vase-attnv"), cache_, {.sequences = 4, .threads = 2});
  std::vector<std::shared_ptr<Session>> sessions;
  for (int n : {1, 7, 50, 200}) sessions.push_back(engine.submit(bytes("abc"), options(n)));
  run_all(engine, listener_);
  const int want[] = {1, 7, 50, 200};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(sessions[i]->generated_tokens(), want[i]);
    EXPECT_EQ(sessions[i]->finish(), Finish::kMaxTokens);
    EXPECT_EQ(sessions[i]->counters().tokens_seen, 3 + want[i] - 1) << "the last token is not fed";
  }
  EXPECT_EQ(engine.step(listener_.callback()), 0);
}

// Field reports 45 and 63: counters of prompts of unequal length.
TEST_F(EngineTest, CountersAfterPrompts) {
  Engine engine(plain(), Policy::parse("vase-dkv"), cache_, {.sequences = 4, .threads = 2, .chunk = 100});
  std::vector<std::shared_ptr<Session>> sessions;
  for (int n : {5, 130, 400, 1000}) sessions.push_back(engine.submit(test::tiny_text(n), options(1)));
  run_all(engine, listener_);
  const int rows[] = {5, 66, 80, 72};
  const int evictions[] = {0, 2, 10, 29};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(sessions[i]->counters().slots_used, rows[i]);
    EXPECT_EQ(sessions[i]->counters().evictions, evictions[i]);
  }
  EXPECT_EQ(sessions[3]->counters().evicted, 928);
}

TEST_F(EngineTest, EndOfTextStops) {
  std::vector<int32_t> cycle = {'a', 'b', 'c', test::kImEnd};
  const TinyModel file{TinyOptions{.embedding = 512, .cycle = cycle}};
  Engine engine(Model::load(file.path()), Policy::parse("snapkv"), cache_, {.threads = 1});
  SessionOptions o = greedy(100);
  o.ignore_eos = false;
  const auto s = engine.submit(bytes("x"), o);
  run_all(engine, listener_);
  EXPECT_EQ(s->finish(), Finish::kEndOfText);
  EXPECT_EQ(listener_.text(s), "abc");
  EXPECT_EQ(s->generated_tokens(), 4);
}

TEST_F(EngineTest, StopStringIsNeverShown) {
  Engine alphabet(cyclic("abcdefghij"), Policy::parse("random"), cache_, {.threads = 1});
  SessionOptions o = greedy(100);
  o.stops = {"zz", "hij"};
  const auto s = alphabet.submit(bytes("x"), o);
  std::string shown;
  while (alphabet.step([&](Session&, std::string_view text) {
    shown += text;
    EXPECT_EQ(shown.find('h'), std::string::npos) << "a part of the stop string leaked";
  }) > 0) {
  }
  EXPECT_EQ(s->finish(), Finish::kStopString);
  EXPECT_EQ(shown, "abcdefg");
}

// Field report 66.
TEST_F(EngineTest, ALoopEndsTheTextWhenAsked) {
  for (const std::string_view cycle : {"!", "abcdefg"}) {
    Engine engine(cyclic(cycle), Policy::parse("vase-attnv"), cache_, {.sequences = 2, .threads = 1});
    SessionOptions on = greedy(1000);
    on.stop_loops = 4;
    const auto watched = engine.submit(bytes("x"), on), free = engine.submit(bytes("x"), greedy(1000));
    Listener listener;
    run_all(engine, listener);
    EXPECT_EQ(watched->finish(), Finish::kRepetition);
    EXPECT_EQ(watched->generated_tokens(), 512);
    EXPECT_EQ(listener.text(watched).size(), 512u) << "what has repeated is shown";
    EXPECT_EQ(free->finish(), Finish::kMaxTokens);
    EXPECT_EQ(free->generated_tokens(), 1000);
  }
  SessionOptions wrong = greedy(1);
  wrong.stop_loops = 2;
  Engine engine(plain(), Policy::parse("full"), {.context = 100}, {.threads = 1});
  EXPECT_THROW(engine.submit(bytes("x"), wrong), Error);
}

// Field report 73: characters split over tokens arrive whole.
TEST_F(EngineTest, StreamsWholeCharacters) {
  Engine engine(cyclic("\xC3\xA9\xF0\x9F\x98\x80"), Policy::parse("vase-attnv"), cache_, {.threads = 1});
  const auto s = engine.submit(bytes("x"), greedy(12));
  std::vector<std::string> parts;
  while (engine.step([&](Session&, std::string_view text) { parts.emplace_back(text); }) > 0) {
  }
  std::string all;
  for (const std::string& part : parts) {
    EXPECT_TRUE(part.empty() || part == "\xC3\xA9" || part == "\xF0\x9F\x98\x80") << part;
    all += part;
  }
  EXPECT_EQ(all, "\xC3\xA9\xF0\x9F\x98\x80\xC3\xA9\xF0\x9F\x98\x80");
}

TEST_F(EngineTest, CancelTakesEffectWithinOneStep) {
  Engine engine(plain(), Policy::parse("vase-attnv"), cache_, {.sequences = 2, .threads = 2, .chunk = 16});
  const auto reader = engine.submit(test::tiny_text(500), options(10));
  const auto writer = engine.submit(bytes("abc"), options(1000));
  const auto queued = engine.submit(bytes("abc"), options(5));
  const auto last = engine.submit(bytes("abc"), options(5));
  for (int i = 0; i < 4; ++i) engine.step(listener_.callback());
  EXPECT_EQ(reader->generated_tokens(), 0);
  reader->cancel();
  queued->cancel();
  const int written = writer->generated_tokens();
  engine.step(listener_.callback());
  EXPECT_EQ(reader->finish(), Finish::kCancelled);
  EXPECT_EQ(queued->finish(), Finish::kCancelled);
  EXPECT_EQ(queued->counters().tokens_seen, 0) << "a cancelled request in the queue must never start";
  EXPECT_EQ(writer->generated_tokens(), written + 1);
  writer->cancel();
  run_all(engine, listener_);
  EXPECT_EQ(writer->finish(), Finish::kCancelled);
  EXPECT_EQ(last->finish(), Finish::kMaxTokens);
  EXPECT_EQ(last->generated_tokens(), 5);
}

TEST_F(EngineTest, StopsAtTheContext) {
  CacheOptions cache = cache_;
  cache.context = 20;
  for (const char* name : {"vase-attnv", "full"}) {
    Engine engine(plain(), Policy::parse(name), cache, {.threads = 1});
    const auto s = engine.submit(bytes("0123456789"), options(1000));
    run_all(engine, listener_);
    EXPECT_EQ(s->finish(), Finish::kContextFull) << name;
    EXPECT_EQ(s->generated_tokens(), 11) << name;
  }
}

// Field report 11: NaN logits end their own session and nothing else.
TEST_F(EngineTest, NonFiniteLogitsInventNoText) {
  const TinyModel file{TinyOptions{.nan_token = '!'}};
  Engine engine(Model::load(file.path()), Policy::parse("vase-attnv"), cache_, {.sequences = 2, .threads = 2});
  const auto bad = engine.submit(bytes("abc!"), options(20));
  SessionOptions o = options(20);
  o.sampling.temperature = 0;
  const auto good = engine.submit(bytes("abc"), o);
  run_all(engine, listener_);
  EXPECT_EQ(bad->finish(), Finish::kNonFinite);
  EXPECT_EQ(listener_.text(bad), "");
  EXPECT_EQ(bad->generated_tokens(), 0);
  EXPECT_TRUE(good->finish() == Finish::kMaxTokens || good->finish() == Finish::kNonFinite);
}

// Field report 20: equal seeds, equal text; distinct ones differ, up to the largest.
TEST_F(EngineTest, EverySeedCounts) {
  std::map<std::vector<int32_t>, uint64_t> seen;
  for (uint64_t seed : {uint64_t(0), uint64_t(7), uint64_t(0xffffffff), uint64_t(1) << 63}) {
    std::vector<int32_t> first;
    for (int repeat = 0; repeat < 2; ++repeat) {
      Engine engine(plain(), Policy::parse("vase-attnv"), cache_, {.threads = 1});
      const auto s = engine.submit(bytes("abc"), options(40, seed));
      run_all(engine, listener_);
      if (repeat == 0) first = tokens_of(*s);
      EXPECT_EQ(tokens_of(*s), first);
    }
    EXPECT_TRUE(seen.emplace(first, seed).second) << "seed " << seed << " repeats another seed's text";
  }
}

// The eviction seed moves the kept sets alone; with nothing to evict it changes nothing.
TEST_F(EngineTest, EvictionSeedIsSeparate) {
  const auto run = [&](uint64_t evict_seed, int max_tokens) {
    Engine engine(plain(), Policy::parse("random"), cache_, {.threads = 1, .log_evictions = true});
    const auto s = engine.submit(bytes("abc"), options(max_tokens, 1, evict_seed));
    run_all(engine, listener_);
    return std::pair(tokens_of(*s), kept_of(*s));
  };
  EXPECT_EQ(run(1, 60), run(2, 60));
  EXPECT_NE(run(1, 200).second, run(2, 200).second);
}

void expect_usage(const std::function<void()>& action, const std::string& needle) {
  try {
    action();
    ADD_FAILURE() << "accepted; expected an error with '" << needle << "'";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUsage) << e.what();
    EXPECT_NE(std::string(e.what()).find(needle), std::string::npos) << e.what();
  }
}

TEST_F(EngineTest, RefusesWhatCannotWork) {
  CacheOptions cache = cache_;
  cache.context = 100;
  Engine engine(plain(), Policy::parse("vase-attnv"), cache, {.threads = 1});
  expect_usage([&] { engine.submit({}, options(5)); }, "empty");
  expect_usage([&] { engine.submit(test::tiny_text(101), options(5)); }, "100");
  expect_usage([&] { engine.submit({5, 1 << 20}, options(5)); }, "vocabulary");
  expect_usage([&] { engine.submit({-1}, options(5)); }, "vocabulary");
  expect_usage([&] { engine.submit({1}, options(0)); }, "at least 1");
  SessionOptions o = options(5);
  o.stops = {""};
  expect_usage([&] { engine.submit({1}, o); }, "stop");
  o = options(5);
  o.sampling.temperature = -1;
  expect_usage([&] { engine.submit({1}, o); }, "temperature");

  const auto make = [&](const CacheOptions& c, const EngineOptions& e) {
    Engine(plain(), Policy::parse("vase-attnv"), c, e);
  };
  expect_usage([&] { make({.budget = 36, .buffer = 32}, {}); }, "37");
  expect_usage([&] { make({.budget = -1, .buffer = 32}, {}); }, "1 to");
  expect_usage([&] { make({.budget = 0, .buffer = 32}, {}); }, "1 to");
  expect_usage([&] { make({.budget = 64, .buffer = 0}, {}); }, "1 to");
  expect_usage([&] { make({.budget = 1 << 30, .buffer = 32}, {}); }, "1 to");
  expect_usage([&] { make({.budget_mib = 0.001}, {}); }, "smallest");
  expect_usage([&] { make({.budget_mib = NAN}, {}); }, "positive");
  expect_usage([&] { make({.context = -5}, {}); }, "context");
  expect_usage([&] { make({}, {.sequences = 0}); }, "sequences");
  expect_usage([&] { make({}, {.threads = -1}); }, "threads");
  expect_usage([&] { make({.trigger = Trigger::kParity}, {}); }, "dense");
}

// A callback that throws leaves the engine sound: no token is lost or fed twice, and texts that were due still come.
TEST_F(EngineTest, ThrowingCallbacksLoseNothing) {
  const auto run = [&](bool broken) {
    Engine engine(plain(), Policy::parse("vase-attnv"), cache_, {.sequences = 3, .threads = 1});
    std::vector<std::shared_ptr<Session>> sessions;
    for (int i = 0; i < 3; ++i) sessions.push_back(engine.submit(bytes("abc"), options(60, 10 + i)));
    std::map<const Session*, std::string> texts;
    int calls = 0, thrown = 0;
    if (broken) {
      engine.set_on_logits([&](Session&, int64_t, std::span<const float>) {
        if (++calls % 13 == 0) throw std::runtime_error("logits");
      });
    }
    for (int left = 1; left > 0;) {
      try {
        left = engine.step([&](Session& s, std::string_view text) {
          texts[&s] += text;
          if (broken && ++calls % 7 == 0) throw std::runtime_error("text");
        });
      } catch (const std::runtime_error&) {
        ++thrown;
      }
    }
    EXPECT_EQ(thrown > 0, broken);
    std::vector<std::pair<std::vector<int32_t>, std::string>> all;
    for (const auto& s : sessions) all.emplace_back(tokens_of(*s), texts[s.get()]);
    return all;
  };
  EXPECT_EQ(run(true), run(false));
}

TEST_F(EngineTest, CannotBeSteppedFromItsOwnCallback) {
  Engine engine(plain(), Policy::parse("vase-attnv"), cache_, {.sequences = 2, .threads = 1});
  engine.submit(bytes("abc"), options(3));
  int refused = 0;
  engine.set_on_logits([&](Session&, int64_t, std::span<const float>) {
    expect_usage([&] { engine.step({}); }, "callback");
    expect_usage([&] { engine.force(std::vector<int32_t>{1}, 0, {}, [](int64_t, std::span<const float>) {}); },
                 "callback");
    ++refused;
  });
  while (engine.step({}) > 0) {
  }
  EXPECT_EQ(refused, 3);
}

class ThrowingScorer final : public Scorer {
 public:
  void score(const HeadView&, RandomDraws&, PolicyScratch&, std::span<float>) const override {
    throw std::runtime_error("a scorer of one's own");
  }
  std::string text() const override { return "throwing"; }
};

class NoSelector final : public Selector {
 public:
  void select(const HeadView&, std::span<const float>, std::span<uint32_t>, bool, RandomDraws&, PolicyScratch&,
              std::span<uint32_t>) const override {}
  std::string text() const override { return "none"; }
};

// A part that throws must not bring the process down from inside ggml's threads.
TEST_F(EngineTest, ThrowingPartsAreReported) {
  const Policy policy({}, std::make_shared<ThrowingScorer>(), std::make_shared<NoSelector>());
  Engine engine(plain(), policy, cache_, {.threads = 2});
  const auto s = engine.submit(bytes("abc"), options(150));
  int thrown = 0;
  for (int left = 1; left > 0;) {
    try {
      left = engine.step({});
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "a scorer of one's own");
      ++thrown;
    }
  }
  EXPECT_EQ(s->counters().evictions, 2);
  EXPECT_EQ(thrown, 4);  // with tokens 96 and 128 in the first layer, 96, 112 and 144 in the second
  EXPECT_EQ(s->generated_tokens(), 150);
  EXPECT_EQ(s->counters().slots_used, 64 + (152 - 64) % 32);
}

TEST_F(EngineTest, ForcingChecksItsPrompt) {
  CacheOptions cache = cache_;
  cache.prefill = Prefill::kDense;
  cache.max_prompt = 40;
  Engine engine(plain(), Policy::parse("vase-attnv"), cache, {.threads = 1, .logit_rows = 16});
  const auto nothing = [](int64_t, std::span<const float>) {};
  const auto text = test::tiny_text(300);
  EXPECT_EQ(engine.force(text, 40, {}, nothing).counters.tokens_seen, 300);
  expect_usage([&] { engine.force(text, 41, {}, nothing); }, "0 to 40");
  expect_usage([&] { engine.force(text, -1, {}, nothing); }, "0 to 40");
  expect_usage([&] { engine.force({}, 0, {}, nothing); }, "empty");
}

// The row that follows the broken token is never handed out, and the engine goes on with other texts.
TEST_F(EngineTest, ForcingRefusesLogitsThatAreNoNumbers) {
  const TinyModel file{TinyOptions{.nan_token = '!'}};
  Engine engine(Model::load(file.path()), Policy::parse("vase-attnv"), cache_,
                {.threads = 1, .logit_rows = 2});
  std::vector<int64_t> seen;
  const auto keep = [&](int64_t position, std::span<const float>) { seen.push_back(position); };
  try {
    engine.force(bytes("abc!de"), 0, {}, keep);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kNonFinite);
    EXPECT_STREQ(e.what(), "the model gave NaN or infinite logits for the token at position 4");
  }
  EXPECT_EQ(seen, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(engine.force(bytes("abcde"), 0, {}, keep).counters.tokens_seen, 5);
}

TEST_F(EngineTest, TeacherForcingLeavesTheQueueAlone) {
  Engine engine(plain(), Policy::parse("vase-attnv"), cache_, {.sequences = 2, .threads = 1, .logit_rows = 8});
  const auto s = engine.submit(bytes("abc"), options(20));
  engine.step(listener_.callback());
  const auto text = test::tiny_text(50);
  int rows = 0;
  engine.force(text, 5, options(1), [&](int64_t position, std::span<const float>) { EXPECT_EQ(position, rows++); });
  EXPECT_EQ(rows, 50);
  run_all(engine, listener_);
  EXPECT_EQ(s->generated_tokens(), 20);
}

}  // namespace
}  // namespace vase
