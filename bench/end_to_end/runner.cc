#include "end_to_end/runner.h"

#include <algorithm>

#include "base/machine.h"
#include "end_to_end/group_run.h"
#include "end_to_end/largest_batch.h"
#include "engine/model_shape.h"
#include "vase/error.h"

namespace vase::bench {
namespace {

constexpr int kMostSequences = 4096;

std::string mib(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

// Every group with one case, whose batch is the largest that fits.
std::vector<Group> swept(const std::vector<Group>& groups,
                         const std::function<int(const Group&, const Case&)>& batch) {
  std::vector<Group> alone;
  for (const Group& group : groups) {
    for (Case one : group.cases) {
      one.batch = batch(group, one);
      alone.push_back({group.tests, {one}});
    }
  }
  return alone;
}

}  // namespace

struct Bench::Impl {
  explicit Impl(const BenchOptions& wanted) : options(wanted) {
    check_peer_types();
    for (const model::WeightLayout layout : options.grid.layouts) load(layout);
    bed.shape = shape_of(bed.loaded.begin()->second.weights->hparams());
    groups = groups_of(options.grid);
    if (options.sweep_bytes > 0) {
      groups =
          swept(groups, [this](const Group& group, const Case& one) { return fitting_batch(group, one); });
    }
    check_memory();
    if (has_peer()) bed.peer = std::make_unique<LlamaModel>(options.model_path);
  }

  bool has_peer() const { return options.peer_flash || options.peer_plain; }

  void check_peer_types() const {
    if (!has_peer()) return;
    for (const KvType& type : options.grid.kv_types) {
      if (type.key != type.value) {
        throw Error(ErrorCode::kUsage,
                    "libllama is compared at one type for keys and values; use a --kv-type with one");
      }
      if (options.peer_plain && row_block(type.value) > 1) {
        throw Error(ErrorCode::kUsage, "libllama takes " + type.name +
                                           " values with flash attention only; use --peer llama-flash");
      }
    }
  }

  void load(model::WeightLayout layout) {
    if (!bed.loaded.empty()) require_room_beside_weights(layout);
    auto weights = model::Weights::load(options.model_path, {layout});
    bed.loaded[layout] = {std::move(weights), model_bytes(options.model_path, layout)};
  }

  void require_room_beside_weights(model::WeightLayout layout) const {
    const uint64_t needed = model_bytes(options.model_path, layout).resident, free = available_memory();
    if (needed <= free) return;
    throw Error(ErrorCode::kResource, "the weights in a second layout take " + mib(needed) + "; " + mib(free) +
                                          " are free. Give --products own or ggml instead of both");
  }

  EnginePlan plan(const Group& group, const Case& one) const {
    return plan_rig(bed.shape, Policy::parse(one.policy), one.cache, engine_of(options, one),
                    reach_of(group));
  }

  // The buffers of the forward pass are made to be measured, once the rest is seen to fit.
  int fitting_batch(const Group& group, Case one) const {
    const Bed::Loaded& loaded = bed.loaded.at(one.layout);
    const auto bytes = [&](int batch) {
      one.batch = batch;
      const EnginePlan with = plan(group, one);
      const uint64_t rest = loaded.bytes.resident + with.memory.bytes();
      if (rest > options.sweep_bytes) return rest;
      return rest + rig_compute_bytes(loaded.weights, with, engine_of(options, one), reach_of(group));
    };
    return largest_batch(bytes, options.sweep_bytes, kMostSequences);
  }

  void check_memory() const {
    for (const Group& group : groups) {
      if (group.common().batch == 0) continue;
      uint64_t ours = 0, peer = 0;
      for (const Case& one : group.cases) ours += plan(group, one).memory.bytes();
      if (options.peer_flash) peer += LlamaPeer::bytes_for(bed.shape, peer_of(group, 1, true));
      if (options.peer_plain) peer += LlamaPeer::bytes_for(bed.shape, peer_of(group, 1, false));
      if (has_peer()) peer += model_bytes(options.model_path, model::WeightLayout::kGgml).resident;
      require_memory(group.common(), ours, peer);
    }
  }

  static void require_memory(const Case& common, uint64_t ours, uint64_t peer) {
    const uint64_t needed = ours + peer + ReadBandwidth::kBytes, free = available_memory();
    if (needed <= free) return;
    throw Error(ErrorCode::kResource,
                "--depth " + std::to_string(common.depth) + " with --batch " + std::to_string(common.batch) +
                    " takes " + mib(ours) + " for our caches" +
                    (peer > 0 ? " and " + mib(peer) + " for libllama" : "") + "; " +
                    mib(free - std::min<uint64_t>(free, ReadBandwidth::kBytes)) +
                    " are free. Give less of either, fewer policies at a time" +
                    (peer > 0 ? ", or one of libllama's modes alone: --peer llama-plain" : ""));
  }

  size_t pieces() const {
    size_t sum = 0;
    const size_t modes = size_t(options.peer_flash) + size_t(options.peer_plain);
    for (const Group& group : groups) {
      if (group.common().batch == 0) continue;
      sum += 1;
      for (const Test& test : group.tests) {
        const size_t calibration = options.predict && !test.prompt;
        sum += options.repeats * (group.cases.size() + modes + calibration);
      }
    }
    return sum;
  }

  // A row that says so.
  void report_unfitting(const Group& group) const {
    for (const Test& test : group.tests) {
      Row row{.what = group.common(),
              .repeats = options.repeats,
              .weight_bytes = bed.loaded.at(group.common().layout).bytes.resident,
              .memory_limit = options.sweep_bytes};
      row.what.test = test;
      row.what.batch = 1;
      row.memory = plan(group, row.what).memory;
      row.what.batch = 0;
      options.on_row(row);
    }
  }

  bool run() {
    try {
      for (const Group& group : groups) {
        if (group.common().batch == 0) {
          report_unfitting(group);
          continue;
        }
        if (options.stop()) return false;
        GroupRun timing(bed, options, group);
        for (const Test& test : group.tests) timing.time(test);
      }
    } catch (const Stopped&) {
      return false;
    }
    return true;
  }

  BenchOptions options;
  Bed bed;
  std::vector<Group> groups;
};

Bench::Bench(const BenchOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Bench::~Bench() = default;
size_t Bench::pieces() const { return impl_->pieces(); }
bool Bench::run() { return impl_->run(); }

}  // namespace vase::bench
