// Ctrl-C: the first asks the program to stop in good order, the second ends it at once.
#pragma once

namespace vase::cli {

// From now on interrupts are counted; until then they end the process as usual.
void watch_interrupts();
bool interrupted();

// Bytes (a string literal) written to standard error when a second interrupt ends the process; null for none.
// Puts the terminal back in order.
void set_farewell(const char* bytes);

}  // namespace vase::cli
