// What the process needs before anything else runs.
#pragma once

namespace vase::cli {

// Call first in main(): gives every standard stream a file, makes write failures ordinary errors, and takes from the
// environment what would override --threads.
void prepare_process();

}  // namespace vase::cli
