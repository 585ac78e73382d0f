#include <algorithm>

#include "vase/error.h"
#include "vase/head_view.h"

namespace vase {

void PolicyNeeds::add(const PolicyNeeds& other) {
  if (other.attention != AttentionRecord::kNone) {
    const bool same = attention == other.attention && temperature == other.temperature &&
                      over_all == other.over_all && threshold == other.threshold;
    if (attention != AttentionRecord::kNone && !same) {
      throw Error(ErrorCode::kUsage, "policy: two parts need different records of attention (window or lifetime, form, "
                                     "temperature); a policy keeps one, so give both parts the same options");
    }
    attention = other.attention;
    temperature = other.temperature;
    over_all = other.over_all;
    threshold = other.threshold;
  }
  value_range |= other.value_range;
  norm_product |= other.norm_product;
  rows |= other.rows;
  row_blocks |= other.row_blocks;
  log_weight |= other.log_weight;
  rope |= other.rope;
  draws |= other.draws;
  queries = std::max(queries, other.queries);
}

}  // namespace vase
