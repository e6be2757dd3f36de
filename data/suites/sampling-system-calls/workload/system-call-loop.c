/*
 * system-call-loop: works below 30 frames, in its own code or in a system call, and times the loop.
 *
 * Use:    system-call-loop OPERATIONS CPU [PLACE]  waits on standard input for one byte ("go"), then runs; CPU -1: not pinned
 *         system-call-loop --clock READS CPU       times READS reads of the clock itself
 *         PLACE: where a pass of the loop is most of its time: own-code, or system-call (by default)
 * Read:   {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is what so many microseconds of
 *         usual passes take with what interrupted them, U and S are the CPU time of the whole process by getrusage(2).
 * Why:    A read of /dev/zero sleeps never, and is as long as it is asked for: READ bytes take the kernel several times as
 *         long as the rest of the pass, and still make a short one. They go to any place of the memory that the program's own
 *         work uses too, so that either displaces as much from the caches. stack.h says how a pass is timed.
 */

#define PROGRAM "system-call-loop"
#include "../../loop.h"

static void call(void);

#define AND_MORE() call()
#include "../../stack.h"

#define READ (1 << 15)

static int zeros = -1;

static void call(void)
{
	if (zeros >= 0 && read(zeros, memory + next_chance() % (LINES - READ / LINE) * LINE, READ) != READ)
		die("/dev/zero");
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, " [own-code|system-call]");
	const char *place = argc > 3 ? argv[3] : "system-call";
	int calls = strcmp(place, "system-call") == 0;

	if (!calls && strcmp(place, "own-code") != 0) {
		fprintf(stderr, PROGRAM ": %s: expected own-code or system-call\n", place);
		exit(2);
	}
	prepare_work(!calls, !calls);
	if (calls)
		zeros = open_or_die("/dev/zero", O_RDONLY);
	wait_to_be_sampled();
	print_run(operations, below(30, operations));
	return 0;
}
