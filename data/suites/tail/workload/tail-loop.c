/*
 * tail-loop: calls a function and reads one byte from /dev/zero, many times, and times each of these operations alone.
 *
 * Use:   tail-loop OPERATIONS CPU     waits on standard input for one byte ("go"), then runs; CPU -1: not pinned
 *        tail-loop --clock READS CPU  times READS reads of the clock itself
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, with its reads of the clock, U and S are the CPU time of the whole process by getrusage(2). Then a
 *        second line, {"histogram": [[LOW, HIGH, COUNT], ..]}: COUNT operations took LOW to HIGH ns, both included;
 *        the last HIGH is what the longest took.
 * Why:   A mean hides the one operation in a thousand that waits for somebody. An operation is timed by a read of the
 *        clock before it and one after it, and counted in a bucket whose width is a 16th of a power of two: no more
 *        than a 16th of the time itself. Each time has about one read of the clock in it. The clock is read without a
 *        system call where the C library has it from the kernel's vDSO, and nothing is allocated or written meanwhile.
 *        The function begins with a nop of 1 byte, so that a probe on it and one on the system call fire once an
 *        operation each.
 */

#define PROGRAM "tail-loop"
#include "../../loop.h"

#if defined(__x86_64__)
#define NOP1 ".byte 0x90"
#elif defined(__aarch64__)
#define NOP1 "nop" /* every instruction has 4 bytes */
#else
#error "tail-loop: nop1 is written for x86-64 and AArch64; add its equivalent for this processor"
#endif

/* In assembly, because a compiler would choose the first instruction itself; with the type and size that tools want. */
__asm__(".pushsection .text\n\t.p2align 6\n\t.globl nop1\n\t.type nop1, %function\n"
	"nop1:\n\t" NOP1 "\n\tret\n\t.size nop1, . - nop1\n\t.popsection");

extern void nop1(void);

#define PART_BITS 4
#define PARTS (1u << PART_BITS) /* buckets of a power of two; times below that have a bucket each */
#define BUCKETS ((64 - PART_BITS + 1) * PARTS)
#define LONGEST_BUCKET 64 /* characters: two times, a count, brackets and a comma */

static uint64_t counts[BUCKETS];
static uint64_t longest_ns;

/* The bucket of a time: its highest bit and the four below it say which. */
static unsigned bucket_of(uint64_t ns)
{
	unsigned shift = ns < PARTS ? 0 : 63u - (unsigned)__builtin_clzll(ns) - PART_BITS;

	return shift * PARTS + (unsigned)(ns >> shift);
}

/* How many low bits of a time its bucket leaves open. */
static unsigned open_bits(unsigned bucket)
{
	return bucket < 2 * PARTS ? 0 : bucket / PARTS - 1;
}

/* The least time in a bucket. */
static uint64_t low_of(unsigned bucket)
{
	unsigned shift = open_bits(bucket);

	return (uint64_t)(bucket - shift * PARTS) << shift;
}

/* The greatest time in a bucket. */
static uint64_t high_of(unsigned bucket)
{
	return low_of(bucket) + ((uint64_t)1 << open_bits(bucket)) - 1;
}

static void count_time(uint64_t ns)
{
	counts[bucket_of(ns)]++;
	if (ns > longest_ns)
		longest_ns = ns;
}

static uint64_t time_operations(long operations, int in)
{
	char byte = 0;
	uint64_t start_ns = now_ns();

	for (long done = 0; done < operations; done++) {
		uint64_t before_ns = now_ns();

		nop1();
		if (read(in, &byte, 1) != 1)
			die("read /dev/zero");
		count_time(now_ns() - before_ns);
	}
	return now_ns() - start_ns;
}

/* In one write, which a pipe takes whole though nobody reads yet: all buckets are less than its 64 KiB. */
static void print_histogram(void)
{
	static char line[BUCKETS * LONGEST_BUCKET + LONGEST_BUCKET];
	size_t length = (size_t)sprintf(line, "{\"histogram\": [");
	const char *comma = "";

	for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
		uint64_t high_ns = high_of(bucket) < longest_ns ? high_of(bucket) : longest_ns;

		if (counts[bucket] == 0)
			continue;
		length += (size_t)sprintf(line + length, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", comma,
		                          low_of(bucket), high_ns, counts[bucket]);
		comma = ",";
	}
	length += (size_t)sprintf(line + length, "]}\n");
	if (write(STDOUT_FILENO, line, length) != (ssize_t)length)
		die("standard output");
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, "");
	int in = open_or_die("/dev/zero", O_RDONLY);

	wait_for_go();
	print_run(operations, time_operations(operations, in));
	print_histogram();
	return 0;
}
