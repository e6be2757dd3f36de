/*
 * stack.h: a loop below a number of frames, for the workloads that are sampled.
 *
 * Use:    #include "../../loop.h", then "../../stack.h"; `main` calls prepare_work (or its own choice of what is used), then
 *         wait_to_be_sampled, then below(frames, operations), in as many threads as it likes.
 * Read:   below returns what so many microseconds of usual passes take, with what interrupted them.
 * Why:    A sample takes microseconds of a second in which a shared CPU's speed changes by per cents. So a pass of the loop is
 *         compared with the median of the 512 passes around it, whose speed is that of the CPU just then. One that takes
 *         SHORTEST_NS more was interrupted, and what it takes beyond the median is the interruption. An operation is a
 *         microsecond of usual passes. A pass of more than LONGEST_NS is left out: then something else had the CPU, as a
 *         rule the hypervisor. What the program has to fetch and to learn again after an interruption is left out as well:
 *         it is spread over passes that differ by as much among themselves.
 *         A sample costs more if the program has displaced from the caches what the kernel needs for it. So a pass is no
 *         empty loop: it reads 16 of 8,192 lines of memory at random, and takes 128 of 4,096 branches.
 *         What a sample costs depends on how many frames there are to walk: each function keeps a frame pointer whatever the
 *         compiler's options are, so that the kernel can walk the whole stack.
 */

#ifndef PROBE_EFFECT_STACK_H
#define PROBE_EFFECT_STACK_H

#define OPERATION_NS 1000
#define SHORTEST_NS 500 /* of an interruption: the timer's takes more */
#define LONGEST_NS 200000
#define SLOWEST_NS 4096 /* of a pass that is counted by its nanoseconds */
#define PASSES 512
#define LINE 64
#define LINES 8192
#define SITES 128 /* branches of a function */

/* What a pass does besides: nothing, unless a workload says so before it includes this. */
#ifndef AND_MORE
#define AND_MORE()
#endif

/* Taking the address has the compiler set the frame pointer up in this function (GCC and Clang). */
#define KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)) : "memory")

#define TIMES_4(x) x x x x
#define TIMES_128(x) TIMES_4(TIMES_4(TIMES_4(x x)))
#define EACH_OF_8(use, name) use(name##0) use(name##1) use(name##2) use(name##3) use(name##4) use(name##5) use(name##6) use(name##7)
#define EACH(use) EACH_OF_8(use, code_a) EACH_OF_8(use, code_b) EACH_OF_8(use, code_c) EACH_OF_8(use, code_d)

/* Which way each branch goes is chance, and always the same: once they are learnt, none is mispredicted. Each function has
 * code of its own; both ways have an instruction that no compiler can take out. */
#define BRANCH \
	if (*way++) \
		__asm__ volatile("nop"); \
	else \
		__asm__ volatile("nop\n\tnop" : : : "memory");
#define FUNCTION(name) static __attribute__((noinline)) void name(volatile const unsigned char *way) { TIMES_128(BRANCH) }
#define NAME(name) name,

EACH(FUNCTION)

static void (*const functions[])(volatile const unsigned char *) = {EACH(NAME)};
#define FUNCTIONS (sizeof(functions) / sizeof(*functions))

static unsigned char ways[FUNCTIONS * SITES];
static char *memory;
static int uses_memory, uses_code;
static _Thread_local uint32_t chance = 1;

static uint32_t next_chance(void)
{
	chance = chance * 1664525u + 1013904223u; /* Numerical Recipes, section 7.1 */
	return chance >> 16;
}

static void prepare_work(int with_memory, int with_code)
{
	uses_memory = with_memory;
	uses_code = with_code;
	memory = malloc(LINES * LINE);
	if (memory == NULL)
		die("malloc");
	memset(memory, 1, LINES * LINE);
	for (size_t site = 0; site < sizeof(ways); site++)
		ways[site] = (unsigned char)(next_chance() & 1);
}

/* As wait_for_go, but without its 10 ms of work: they would be sampled too, and those samples are not of the timed loop. */
static void wait_to_be_sampled(void)
{
	char go;
	ssize_t got;

	(void)wait_for_go;
	do
		got = read(STDIN_FILENO, &go, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		die("standard input");
}

static void pass(unsigned int number)
{
	unsigned int function = number % FUNCTIONS;

	for (int time = 0; time < 50; time++) /* each waits for the one before, so a pass is long beside the clock's step */
		(void)next_chance();
	if (uses_memory)
		for (int line = 0; line < 16; line++)
			(void)*(volatile char *)(memory + next_chance() % LINES * LINE);
	if (uses_code)
		functions[function](ways + function * SITES);
	AND_MORE();
}

/* What passes take in the median, of how many took so many nanoseconds, whose places within theirs are taken to be even. */
static double median_ns(const unsigned short *took, unsigned int passes)
{
	unsigned int below = 0, ns = 0;

	while (ns < SLOWEST_NS - 1 && (below + took[ns]) * 2 < passes)
		below += took[ns++];
	return ns - 0.5 + (took[ns] > 0 ? (passes / 2.0 - below) / took[ns] : 0.0);
}

/* What interruptions took of the passes that are counted one by one. */
static double interrupted_ns(const unsigned short *took, double usual_ns)
{
	double sum_ns = 0;

	for (unsigned int ns = (unsigned int)usual_ns + SHORTEST_NS; ns < SLOWEST_NS; ns++)
		sum_ns += took[ns] * (ns - usual_ns);
	return sum_ns;
}

static __attribute__((noinline)) uint64_t time_operations(long operations)
{
	static _Thread_local unsigned short took[SLOWEST_NS];
	double wanted_ns = (double)operations * OPERATION_NS, work_ns = 0, lost_ns = 0;
	uint64_t before_ns = now_ns();

	KEEP_FRAME();
	while (work_ns < wanted_ns) {
		unsigned int counted = 0, slow = 0;
		uint64_t slow_ns = 0;
		double usual_ns;

		for (unsigned int number = 0; number < PASSES; number++) {
			uint64_t read_ns, between_ns;

			pass(number);
			read_ns = now_ns();
			between_ns = read_ns - before_ns;
			before_ns = read_ns;
			if (between_ns >= LONGEST_NS)
				continue;
			counted++;
			if (between_ns < SLOWEST_NS) {
				took[between_ns]++;
			} else {
				slow++;
				slow_ns += between_ns;
			}
		}
		usual_ns = median_ns(took, counted);
		work_ns += usual_ns * counted;
		lost_ns += interrupted_ns(took, usual_ns) + ((double)slow_ns - slow * usual_ns);
		memset(took, 0, sizeof(took)); /* this is within the next pass, so that no sample falls where nothing is timed */
	}
	return (uint64_t)(wanted_ns * (1 + lost_ns / work_ns));
}

static __attribute__((noinline)) uint64_t below(long frames, long operations)
{
	uint64_t wall_ns = frames > 1 ? below(frames - 1, operations) : time_operations(operations);

	KEEP_FRAME(); /* after the call, which therefore is none in the tail */
	return wall_ns;
}

#endif
