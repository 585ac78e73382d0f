#include "end_to_end/cost_model.h"

#include <algorithm>

namespace vase::bench {

CostModel::CostModel(const StepBytes& bytes, const Calibration& measured)
    : bytes_(bytes),
      column_s_(measured.batch > 1 ? (measured.batch_s - measured.one_s) / (measured.batch - 1) : 0),
      read_bytes_per_s_(measured.read_gb_per_s * 1e9) {
  fixed_s_ = measured.one_s - column_s_;
}

double CostModel::step_s(int batch, double slots) const {
  return fixed_s_ + batch * (column_s_ + slots * static_cast<double>(bytes_.slot) / read_bytes_per_s_);
}

double mean_slots(int depth, int tokens, int budget, int period) {
  const double all = depth + (tokens + 1) / 2.0;
  return budget > 0 ? std::min(all, budget + (period + 1) / 2.0) : all;
}

}  // namespace vase::bench
