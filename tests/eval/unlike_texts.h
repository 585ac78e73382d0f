// Three texts under one policy that have no number in common, for statistics that are worked out by hand.
#pragma once

#include "eval/kl_report.h"

namespace vase::test {

inline eval::KlRow unlike_texts() {
  const auto text = [](const char* name, std::vector<float> kl, int same_top, double nll, double full_nll) {
    const int predicted = static_cast<int>(kl.size()) - 1;
    return eval::KlText{.text = name,
                        .tokens = 40,
                        .first_eviction = 9,
                        .kl = std::move(kl),
                        .same_top = same_top,
                        .nll = nll,
                        .full_nll = full_nll,
                        .predicted = predicted};
  };
  return {"p",
          64,
          {text("a", {0.25f, 1.25f, 0.5f, 2}, 3, 4.5, 3), text("b", {0.5f, 1}, 1, 0.5, 0.25),
           text("c", {3}, 0, 0, 0)}};
}

}  // namespace vase::test
