#include "end_to_end/group_run.h"

#include <algorithm>

#include "end_to_end/peak_memory.h"
#include "eval/statistics.h"

namespace vase::bench {
namespace {

constexpr int kCalibrationSteps = 16;
constexpr int kWarmPrompt = 32;  // tokens

int longest(const std::vector<Test>& tests) { return std::ranges::max(tests, {}, &Test::tokens).tokens; }

// A rig that is watched while a piece of it is timed.
struct WatchedRig {
  Rig& rig;
  EnergyMeter& energy;
  double slots = 0;  // summed over the steps
  std::vector<uint8_t> evicts = {};
  EvictionTimes before = {};
  int64_t evictions_before = 0;

  void start() {
    rig.start();
    before = rig.eviction_times();
    evictions_before = rig.sequence().evictions;
    energy.start();
  }
  void read_prompts(int tokens, const std::function<void(int)>& on_chunk) {
    rig.read_prompts(tokens, on_chunk);
  }
  void step() {
    slots += rig.next_slots();
    evicts.push_back(rig.evicts_next());
    rig.step();
  }
};

void add_generation(Row& row, const Piece& piece, const WatchedRig& watched) {
  double last = 0;
  for (const double mark : piece.marks) {
    row.step_s.push_back(mark - last);
    last = mark;
  }
  row.step_evicts.insert(row.step_evicts.end(), watched.evicts.begin(), watched.evicts.end());
  const auto steps = static_cast<double>(piece.marks.size());
  const auto repeat = static_cast<double>(row.tokens_per_s.size());  // this one included
  const double slots = watched.slots / steps;
  row.slots += (slots - row.slots) / repeat;
  const double bytes_per_s = row.step_bytes.per_step(row.what.batch, slots) * steps / piece.seconds();
  row.limit_fractions.push_back(bytes_per_s / (row.read_gb_per_s.back() * 1e9));
}

void add_prediction(Row& row, Calibration measured) {
  measured.read_gb_per_s = row.read_gb_per_s.back();
  row.prediction->calibrations.push_back(measured);
  const CostModel model(row.step_bytes, measured);
  row.prediction->tokens_per_s.push_back(model.tokens_per_s(row.what.batch, row.prediction->slots));
}

}  // namespace

Reach reach_of(const Group& group) {
  return {.depth = group.common().depth,
          .tokens = longest(group.tests),
          .prompts = std::ranges::any_of(group.tests, &Test::prompt)};
}

EngineOptions engine_of(const BenchOptions& options, const Case& what) {
  EngineOptions engine = options.engine;
  engine.sequences = what.batch;
  engine.threads = what.threads;
  engine.chunk = what.chunk;
  return engine;
}

PeerOptions peer_of(const Group& group, int threads, bool flash_attention) {
  const Reach reach = reach_of(group);
  return {.sequences = group.common().batch,
          .threads = threads,
          .depth = reach.depth,
          .tokens = reach.tokens,
          .prompts = reach.prompts,
          .kv_type = group.common().cache.key_type,
          .flash_attention = flash_attention};
}

GroupRun::GroupRun(const Bed& bed, const BenchOptions& options, const Group& group)
    : bed_(bed), options_(options), group_(group) {
  reset_peak_memory();
  const Case& common = group.common();
  const std::string place = std::to_string(common.depth) + " tokens x " + std::to_string(common.batch);
  threads_ = plan_rig(bed.shape, Policy::parse(common.policy), common.cache, engine_of(options, common),
                      reach_of(group))
                 .attention.threads;
  bandwidth_.emplace(threads_);
  options.on_piece("filling " + place);
  const auto heed = [&] {
    if (options.stop()) throw Stopped();
  };
  for (const Case& one : group.cases) {
    heed();
    rigs_.push_back(std::make_unique<Rig>(bed.loaded.at(one.layout).weights, Policy::parse(one.policy), one.cache,
                                          engine_of(options, one), reach_of(group)));
  }
  const auto peer = [&](bool flash) {
    heed();
    return std::make_unique<LlamaPeer>(*bed.peer, bed.shape, peer_of(group, threads_, flash));
  };
  if (options.peer_flash) flash_ = peer(true);
  if (options.peer_plain) plain_ = peer(false);
  if (!options.predict) return;
  calibrate_one_ = calibration_rig(1);
  if (common.batch > 1) calibrate_batch_ = calibration_rig(common.batch);
}

std::unique_ptr<Rig> GroupRun::calibration_rig(int batch) const {
  Case what = group_.common();
  what.batch = batch;
  CacheOptions cache;
  cache.key_type = what.cache.key_type;
  cache.value_type = what.cache.value_type;
  return std::make_unique<Rig>(bed_.loaded.at(what.layout).weights, Policy(), cache, engine_of(options_, what),
                               Reach{.tokens = kCalibrationSteps});
}

void GroupRun::calibrate() {
  options_.on_piece("calibrating the prediction");
  const auto median_step = [&](Rig& rig) {
    const Piece piece = time_piece(rig, {.tokens = kCalibrationSteps}, options_.stop);
    std::vector<double> steps;
    for (size_t i = 1; i < piece.marks.size(); ++i) steps.push_back(piece.marks[i] - piece.marks[i - 1]);
    return eval::median(steps);
  };
  calibration_ = {.batch = group_.common().batch};
  calibration_.one_s = calibration_.batch_s = median_step(*calibrate_one_);
  if (calibrate_batch_) calibration_.batch_s = median_step(*calibrate_batch_);
}

Row GroupRun::row_of(const Test& test, size_t index) const {
  const EnginePlan& plan = rigs_[index]->plan();
  const MemoryPlan& memory = plan.memory;
  const ModelBytes& bytes = bed_.loaded.at(group_.cases[index].layout).bytes;
  Row row{.what = group_.cases[index],
          .repeats = options_.repeats,
          .threads = threads_,
          .staggered = plan.attention.schedule.staggered(),
          .memory = memory,
          .weight_bytes = bytes.resident,
          .compute_bytes = rigs_[index]->compute_bytes(),
          .memory_limit = options_.sweep_bytes};
  row.what.test = test;
  row.step_bytes = {.weights = bytes.step,
                    .slot = uint64_t(memory.layers) * memory.kv_heads * (memory.key_row + memory.value_row)};
  if (!options_.predict || test.prompt) return row;  // the model is about generation
  const bool evicts = memory.period > 0;
  const double slots = mean_slots(row.what.depth, test.tokens, evicts ? memory.budget : 0, memory.period);
  row.prediction = {.slots = memory.read > 0 ? std::min<double>(slots, memory.read) : slots};
  return row;
}

void GroupRun::warm_prompts(const Test& test) {
  const Test warm{.prompt = true, .tokens = std::min(test.tokens, kWarmPrompt)};
  for (const auto& rig : rigs_) time_piece(*rig, warm, options_.stop);
  for (LlamaPeer* peer : {flash_.get(), plain_.get()}) {
    if (peer) time_piece(*peer, warm, options_.stop);
  }
}

void GroupRun::time(const Test& test) {
  std::vector<Row> rows;
  for (size_t i = 0; i < rigs_.size(); ++i) rows.push_back(row_of(test, i));
  bool stopped = false;
  try {
    if (test.prompt) warm_prompts(test);
    for (int repeat = 0; repeat < options_.repeats; ++repeat) time_repeat(rows);
  } catch (const Stopped&) {  // the piece that was cut short is left out
    stopped = true;
  }
  for (Row& row : rows) {
    row.peak_memory = peak_memory();
    if (!row.tokens_per_s.empty()) options_.on_row(row);
  }
  if (stopped) throw Stopped();
}

void GroupRun::time_repeat(std::vector<Row>& rows) {
  if (rows[0].prediction) calibrate();
  const double flash = flash_ ? time_peer(*flash_, "libllama flash", rows[0]) : 0;
  const double plain = plain_ ? time_peer(*plain_, "libllama plain", rows[0]) : 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    Row& row = rows[i];
    time_ours(*rigs_[i], row);
    if (flash_) row.peer_flash.push_back(flash);
    if (plain_) row.peer_plain.push_back(plain);
    if (flash_ || plain_) row.ratios.push_back(row.tokens_per_s.back() / std::max(flash, plain));
  }
}

double GroupRun::time_peer(LlamaPeer& peer, const char* mode, const Row& row) {
  Test test = row.what.test;
  if (!test.prompt && options_.peer_tokens > 0) test.tokens = std::min(test.tokens, options_.peer_tokens);
  options_.on_piece(test.name() + " " + mode);
  return test.tokens * row.what.batch / time_piece(peer, test, options_.stop).seconds();
}

void GroupRun::time_ours(Rig& rig, Row& row) {
  const Test& test = row.what.test;
  options_.on_piece(test.name() + " " + row.what.name);
  const double read = bandwidth_->measure();
  WatchedRig watched{.rig = rig, .energy = energy_};
  const Piece piece = time_piece(watched, test, options_.stop);
  const std::optional<double> joules = energy_.joules();
  const EvictionTimes after = rig.eviction_times();

  const double tokens = test.tokens * row.what.batch;
  row.read_gb_per_s.push_back(read);
  row.tokens_per_s.push_back(tokens / piece.seconds());
  row.timed_s += piece.seconds();
  row.scoring_s += after.scoring - watched.before.scoring;
  row.compaction_s += after.compaction - watched.before.compaction;
  row.evictions += rig.sequence().evictions - watched.evictions_before;
  row.seen = rig.sequence().seen;
  if (joules) row.joules_per_token.push_back(*joules / tokens);
  if (test.prompt) row.first_token_s.push_back(eval::mean(piece.marks));
  if (!test.prompt) add_generation(row, piece, watched);
  if (row.prediction) add_prediction(row, calibration_);
}

}  // namespace vase::bench
