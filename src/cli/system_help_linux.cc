// SPDX-License-Identifier: Apache-2.0
#include "cli/system_help.h"

namespace cairn::cli {

const char kCairnExamples[] =
    "Examples:\n"
    "  cairn run -- ./game            run a program; a crash or a hang writes game.cairn\n"
    "  cairn report game.cairn        what failed, in which draw, how sure, what to run next\n"
    "  cairn view game.cairn          the same in a browser, with every queue and resource\n"
    "  cairn run --capture -- ./game  record all Direct3D 12 calls into game.cairn: a trace\n"
    "  cairn top                      which commands a running program's GPU executes right now\n"
    "  cairn selftest                 what can be recorded on this machine's GPUs\n";

const char kRunExamples[] =
    "Examples:\n"
    "  cairn run -- ./game --level 3            run it; a crash or hang writes game.cairn\n"
    "  cairn run -o out/crash.cairn -- ./game   write somewhere else\n"
    "  cairn run --hang-timeout 2 --kill-on-hang -- ./game\n"
    "                                           for machines without a person in front of them\n"
    "  cairn run --on-report ./send.sh -- ./game\n"
    "                                           hand reports to a crash reporter: the script gets "
    "the file,\n"
    "                                           and a line of JSON as its input\n"
    "  cairn run --breadcrumbs full -- ./game   the GPU marks the end of every draw, too\n"
    "  cairn run --no-witnesses -- ./game       never use the GPU for measurements of Cairn's own\n"
    "  cairn run --breadcrumbs exact -- ./game  for a crash that can be repeated: one draw at a "
    "time\n"
    "  cairn run --capture -- ./game            record all Direct3D 12 calls into game.cairn\n"
    "  cairn run --capture --frames 100-199 -- ./game\n"
    "                                           only frames 100 to 199, playable on their own\n"
    "  cairn run --capture --trigger /tmp/now -- ./game\n"
    "                                           from `touch /tmp/now` to `rm /tmp/now`\n"
    "\n"
    "Exit code: the program's own, 128 + N when signal N ended it, 124 after --kill-on-hang,\n"
    "125 when cairn failed, 126 when the program cannot be executed, 127 when it was not found.";

const char kNoLayerHelp[] =
    "Leave Direct3D 12 and Vulkan calls alone: libcairn-d3d12.so is not preloaded, and the Vulkan "
    "layer is not enabled";

const char kTriggerHelp[] =
    "With --capture: record from the moment that FILE exists until it is gone; or 'signal': from "
    "the first SIGUSR1 to this cairn until the second";

}  // namespace cairn::cli
