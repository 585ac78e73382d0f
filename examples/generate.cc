// generate MODEL PROMPT: answers one prompt from a cache of fixed size, and streams the text.
#include <iostream>

#include "vase/engine.h"
#include "vase/error.h"

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: generate MODEL PROMPT\n";
    return 2;
  }
  const auto model = vase::Model::load(argv[1]);

  vase::CacheOptions cache;
  cache.budget = 256;  // tokens per layer and KV head, however long the text gets
  vase::Engine engine(model, vase::Policy::parse("vase"), cache, vase::EngineOptions());
  std::cerr << engine.memory().formula() << '\n';

  const vase::ChatMessage question{"user", argv[2]};
  vase::SessionOptions options;
  options.max_tokens = 400;
  const auto session = engine.submit(model->tokenize_chat({&question, 1}), options);
  while (engine.step([](vase::Session&, std::string_view text) { std::cout << text << std::flush; }) > 0) {
  }

  const vase::Counters counters = session->counters();
  std::cerr << '\n' << counters.tokens_seen << " tokens seen, " << counters.evicted << " evicted, ended by "
            << vase::finish_name(session->finish()) << '\n';
} catch (const vase::Error& e) {
  std::cerr << "error: " << e.what() << '\n';
  return e.code() == vase::ErrorCode::kUsage ? 2 : 1;
}
