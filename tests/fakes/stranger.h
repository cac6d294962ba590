/* The manifest of ops.c. */
#ifndef PIPECTL_TESTS_FAKES_STRANGER_H
#define PIPECTL_TESTS_FAKES_STRANGER_H

#define STRANGER_MANIFEST                                                                        \
	"plugin : { id = \"stranger\"; kind = \"oplib\"; library = \"" FAKES                     \
	"/ops.so\"; abi : { min = \"1.0\"; }; interfaces = [ \"pctl.oplib/1\" ]; isolation = "   \
	"\"in-process\"; ops = [ \"stranger.good@1\", \"stranger.exit_infer@1\", "               \
	"\"stranger.quit_plan@1\", \"stranger.crash_reference@1\", \"stranger.hang_infer@1\", "  \
	"\"stranger.hang_reference@1\", \"stranger.spin_plan@1\", \"stranger.babble_infer@1\", " \
	"\"stranger.forge_infer@1\", \"stranger.forge_plan@1\", "                                \
	"\"stranger.wordless_infer@1\" ]; };\n"

#endif
