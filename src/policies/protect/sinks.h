// sinks:N - the first N tokens of the text (attention sinks, arXiv 2309.17453), by position, never by slot.
//   N  tokens, default 4, 0 .. 1,048,576
#pragma once

#include "policies/part_options.h"
#include "vase/policy.h"

namespace vase {

class Sinks final : public Protector {
 public:
  static constexpr int kDefaultTokens = 4;

  explicit Sinks(int tokens) : tokens_(tokens) {}
  static std::shared_ptr<const Protector> parse(PartOptions& options);

  void claim(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, Claims& claims) const override;
  int sinks() const override { return tokens_; }
  int smallest_keep() const override { return tokens_ + 1; }
  bool by_position() const override { return true; }
  std::string text() const override { return "sinks:" + std::to_string(tokens_); }

 private:
  int tokens_;
};

}  // namespace vase
