// redundancy - how alike a key is to the others: R-KV's second half (arXiv 2505.24133; docs/policies.md 3.8, 4.5). With
// k^_j = k_j / (|k_j| + 1e-8), S_ij = k^_i . k^_j and S_ii = 0:
//   rho = softmax of r over the keys, r_j = mean over the keys i of S_ij.
// Larger is more redundant, so a mixture subtracts it: "0.5*attention-0.5*redundancy".
//   form       port (default): over the candidates, as arXiv 2606.03928 ports it |
//              original: over all n keys, the buffer included, where each row i drops its newest S_ij > threshold from
//              the mean, which spares the newest copy of what is repeated; rho is that of the candidates
//   threshold  of the original, default 0.5, -1 .. 1
// Both in linear time, sum_i S_ij = k^_j . sum_i k^_i - |k^_j|^2, but for the original's search for the newest copy.
#include <algorithm>
#include <array>
#include <numeric>

#include "kernels/similarity/similarity.h"
#include "policies/parts.h"
#include "policies/score/key_directions.h"
#include "policies/score/softmax.h"

namespace vase {
namespace {

enum class Form { kPort, kOriginal };
constexpr std::array<std::string_view, 2> kFormNames = {"port", "original"};
constexpr double kDefaultThreshold = 0.5;

// All rows by age, oldest first; they lie in scratch.pool.
std::span<const uint32_t> rows_by_age(const HeadView& head, PolicyScratch& scratch) {
  const auto rows = std::span(scratch.pool).first(head.slots());
  std::iota(rows.begin(), rows.end(), 0u);
  const auto older = [&](uint32_t a, uint32_t b) { return head.positions[a] < head.positions[b]; };
  const auto candidates = rows.first(head.candidates());  // the buffer is newer, and in order
  if (!std::is_sorted(candidates.begin(), candidates.end(), older)) {
    std::sort(candidates.begin(), candidates.end(), older);
  }
  return rows;
}

class Redundancy final : public Scorer {
 public:
  Redundancy(Form form, double threshold) : form_(form), threshold_(threshold) {}

  static std::shared_ptr<const Scorer> parse(PartOptions& options) {
    const auto form = Form(options.choice("form", 0, kFormNames));
    const double threshold =
        form == Form::kOriginal ? options.real("threshold", kDefaultThreshold, -1, 1) : kDefaultThreshold;
    return std::make_shared<Redundancy>(form, threshold);
  }

  PolicyNeeds needs() const override { return {.rows = true}; }
  void score(const HeadView& head, RandomDraws&, PolicyScratch& scratch, std::span<float> out) const override {
    const int rows = form_ == Form::kPort ? head.candidates() : head.slots();
    const KeyDirections keys = key_directions(head.keys, rows, scratch);
    const auto duplicate = std::span(scratch.keys).first(rows);
    std::fill(duplicate.begin(), duplicate.end(), 0.0);
    if (form_ == Form::kOriginal) {
      kernels::newest_similar(kernels::Path::kFused, head.keys, rows_by_age(head, scratch), keys.inverse,
                              static_cast<float>(threshold_), duplicate);
    }
    for (int j = 0; j < rows; ++j) {
      keys.dots[j] = static_cast<float>((keys.along_sum(j) - keys.own(j) - duplicate[j]) / rows);
    }
    softmax(keys.dots);
    std::copy_n(keys.dots.begin(), out.size(), out.begin());
  }

  std::string text() const override {
    if (form_ == Form::kPort) return "redundancy";
    return "redundancy:form=original" +
           (threshold_ == kDefaultThreshold ? std::string() : ",threshold=" + shortest(threshold_));
  }

 private:
  Form form_;
  double threshold_;
};

constexpr PartInfo::Parameter kParameters[] = {
    {"form", "port", "port, original", "over the candidates, or over all keys with the newest copy spared"},
    {"threshold", "0.5", "-1 to 1", "of the original: cosine above which a key counts as a copy"},
};

}  // namespace

const PartEntry<Scorer> kRedundancyPart = {"redundancy", &Redundancy::parse,
                                           "softmax of the mean cosine to the other keys; larger is more redundant",
                                           "arXiv 2505.24133, 2606.03928", kParameters};

}  // namespace vase
