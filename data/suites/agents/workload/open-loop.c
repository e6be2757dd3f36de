/*
 * open-loop: opens /dev/null for reading and closes it, many times, and times the loop.
 *
 * Use:   open-loop OPERATIONS CPU     waits on standard input for one byte ("go"), then runs; CPU -1: not pinned
 *        open-loop --clock READS CPU  times READS reads of the clock itself
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, U and S are the CPU time of the whole process by getrusage(2).
 * Why:   The C library opens by openat(2). The file is no regular one, so that no file system has a part in the time.
 */

#define PROGRAM "open-loop"
#include "../../loop.h"

static uint64_t time_operations(long operations)
{
	uint64_t start_ns = now_ns();

	for (long done = 0; done < operations; done++)
		if (close(open_or_die("/dev/null", O_RDONLY)) != 0)
			die("close");
	return now_ns() - start_ns;
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, "");

	wait_for_go();
	print_run(operations, time_operations(operations));
	return 0;
}
