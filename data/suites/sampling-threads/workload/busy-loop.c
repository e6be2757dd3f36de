/*
 * busy-loop: works at the bottom of a stack of 30 frames in several threads at once, with or without threads that sleep.
 *
 * Use:   busy-loop OPERATIONS CPU [THREADS [idle]]  waits on standard input for one byte ("go"), then runs
 *        busy-loop --clock READS CPU                times READS reads of the clock itself
 *        OPERATIONS: of each thread
 *        CPU: the only one; -1: thread i is pinned to the i-th of the CPUs that the process may use
 *        THREADS: 1 by default, and no more than CPUs
 *        idle: 500 threads more, which sleep
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; N are the operations of one
 *        thread, T is what they take a thread with what interrupted them, the mean of all; U and S are the CPU time of
 *        the whole process by getrusage(2).
 * Why:   A sampler interrupts each busy CPU by itself and a sleeping thread never, if that is what it does; stack.h says
 *        what the loop does.
 */

#define PROGRAM "busy-loop"
#include "../../loop.h"
#include "../../stack.h"

#include <pthread.h>
#include <stdatomic.h>

#define FRAMES 30
#define IDLE 500
#define IDLE_STACK (1 << 16)

struct task {
	_Alignas(64) pthread_t thread;
	long cpu;
	uint64_t wall_ns;
};

static long threads, operations;
static atomic_long arrived;
static atomic_int may_go;

/* All wait where nothing is sampled, and leave at once. */
static void *perform(void *argument)
{
	struct task *task = argument;

	pin(task->cpu);
	while (!atomic_load(&may_go))
		usleep(1000);
	atomic_fetch_add(&arrived, 1);
	while (atomic_load(&arrived) < threads)
		continue;
	task->wall_ns = below(FRAMES, operations);
	return NULL;
}

static void *sleep_on(void *nothing)
{
	for (;;)
		pause();
	return nothing;
}

static void start(pthread_t *thread, void *(*body)(void *), void *argument)
{
	pthread_attr_t small;

	if ((errno = pthread_attr_init(&small)) != 0 || (errno = pthread_attr_setstacksize(&small, IDLE_STACK)) != 0)
		die("pthread_attr");
	if ((errno = pthread_create(thread, &small, body, argument)) != 0)
		die("pthread_create");
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

int main(int argc, char **argv)
{
	int has_idle = argc == 5 && strcmp(argv[4], "idle") == 0;
	struct task tasks[CPU_SETSIZE];
	uint64_t sum_ns = 0;
	pthread_t sleeper;

	operations = begin(argc - has_idle, argv, " [THREADS [idle]]");
	threads = argc > 3 ? number(argv[3], 1) : 1;
	prepare_work(1, 1);
	for (long place = 0; place < threads; place++)
		tasks[place] = (struct task){.cpu = cpu_of(place)};
	for (long place = 0; place < threads; place++)
		start(&tasks[place].thread, perform, &tasks[place]);
	for (int left = has_idle ? IDLE : 0; left > 0; left--)
		start(&sleeper, sleep_on, NULL);
	wait_to_be_sampled();
	atomic_store(&may_go, 1);
	for (long place = 0; place < threads; place++) {
		if ((errno = pthread_join(tasks[place].thread, NULL)) != 0)
			die("pthread_join");
		sum_ns += tasks[place].wall_ns;
	}
	print_run(operations, sum_ns / (uint64_t)threads);
	return 0;
}
