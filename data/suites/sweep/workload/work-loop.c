/*
 * work-loop: works a given while and reads one byte from /dev/zero, many times, and times the loop.
 *
 * Use:   work-loop OPERATIONS CPU [TURNS]  waits on standard input for one byte ("go"), then runs; CPU -1: not pinned
 *        work-loop --clock READS CPU       times READS reads of the clock itself
 *        TURNS: turns of an empty loop before each read (0 by default)
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, U and S are the CPU time of the whole process by getrusage(2).
 * Why:   The more turns, the fewer events a second: a busy thread meets a probe at any rate. A turn is about one cycle
 *        of the CPU and touches no memory. The read goes through the C library, so that a probe on its `read` and one
 *        on the system call fire once an operation each.
 */

#define PROGRAM "work-loop"
#include "../../loop.h"

/* The empty assembly keeps the compiler from removing the loop, or from counting its turns beforehand. */
static void work(long turns)
{
	for (long turn = 0; turn < turns; turn++)
		__asm__ volatile("" : "+r"(turn));
}

static uint64_t time_operations(long operations, long turns, int in)
{
	char byte = 0;
	uint64_t start_ns = now_ns();

	for (long done = 0; done < operations; done++) {
		work(turns);
		if (read(in, &byte, 1) != 1)
			die("read /dev/zero");
	}
	return now_ns() - start_ns;
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, " [TURNS]");
	long turns = argc > 3 ? number(argv[3], 0) : 0;
	int in = open_or_die("/dev/zero", O_RDONLY);

	wait_for_go();
	print_run(operations, time_operations(operations, turns, in));
	return 0;
}
