// recent:N - the newest N tokens, the buffer included (H2O keeps M/2 of them, arXiv 2306.14048; docs/policies.md 4.9).
//   N  tokens or percentage of the budget M, default 50%. N <= R protects nothing beyond the buffer.
#include <algorithm>

#include "policies/parts.h"
#include "policies/protect/position_range.h"

namespace vase {
namespace {

class Recent final : public Protector {
 public:
  explicit Recent(Amount size) : size_(size) {}
  static std::shared_ptr<const Protector> parse(PartOptions& options) {
    return std::make_shared<Recent>(options.amount("", {true, 50}));
  }

  // Newest first, so that what does not fit is the oldest.
  void claim(const HeadView& head, RandomDraws&, PolicyScratch& scratch, Claims& claims) const override {
    const int beyond = std::min(size_.tokens(head.budget) - head.buffer, head.candidates());
    if (beyond <= 0) return;
    const std::span<uint32_t> all = candidates_between(head, 0, INT32_MAX, scratch);
    const std::span<uint32_t> newest = all.last(beyond);
    std::reverse(newest.begin(), newest.end());
    for (uint32_t candidate : newest) {
      if (!claims.add(candidate)) claims.mark_truncated();
    }
  }
  bool by_position() const override { return true; }
  int smallest_budget() const override { return std::max(1, size_.fixed_tokens()); }
  std::string text() const override { return "recent:" + size_.text(); }

 private:
  Amount size_;
};

constexpr PartInfo::Parameter kParameters[] = {
    {"", "50%", "tokens, or 0% to 100% of M", "N, the buffer included"},
};

}  // namespace

const PartEntry<Protector> kRecentPart = {"recent", &Recent::parse, "the newest N tokens, the buffer included",
                                                 "arXiv 2306.14048", kParameters};

}  // namespace vase
