#include "end_to_end/decode_bench.h"

#include <algorithm>
#include <chrono>

#include "end_to_end/decode_rig.h"
#include "end_to_end/llama_peer.h"
#include "end_to_end/read_bandwidth.h"
#include "vase/error.h"

namespace vase::bench {
namespace {

struct Stopped {};

template <typename Steppable>
double tokens_per_second(Steppable& rig, int steps, int batch, const std::function<bool()>& stop) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) {
    if (stop && stop()) throw Stopped();
    rig.step();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return steps * batch / seconds.count();
}

struct Peers {
  std::unique_ptr<LlamaModel> model;
  std::unique_ptr<LlamaPeer> flash, plain;
};

Peers make_peers(const DecodeBenchOptions& options, int threads, int steps) {
  Peers peers;
  if (!options.peer_llama) return peers;
  peers.model = std::make_unique<LlamaModel>(options.model_path);
  PeerOptions peer{.sequences = options.engine.sequences,
                   .threads = threads,
                   .depth = options.depth,
                   .steps = steps,
                   .kv_type = options.cache.key_type};
  peers.flash = std::make_unique<LlamaPeer>(*peers.model, peer);
  peer.flash_attention = false;
  peers.plain = std::make_unique<LlamaPeer>(*peers.model, peer);
  return peers;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<DecodeBenchRow> run_decode_bench(const DecodeBenchOptions& options,
                                             const std::function<void(int, int)>& progress) {
  if (options.peer_llama && options.cache.key_type != options.cache.value_type) {
    throw Error(ErrorCode::kUsage,
                "libllama is compared at one type for keys and values; use --kv-type f16 or f32");
  }
  const int batch = options.engine.sequences;
  const int steps =
      options.tokens * options.repeats + options.repeats + 1;  // with one untimed step before each piece
  const auto weights = model::Weights::load(options.model_path);
  std::vector<std::unique_ptr<DecodeRig>> rigs;
  std::vector<DecodeBenchRow> rows;
  for (const std::string& text : options.policies) {
    const Policy policy = Policy::parse(text);
    rigs.push_back(
        std::make_unique<DecodeRig>(weights, policy, options.cache, options.engine, options.depth, steps));
    const EnginePlan& plan = rigs.back()->plan();
    rows.push_back({.policy = policy.text(), .memory = plan.memory, .threads = plan.attention.threads});
  }
  const int threads = rows.front().threads;
  Peers peers = make_peers(options, threads, steps);
  ReadBandwidth bandwidth(threads);

  const int pieces = options.repeats * static_cast<int>(rigs.size() + (options.peer_llama ? 2 : 0));
  int done = 0;
  const auto timed = [&](auto& rig) {
    rig.step();
    const double speed = tokens_per_second(rig, options.tokens, batch, options.stop);
    progress(++done, pieces);
    return speed;
  };
  const auto time_all = [&] {
    const double flash = peers.flash ? timed(*peers.flash) : 0;
    const double plain = peers.plain ? timed(*peers.plain) : 0;
    for (size_t i = 0; i < rigs.size(); ++i) {
      const double read = bandwidth.measure();
      rows[i].tokens_per_s.push_back(timed(*rigs[i]));
      rows[i].read_gb_per_s.push_back(read);
      if (!options.peer_llama) continue;
      rows[i].peer_flash.push_back(flash);
      rows[i].peer_plain.push_back(plain);
      rows[i].ratios.push_back(rows[i].tokens_per_s.back() / std::max(flash, plain));
    }
  };
  progress(0, pieces);
  try {
    for (int repeat = 0; repeat < options.repeats; ++repeat) time_all();
  } catch (const Stopped&) {
    // The piece that was cut short is left out.
  }
  return rows;
}

}  // namespace vase::bench
