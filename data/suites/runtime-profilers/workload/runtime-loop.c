/*
 * runtime-loop: has a program allocate, or hand something from one thread to another, while its runtime looks on or not.
 *
 * Use:    runtime-loop OPERATIONS CPU PROGRAM [VARIANT]  waits on standard input for one byte ("go"), then has that many
 *                                                        operations done
 *         runtime-loop --clock READS CPU                 times READS reads of the clock itself
 *         PROGRAM: one of the levels in suite.toml.
 *         VARIANT: one of the variants in suite.toml; what the runtime does by itself is off if none is named.
 * Needs:  what the program needs, by the names in suite.toml.
 * Read:   {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is monotonic time from the
 *         order to the answer, U and S are the CPU time of this process and of the program, its start included.
 * Why:    Go samples its heap whenever a program is linked with a reader of it, once in 512 KiB: the plain program has
 *         that switched off. Every allocation has 1,000 bytes, so that a limit in bytes is one in allocations.
 */

#define PROGRAM "runtime-loop"
#include "../../loop.h"
#include "../../rounds.h"

static const char JAVA[] =
	"import java.io.*;\n"
	"import java.util.concurrent.*;\n"
	"public class Rounds {\n"
	"    static final byte[][] kept = new byte[256][];\n"
	"    static void allocate(int many) {\n"
	"        for (int number = 0; number < many; number++) kept[number & 255] = new byte[1000];\n"
	"    }\n"
	"    static final Object turn = new Object();\n"
	"    static int wanted, done;\n"
	"    static void serve() {\n"
	"        synchronized (turn) {\n"
	"            try {\n"
	"                while (true) {\n"
	"                    while (done == wanted) turn.wait();\n"
	"                    done = wanted;\n"
	"                    turn.notifyAll();\n"
	"                }\n"
	"            } catch (InterruptedException end) { }\n"
	"        }\n"
	"    }\n"
	"    static void hand(int many) throws InterruptedException {\n"
	"        synchronized (turn) {\n"
	"            for (int number = 0; number < many; number++) {\n"
	"                wanted++;\n"
	"                turn.notifyAll();\n"
	"                while (done != wanted) turn.wait();\n"
	"            }\n"
	"        }\n"
	"    }\n"
	"    static void rounds(int many, boolean allocates) throws InterruptedException {\n"
	"        if (allocates) allocate(many); else hand(many);\n"
	"        System.out.print('!');\n"
	"        System.out.flush();\n"
	"    }\n"
	"    public static void main(String[] words) throws Exception {\n"
	"        boolean allocates = words[0].equals(\"allocating\");\n"
	"        Thread server = new Thread(Rounds::serve);\n"
	"        server.setDaemon(true);\n"
	"        server.start();\n"
	"        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));\n"
	"        rounds(allocates ? 2000000 : 20000, allocates);\n"
	"        for (String line; (line = in.readLine()) != null;) rounds(Integer.parseInt(line), allocates);\n"
	"    }\n"
	"}\n";

static const char GO[] =
	"package main\n"
	"import (\"bufio\"; \"os\"; \"runtime\"; \"runtime/trace\"; \"strconv\")\n"
	"var kept [256][]byte\n"
	"func allocate(many int) {\n"
	"    for number := 0; number < many; number++ { kept[number&255] = make([]byte, 1000) }\n"
	"}\n"
	"var there, back = make(chan int), make(chan int)\n"
	"func hand(many int) {\n"
	"    for number := 0; number < many; number++ { there <- number; <-back }\n"
	"}\n"
	"func main() {\n"
	"    many, _ := strconv.Atoi(os.Args[2])\n"
	"    runtime.MemProfileRate = 0\n"
	"    switch os.Args[3] {\n"
	"    case \"heap\": runtime.MemProfileRate = many\n"
	"    case \"block\": runtime.SetBlockProfileRate(many)\n"
	"    case \"trace\":\n"
	"        null, err := os.OpenFile(\"/dev/null\", os.O_WRONLY, 0)\n"
	"        if err != nil || trace.Start(null) != nil { os.Exit(1) }\n"
	"        defer trace.Stop()\n"
	"    }\n"
	"    go func() { for number := range there { back <- number } }()\n"
	"    work := hand\n"
	"    if os.Args[1] == \"allocating\" { work = allocate }\n"
	"    rounds := func(many int) { work(many); os.Stdout.WriteString(\"!\") }\n"
	"    rounds(20000)\n"
	"    for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {\n"
	"        many, _ := strconv.Atoi(lines.Text())\n"
	"        rounds(many)\n"
	"    }\n"
	"}\n";

static const char PYTHON[] =
	"import os, sys, tracemalloc\n"
	"frames = int(sys.argv[1])\n"
	"if frames:\n"
	"    tracemalloc.start(frames)\n"
	"kept = [None] * 256\n"
	"def rounds(many):\n"
	"    for number in range(many):\n"
	"        kept[number & 255] = bytearray(1000)\n"
	"    os.write(1, b'!')\n"
	"def descend(left, many):\n"
	"    if left:\n"
	"        descend(left - 1, many)\n"
	"    else:\n"
	"        rounds(many)\n"
	"descend(30, 20000)\n"
	"for line in sys.stdin:\n"
	"    descend(30, int(line))\n";

static const char C[] =
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <unistd.h>\n"
	"static void *volatile kept[256];\n"
	"static void rounds(long many)\n"
	"{\n"
	"    for (long number = 0; number < many; number++) {\n"
	"        free(kept[number & 255]);\n"
	"        kept[number & 255] = malloc(1000);\n"
	"    }\n"
	"    if (write(1, \"!\", 1) != 1) exit(1);\n"
	"}\n"
	"int main(void)\n"
	"{\n"
	"    char line[32];\n"
	"    rounds(20000);\n"
	"    while (fgets(line, sizeof(line), stdin)) rounds(atol(line));\n"
	"    return 0;\n"
	"}\n";

#define GO_BUILD "GO111MODULE=off GOTOOLCHAIN=local exec go build -o rounds rounds.go"
#define C_BUILD "exec cc -O2 -o rounds rounds.c"

static const struct language languages[] = {
	{"java-allocating", "Rounds.java", JAVA, "exec javac Rounds.java"},
	{"java-handing", "Rounds.java", JAVA, "exec javac Rounds.java"},
	{"go-allocating", "rounds.go", GO, GO_BUILD},
	{"go-handing", "rounds.go", GO, GO_BUILD},
	{"python-allocating", "rounds.py", PYTHON, "true"},
	{"tcmalloc", "rounds.c", C, C_BUILD},
	{"jemalloc", "rounds.c", C, C_BUILD},
};

/* Only the events that are named, of which each also records its stack. */
#define RECORDING(events) \
	"exec java -Xlog:jfr+startup=off -XX:StartFlightRecording=filename=rounds.jfr,settings=none," events " Rounds "

#define TCMALLOC "LD_PRELOAD=libtcmalloc.so.4 "
#define JEMALLOC "LD_PRELOAD=libjemalloc.so.2 "

static const struct start starts[] = {
	{"java-allocating", "", "exec java Rounds allocating"},
	{"java-allocating", "sampled", RECORDING("+jdk.ObjectAllocationSample#enabled=true,+jdk.ObjectAllocationSample#throttle=150/s") "allocating"},
	{"java-allocating", "often", RECORDING("+jdk.ObjectAllocationSample#enabled=true,+jdk.ObjectAllocationSample#throttle=10000/s") "allocating"},
	{"java-allocating", "each", RECORDING("+jdk.ObjectAllocationInNewTLAB#enabled=true,+jdk.ObjectAllocationOutsideTLAB#enabled=true") "allocating"},
	{"java-handing", "", "exec java Rounds handing"},
	{"java-handing", "waits-long", RECORDING("+jdk.JavaMonitorWait#enabled=true,+jdk.JavaMonitorWait#threshold=20ms") "handing"},
	{"java-handing", "waits", RECORDING("+jdk.JavaMonitorWait#enabled=true,+jdk.JavaMonitorWait#threshold=0ms") "handing"},
	{"go-allocating", "", "exec ./rounds allocating 0 none"},
	{"go-allocating", "sampled", "exec ./rounds allocating 524288 heap"},
	{"go-allocating", "often", "exec ./rounds allocating 16384 heap"},
	{"go-allocating", "each", "exec ./rounds allocating 1 heap"},
	{"go-handing", "", "exec ./rounds handing 0 none"},
	{"go-handing", "waits-long", "exec ./rounds handing 1000000 block"},
	{"go-handing", "waits", "exec ./rounds handing 1 block"},
	{"go-handing", "trace", "exec ./rounds handing 0 trace"},
	{"python-allocating", "", "exec python3 -I rounds.py 0"},
	{"python-allocating", "each", "exec python3 -I rounds.py 1"},
	{"python-allocating", "each-deep", "exec python3 -I rounds.py 25"},
	{"tcmalloc", "", TCMALLOC "TCMALLOC_SAMPLE_PARAMETER=0 exec ./rounds"},
	{"tcmalloc", "sampled", TCMALLOC "TCMALLOC_SAMPLE_PARAMETER=524288 exec ./rounds"},
	{"tcmalloc", "often", TCMALLOC "TCMALLOC_SAMPLE_PARAMETER=16384 exec ./rounds"},
	{"tcmalloc", "each", TCMALLOC "TCMALLOC_SAMPLE_PARAMETER=1 exec ./rounds"},
	{"jemalloc", "", JEMALLOC "exec ./rounds"},
	{"jemalloc", "sampled", JEMALLOC "MALLOC_CONF=prof:true,lg_prof_sample:19,prof_final:false exec ./rounds"},
	{"jemalloc", "often", JEMALLOC "MALLOC_CONF=prof:true,lg_prof_sample:14,prof_final:false exec ./rounds"},
	{"jemalloc", "each", JEMALLOC "MALLOC_CONF=prof:true,lg_prof_sample:0,prof_final:false exec ./rounds"},
};

int main(int argc, char **argv)
{
	long operations = begin(argc == 5 ? 4 : argc, argv, " PROGRAM [VARIANT]");
	const struct language *language = language_named(languages, MANY(languages), argc > 3 ? argv[3] : "");

	return time_program(operations, language, command_of(starts, MANY(starts), language, argc > 4 ? argv[4] : ""));
}
