# 01-debugger-control: gdb is attached, without a breakpoint.
#
# Use:    gdb -batch -nx -p PID -x 01-debugger-control.gdb, PID being the waiting user-loop
# Needs:  gdb, and a kernel that lets one process trace another (see kernel.yama.ptrace_scope).
# Read:   Nothing is counted: the workload never stops.
# Source: Written for this suite; the documentation of gdb, "Breakpoint Command Lists", "Break Conditions", "Dynamic Printf".

set $count = 0
echo live\n
continue
printf "count %d\n", $count
