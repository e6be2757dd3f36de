/*
 * caches-loop: works below 30 frames, with more or with less of what a CPU keeps of a program, and times the loop.
 *
 * Use:    caches-loop OPERATIONS CPU [USES]  waits on standard input for one byte ("go"), then runs; CPU -1: not pinned
 *         caches-loop --clock READS CPU      times READS reads of the clock itself
 *         USES: what a pass of the loop uses: nothing, memory, code, or both (by default)
 * Read:   {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is what so many microseconds of
 *         usual passes take with what interrupted them, U and S are the CPU time of the whole process by getrusage(2).
 * Why:    stack.h says what is used, and how it is timed.
 */

#define PROGRAM "caches-loop"
#include "../../loop.h"
#include "../../stack.h"

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, " [nothing|memory|code|both]");
	const char *uses = argc > 3 ? argv[3] : "both";
	int both = strcmp(uses, "both") == 0, with_memory = both || strcmp(uses, "memory") == 0, with_code = both || strcmp(uses, "code") == 0;

	if (!with_memory && !with_code && strcmp(uses, "nothing") != 0) {
		fprintf(stderr, PROGRAM ": %s: expected nothing, memory, code or both\n", uses);
		exit(2);
	}
	prepare_work(with_memory, with_code);
	wait_to_be_sampled();
	print_run(operations, below(30, operations));
	return 0;
}
