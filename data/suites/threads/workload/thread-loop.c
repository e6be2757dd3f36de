/*
 * thread-loop: calls a function and reads one byte from /dev/zero, many times, in several threads at once, and times
 *              them from their common start to the end of the last.
 *
 * Use:   thread-loop OPERATIONS CPU [THREADS]  waits on standard input for one byte ("go"), then runs
 *        thread-loop --clock READS CPU         times READS reads of the clock itself
 *        OPERATIONS: of each thread
 *        CPU: the only one; -1: thread i is pinned to the i-th of the CPUs that the process may use
 *        THREADS: 1 by default, and no more than CPUs
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; N are the operations of one
 *        thread, so that T / N is the time that an operation takes a thread; T is monotonic time, U and S are the CPU
 *        time of the whole process by getrusage(2).
 * Why:   Each thread reads a file of its own, and each has a CPU of its own: what they share is the probe. The function
 *        begins with a 5-byte nop, where x86-64 Linux 6.18 probes without a trap.
 */

#define PROGRAM "thread-loop"
#include "../../loop.h"

#include <pthread.h>
#include <stdatomic.h>

#if !defined(__linux__)
#error "thread-loop: asks Linux which CPUs it may use; add how this system is asked"
#endif

#if defined(__x86_64__)
#define NOP5 ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"
#elif defined(__aarch64__)
#define NOP5 "nop" /* every instruction has 4 bytes */
#else
#error "thread-loop: nop5 is written for x86-64 and AArch64; add its equivalent for this processor"
#endif

/* In assembly, because a compiler would choose the first instruction itself; with the type and size that tools want. */
__asm__(".pushsection .text\n\t.p2align 6\n\t.globl nop5\n\t.type nop5, %function\n"
	"nop5:\n\t" NOP5 "\n\tret\n\t.size nop5, . - nop5\n\t.popsection");

extern void nop5(void);

/* A cache line each, so that no thread writes where another reads. */
struct task {
	_Alignas(64) pthread_t thread;
	long cpu, operations;
	int in;
	uint64_t start_ns, end_ns;
};

static long threads;
static atomic_long arrived;

/* Returns when all threads are here. They spin, each on its own CPU, so that all leave at once. */
static void meet(void)
{
	atomic_fetch_add(&arrived, 1);
	while (atomic_load(&arrived) < threads)
		continue;
}

static void *perform(void *argument)
{
	struct task *task = argument;
	int in = task->in;
	char byte = 0;

	pin(task->cpu);
	warm_up();
	meet();
	task->start_ns = now_ns();
	for (long left = task->operations; left > 0; left--) {
		nop5();
		if (read(in, &byte, 1) != 1)
			die("read /dev/zero");
	}
	task->end_ns = now_ns();
	return NULL;
}

/* The CPU of thread `place`: the one of that place among those that the process may use. */
static long cpu_of(long place)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		die("sched_getaffinity");
	for (long cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &set) && place-- == 0)
			return cpu;
	fprintf(stderr, PROGRAM ": %ld threads: expected no more than %d, the CPUs that this process may use\n", threads,
	        CPU_COUNT(&set));
	exit(2);
}

static uint64_t time_threads(struct task *tasks)
{
	uint64_t start_ns = UINT64_MAX, end_ns = 0;

	for (long place = 0; place < threads; place++)
		if ((errno = pthread_create(&tasks[place].thread, NULL, perform, &tasks[place])) != 0)
			die("pthread_create");
	for (long place = 0; place < threads; place++) {
		if ((errno = pthread_join(tasks[place].thread, NULL)) != 0)
			die("pthread_join");
		if (tasks[place].start_ns < start_ns)
			start_ns = tasks[place].start_ns;
		if (tasks[place].end_ns > end_ns)
			end_ns = tasks[place].end_ns;
	}
	return end_ns - start_ns;
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, " [THREADS]");
	struct task tasks[CPU_SETSIZE];

	threads = argc > 3 ? number(argv[3], 1) : 1;
	for (long place = 0; place < threads; place++) {
		tasks[place].cpu = cpu_of(place);
		tasks[place].operations = operations;
		tasks[place].in = open_or_die("/dev/zero", O_RDONLY);
	}
	wait_for_go();
	print_run(operations, time_threads(tasks));
	return 0;
}
