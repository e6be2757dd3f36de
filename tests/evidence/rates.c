/* rates CALL HZ PATTERN SECONDS FILE: events at a pace; the file gets how many, and in how many seconds.
 *
 * CALL: getppid (a system call) or push (a function, by uprobe). PATTERN: steady, bursty (20 ms of 200), flickering (0.2 ms
 * of 2), phased (a third of the pace, then twice), early or late (all in the first or last fiftieth), sleeping (1 ms
 * between some) or forking (a process for every 20 ms).
 * Between events it works, and patterns follow its own work, so that all takes longer while events do. The pace is about
 * HZ.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void push(void);
__asm__(".globl push\n.type push,@function\npush: push %rbp\npop %rbp\nret\n.size push,.-push");

static volatile unsigned long *events;
static double hz, whole, turns_per_s;
static int is_call;
static const char *pattern;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* The pace after so many seconds of work, events per second. */
static double pace(double at)
{
    if (!strcmp(pattern, "bursty"))
        return at - (long)(at / 0.2) * 0.2 < 0.02 ? hz * 10 : 0;
    if (!strcmp(pattern, "flickering"))
        return at - (long)(at / 0.002) * 0.002 < 0.0002 ? hz * 10 : 0;
    if (!strcmp(pattern, "phased"))
        return at < whole * 0.6 ? hz / 3 : hz * 2;
    if (!strcmp(pattern, "early"))
        return at < whole * 0.02 ? hz * 50 : 0;
    if (!strcmp(pattern, "late"))
        return at >= whole * 0.98 ? hz * 50 : 0;
    return hz;
}

static void fire(void)
{
    if (is_call)
        syscall(SYS_getppid);
    else
        push();
    (*events)++;
}

static void spin(double turns)
{
    for (volatile long i = turns; i > 0; i--)
        ;
}

/* Events from a moment to another one of the run that began at BEGAN, with work between them that takes CPU time. */
static void run(double began, double from, double to)
{
    const int unit = 20000;
    double due = 1, worked = from;
    for (double at = from; at < to; at = now() - began) {
        double p = pace(worked);
        if (!strcmp(pattern, "sleeping")) {
            usleep(1000);
            for (due += (now() - began - at) * p; due >= 1; due--)
                fire();
        } else if (p * unit <= turns_per_s) {
            spin(unit);
            worked += unit / turns_per_s;
            if ((due += p * unit / turns_per_s) >= 1) {
                due--;
                fire();
            }
        } else
            for (int i = p * 20e-6 + 1; i > 0; i--) {
                fire();
                spin(turns_per_s / p);
                worked += 1 / p;
            }
    }
}

int main(int count, char **words)
{
    if (count != 6)
        return 2;
    is_call = !strcmp(words[1], "getppid");
    hz = atof(words[2]);
    pattern = words[3];
    whole = atof(words[4]);
    events = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double began = now();
    spin(2e6);
    turns_per_s = 2e6 / (now() - began);
    began = now();
    if (strcmp(pattern, "forking"))
        run(began, 0, whole);
    else
        for (double at = 0; at < whole; at = now() - began) {
            if (fork() == 0) {
                run(began, at, at + 0.02);
                _exit(0);
            }
            wait(0);
        }
    FILE *told = fopen(words[5], "w");
    return told == NULL || fprintf(told, "%lu %.6f\n", *events, now() - began) < 0 || fclose(told);
}
