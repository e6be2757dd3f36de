/*
 * traps: what CPUID, a breakpoint and a debug exception take in a program. x86-64 alone.
 *
 * Use:    traps CPU
 * Read:   {"cpuid_ns": C, "breakpoint_ns": B, "step_ns": S}, one line of JSON, each the median of LOOPS loops.
 *         B is an int3 (#BP) with its signal, an empty handler and the return from it. S is the same of an instruction
 *         under the trap flag (#DB), with the pushf and popf that set the flag. Times are CPU time of the thread.
 * Why:    A guest of VMX or SVM exits to its hypervisor for each CPUID. KVM intercepts #DB always and #BP only for a
 *         debugger of the guest, so S less B has the exits of one debug exception. A stepped uprobe has a #BP and a #DB.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#define LOOPS 9
#define TIMES 1000
#define TRAP_FLAG 0x100

static void die(const char *what)
{
	fprintf(stderr, "traps: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

static void cpuid(void)
{
	unsigned int a = 0, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
}

static void breakpoint(void)
{
	__asm__ volatile("int3" ::: "memory");
}

static void step(void)
{
	__asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq\n\tnop" ::"i"(TRAP_FLAG) : "cc", "memory");
}

static double now_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
		die("clock_gettime");
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_size(const void *first, const void *second)
{
	double difference = *(const double *)first - *(const double *)second;

	return (difference > 0) - (difference < 0);
}

static double median_ns(void (*operation)(void))
{
	double loops[LOOPS];

	for (int loop = 0; loop < LOOPS; loop++) {
		double start = now_ns();

		for (int done = 0; done < TIMES; done++)
			operation();
		loops[loop] = (now_ns() - start) / TIMES;
	}
	qsort(loops, LOOPS, sizeof(*loops), by_size);
	return loops[LOOPS / 2];
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	cpu_set_t cpus;

	if (argc != 2) {
		fprintf(stderr, "use: traps CPU\n");
		return 2;
	}
	CPU_ZERO(&cpus);
	CPU_SET((size_t)atoi(argv[1]), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) != 0)
		die("sched_setaffinity");
	if (sigaction(SIGTRAP, &action, NULL) != 0)
		die("sigaction");
	printf("{\"cpuid_ns\": %.1f, ", median_ns(cpuid));
	printf("\"breakpoint_ns\": %.1f, \"step_ns\": %.1f}\n", median_ns(breakpoint), median_ns(step));
	return 0;
}
