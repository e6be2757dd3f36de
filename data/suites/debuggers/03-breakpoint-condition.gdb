# 03-breakpoint-condition: The workload stops at each call of the function prologue; gdb finds its condition false and lets it go on.
#
# Use:    gdb -batch -nx -p PID -x 03-breakpoint-condition.gdb, PID being the waiting user-loop
# Needs:  gdb, and a kernel that lets one process trace another (see kernel.yama.ptrace_scope).
# Read:   "count N" at the end is how often the condition was looked at; it counts so that each can be accounted for.
# Source: Written for this suite; the documentation of gdb, "Breakpoint Command Lists", "Break Conditions", "Dynamic Printf".

set $count = 0
break *prologue if $count++ < 0 || $sp == 0
echo live\n
continue
printf "count %d\n", $count
