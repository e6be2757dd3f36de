/*
 * rate-loop: works below 30 frames, many times, and times the loop; how often it is sampled is the tracer's business.
 *
 * Use:   rate-loop OPERATIONS CPU [RATE]  waits on standard input for one byte ("go"), then runs; CPU -1: not pinned
 *        rate-loop --clock READS CPU      times READS reads of the clock itself
 *        RATE: of no meaning here; the level of the suite, which every workload is told
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is what so many microseconds of
 *        usual work take with what interrupted it, U and S are the CPU time of the whole process by getrusage(2).
 * Why:   The same loop as stack-loop of the suite sampling, so that a cost there can be held against a slowdown here.
 */

#define PROGRAM "rate-loop"
#include "../../loop.h"
#include "../../stack.h"

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, " [RATE]");

	prepare_work(1, 1);
	wait_to_be_sampled();
	print_run(operations, below(30, operations));
	return 0;
}
