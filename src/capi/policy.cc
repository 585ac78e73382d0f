#include "capi/handles.h"

using namespace vase::capi;

extern "C" {

vase_status vase_policy_parse(const char* text, vase_policy** policy) {
  return guarded_new(policy, "policy", [&] { return new vase_policy(vase::Policy::parse(&required(text, "text"))); });
}

void vase_policy_free(vase_policy* policy) { delete policy; }

const char* vase_policy_text(const vase_policy* policy) { return policy ? policy->text.c_str() : ""; }

size_t vase_preset_count(void) { return vase::Policy::presets().size(); }

vase_status vase_preset_get(size_t index, vase_preset* preset, size_t size) {
  return guarded([&] {
    const auto& all = vase::Policy::presets();
    required(preset, "preset");
    if (index >= all.size()) {
      throw vase::Error(vase::ErrorCode::kUsage, "there is no preset number " + std::to_string(index) +
                                                     "; allowed: 0 to " + std::to_string(all.size() - 1));
    }
    const vase::PolicyInfo& info = all[index];
    give<vase_preset>({info.name.c_str(), info.summary.c_str(), info.source.c_str(), info.text.c_str()}, preset, size);
  });
}

}  // extern "C"
