// The timing of one group of cases.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "end_to_end/cost_model.h"
#include "end_to_end/energy_meter.h"
#include "end_to_end/llama_peer.h"
#include "end_to_end/model_bytes.h"
#include "end_to_end/read_bandwidth.h"
#include "end_to_end/rig.h"
#include "end_to_end/runner.h"

namespace vase::bench {

// What all groups share.
struct Bed {
  struct Loaded {
    std::shared_ptr<const model::Weights> weights;
    ModelBytes bytes;
  };
  std::map<model::WeightLayout, Loaded> loaded;  // those of the grid
  ModelShape shape;
  std::unique_ptr<LlamaModel> peer;  // null: no peer
};

// How far the tests of a group reach, and with what.
Reach reach_of(const Group& group);
EngineOptions engine_of(const BenchOptions& options, const Case& what);
PeerOptions peer_of(const Group& group, int threads, bool flash_attention);

class GroupRun {
 public:
  // Fills the caches. All three must outlive it.
  GroupRun(const Bed& bed, const BenchOptions& options, const Group& group);

  // Times one test of all cases and reports their rows; throws Stopped after reporting what there was time
  // for.
  void time(const Test& test);

 private:
  Row row_of(const Test& test, size_t index) const;
  std::unique_ptr<Rig> calibration_rig(int batch) const;
  void calibrate();
  void warm_prompts(const Test& test);
  void time_repeat(std::vector<Row>& rows);
  void time_ours(Rig& rig, Row& row);
  double time_peer(LlamaPeer& peer, const char* mode, const Row& row);

  const Bed& bed_;
  const BenchOptions& options_;
  const Group& group_;
  int threads_;
  std::optional<ReadBandwidth> bandwidth_;
  std::vector<std::unique_ptr<Rig>> rigs_;  // [cases]
  std::unique_ptr<LlamaPeer> flash_, plain_;
  std::unique_ptr<Rig> calibrate_one_,
      calibrate_batch_;      // with caches that are nearly empty; null: no prediction
  Calibration calibration_;  // of the repeat in hand, but its bandwidth
  EnergyMeter energy_;
};

}  // namespace vase::bench
