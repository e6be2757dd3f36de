/*
 * stack.h: a loop below a number of frames, for the workloads that are sampled.
 *
 * Use:    #include "../../loop.h", then "../../stack.h"; `main` calls wait_to_be_sampled, then below(frames, operations).
 * Read:   below returns what so many microseconds of undisturbed work take, with what interrupted them.
 * Why:    A sample takes microseconds of a second in which a shared CPU's speed changes by per cents. So the loop does
 *         nothing but read the clock: two reads that lie close together are work, and what lies between two that do not
 *         is an interruption. An operation is a microsecond of work, however fast the CPU is, and only interruptions
 *         make it longer. Those of more than LONGEST_NS are left out: then something else had the CPU, as a rule the
 *         hypervisor. What a sample costs depends on how many frames there are to walk: each function keeps a frame
 *         pointer whatever the compiler's options are, so that the kernel can walk the whole stack.
 */

#ifndef PROBE_EFFECT_STACK_H
#define PROBE_EFFECT_STACK_H

#define OPERATION_NS 1000
#define SHORTEST_NS 500 /* of an interruption: a read of the clock takes a tenth of it, the timer's interrupt more */
#define LONGEST_NS 200000

/* Taking the address has the compiler set the frame pointer up in this function (GCC and Clang). */
#define KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)) : "memory")

/* Where a read of the clock takes as long as an interruption, as with some clock sources, nothing would ever be work. */
static void refuse_slow_clock(void)
{
	uint64_t least_ns = SHORTEST_NS;

	for (int read = 0; read < 100; read++) {
		uint64_t before_ns = now_ns(), between_ns = now_ns() - before_ns;

		least_ns = between_ns < least_ns ? between_ns : least_ns;
	}
	if (2 * least_ns < SHORTEST_NS)
		return;
	fprintf(stderr, PROGRAM ": a read of the clock takes %" PRIu64 " ns or more; expected less than %d\n", least_ns, SHORTEST_NS / 2);
	exit(1);
}

/* As wait_for_go, but without its 10 ms of work: they would be sampled too, and those samples are not of the timed loop. */
static void wait_to_be_sampled(void)
{
	char go;
	ssize_t got;

	(void)wait_for_go;
	refuse_slow_clock();
	do
		got = read(STDIN_FILENO, &go, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		die("standard input");
}

static __attribute__((noinline)) uint64_t time_operations(long operations)
{
	uint64_t wanted_ns = (uint64_t)operations * OPERATION_NS, work_ns = 0, interrupted_ns = 0, before_ns = now_ns();

	KEEP_FRAME();
	while (work_ns < wanted_ns) {
		uint64_t read_ns = now_ns(), between_ns = read_ns - before_ns;

		if (between_ns < SHORTEST_NS)
			work_ns += between_ns;
		else if (between_ns < LONGEST_NS)
			interrupted_ns += between_ns;
		before_ns = read_ns;
	}
	return wanted_ns + interrupted_ns;
}

static __attribute__((noinline)) uint64_t below(long frames, long operations)
{
	uint64_t wall_ns = frames > 1 ? below(frames - 1, operations) : time_operations(operations);

	KEEP_FRAME(); /* after the call, which therefore is none in the tail */
	return wall_ns;
}

#endif
