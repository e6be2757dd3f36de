# 04-breakpoint-print: The workload stops at each call of the function prologue; gdb prints a line and lets it go on.
#
# Use:    gdb -batch -nx -p PID -x 04-breakpoint-print.gdb, PID being the waiting user-loop
# Needs:  gdb, and a kernel that lets one process trace another (see kernel.yama.ptrace_scope).
# Read:   A line for each call, and "count N" at the end.
# Source: Written for this suite; the documentation of gdb, "Breakpoint Command Lists", "Break Conditions", "Dynamic Printf".

set $count = 0
dprintf *prologue, "called %d\n", ++$count
echo live\n
continue
printf "count %d\n", $count
