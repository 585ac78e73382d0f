// Ctrl-C, kill and a closed terminal: the program stops in good order or at once, and leaves nothing half-made.
#pragma once

namespace vase::cli {

// From now on SIGINT, SIGTERM and SIGHUP end the process with code 130, after removing what remove_on_interrupt()
// names; until then they end it as usual. A SIGHUP that is ignored (nohup) stays so.
void watch_interrupts();
// From now on the first one only makes interrupted() true, for the program to stop in good order; the second ends
// the process at once. Includes watch_interrupts().
void defer_interrupts();
bool interrupted();

// A file to remove when an interrupt ends the process. The text must live until keep_on_interrupt(), which takes the
// same pointer. At most eight at a time; more are not removed.
void remove_on_interrupt(const char* path);
void keep_on_interrupt(const char* path);

// Bytes (a string literal) written to standard error when an interrupt ends the process; null for none.
// Puts the terminal back in order.
void set_farewell(const char* bytes);

}  // namespace vase::cli
