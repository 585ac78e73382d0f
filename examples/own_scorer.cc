// own_scorer MODEL PROMPT: a policy with a score of one's own. It keeps the slots with the smallest key norm times value
// range; how tokens are protected and selected comes from the text of a policy.
#include <cmath>
#include <iostream>

#include "vase/engine.h"
#include "vase/error.h"

class SmallKeyTimesRange final : public vase::Scorer {
 public:
  vase::PolicyNeeds needs() const override { return {.value_range = true, .rows = true}; }

  void score(const vase::HeadView& head, vase::RandomDraws&, vase::PolicyScratch& scratch,
             std::span<float> out) const override {
    for (int c = 0; c < head.candidates(); ++c) {
      vase::read_row(head.keys, c, scratch.row.data());
      double squares = 0;
      for (int i = 0; i < head.keys.width; ++i) squares += double(scratch.row[i]) * scratch.row[i];
      out[c] = -static_cast<float>(std::sqrt(squares) * head.value_range[c]);  // larger is kept
    }
  }

  std::string text() const override { return "small-key-times-range"; }
};

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: own_scorer MODEL PROMPT\n";
    return 2;
  }
  const auto model = vase::Model::load(argv[1]);
  const vase::Policy policy =
      vase::Policy::parse("protect=sinks:4 score=uniform select=top").with_scorer(std::make_shared<SmallKeyTimesRange>());

  vase::CacheOptions cache;
  cache.budget = 128;
  cache.buffer = 32;
  vase::Engine engine(model, policy, cache, vase::EngineOptions());
  const auto session = engine.submit(model->tokenize(argv[2]), {.max_tokens = 200});
  while (engine.step([](vase::Session&, std::string_view text) { std::cout << text << std::flush; }) > 0) {
  }
  std::cerr << '\n' << engine.policy().text() << ": " << session->counters().evicted << " tokens evicted\n";
} catch (const vase::Error& e) {
  std::cerr << "error: " << e.what() << '\n';
  return e.code() == vase::ErrorCode::kUsage ? 2 : 1;
}
