/*
 * stack-loop: works at the bottom of a stack of a given depth, many times, and times the loop.
 *
 * Use:   stack-loop OPERATIONS CPU [FRAMES]  waits on standard input for one byte ("go"), then runs; CPU -1: not pinned
 *        stack-loop --clock READS CPU        times READS reads of the clock itself
 *        FRAMES: calls of one function in another above the loop (30 by default)
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is what so many microseconds of
 *        usual work take with what interrupted it, U and S are the CPU time of the whole process by getrusage(2).
 * Why:   A profiler is paid for each sample, for each frame that it walks, or for each byte of the stack that it copies,
 *        so there are 128 KiB above the frames; stack.h says what the loop does.
 */

#define PROGRAM "stack-loop"
#include "../../loop.h"
#include "../../stack.h"

#define ROOM (1 << 17) /* of the stack above the frames: more than any tool copies of it */

static void fill(char *room, size_t length)
{
	memset(room, 1, length);
	__asm__ volatile("" : : "r"(room) : "memory");
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, " [FRAMES]");
	long frames = argc > 3 ? number(argv[3], 1) : 30;
	char room[ROOM];

	fill(room, sizeof(room));
	prepare_work(1, 1);
	wait_to_be_sampled();
	print_run(operations, below(frames, operations));
	return 0;
}
