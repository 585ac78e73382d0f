// Items that another program generates: several requests at a time.
#pragma once

#include <span>

#include "eval/run/cell_run.h"
#include "eval/run/chat_server.h"

namespace vase::eval {

// As CellRun::run(), with EngineOptions::sequences requests under way. The callbacks, on_refused among them, are called
// on this thread. Throws Error as ChatServer::ask() when all requests would fail: the generations that were complete by
// then have been handed over.
bool run_on_server(const ChatServerOptions& server, const GenerationOptions& options,
                   std::span<const Planned> items, const RunCallbacks& callbacks);

}  // namespace vase::eval
