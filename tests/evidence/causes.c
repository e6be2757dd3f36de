/* causes OPERATIONS [without]: for each line on standard input, times a loop of read and one of calls of push.
 *
 * It answers each line with the ns per read and the ns per call. Both loops run in one process, so that one start has
 * untraced and traced times. A second word means that it runs without huge pages.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

void push(void);
__asm__(".globl push\n.type push,@function\npush: push %rbp\npop %rbp\nret\n.size push,.-push");

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv)
{
    long operations = argc > 1 ? atol(argv[1]) : 0;
    int zero = open("/dev/zero", O_RDONLY);
    char line[64], byte;

    if (operations <= 0 || zero < 0 || (argc > 2 && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)))
        return 2;
    while (fgets(line, sizeof line, stdin)) {
        double start = now_ns(), between;
        for (long i = 0; i < operations; i++)
            if (read(zero, &byte, 1) != 1)
                return 1;
        between = now_ns();
        for (long i = 0; i < operations; i++)
            push();
        printf("%.3f %.3f\n", (between - start) / operations, (now_ns() - between) / operations);
        fflush(stdout);
    }
    return 0;
}
