/*
 * hit-loop: calls a function of its own and reads one byte from /dev/zero, many times, and times the loop.
 *
 * Use:   hit-loop OPERATIONS CPU LEVEL  waits on standard input for one byte ("go"), then runs; CPU -1: not pinned.
 *                                       LEVEL: of 1, 10, 100 and 1000 functions the one in the middle is called
 *        hit-loop --clock READS CPU     times READS reads of the clock itself
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, U and S are the CPU time of the whole process by getrusage(2).
 * Why:   However many functions are probed, one of them is called in each operation: of the program, of which a stem
 *        matches as many as the level says (places.h), or of the kernel, where a read goes.
 */

#define PROGRAM "hit-loop"
#include "../../loop.h"
#include "../../places.h"

PROBED_PLACES

extern void one_0(void), ten_5(void), hundred_50(void), thousand_500(void);

static void (*called(long level))(void)
{
	return level == 10 ? ten_5 : level == 100 ? hundred_50 : level == 1000 ? thousand_500 : one_0;
}

static uint64_t time_operations(long operations, void (*function)(void), int in)
{
	char byte = 0;
	uint64_t start_ns = now_ns();

	for (long done = 0; done < operations; done++) {
		function();
		if (read(in, &byte, 1) != 1)
			die("read /dev/zero");
	}
	return now_ns() - start_ns;
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, " LEVEL");
	long level = argc > 3 ? number(argv[3], 1) : 1;
	int in = open_or_die("/dev/zero", O_RDONLY);

	wait_for_go();
	print_run(operations, time_operations(operations, called(level), in));
	return 0;
}
