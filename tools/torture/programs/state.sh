# What the program of number $1 is by the kernel's account, and what this shell has inherited.
links() { for each in "$1"/fd/*; do
    to=$(readlink "$each") && echo "fd ${each##*/} $to" | sed 's/\[[0-9]*\]/[]/; s,/proc/[0-9]*/,/proc/N/,; s,pts/[0-9]*,pts/N,'
done; }
about() {
    links "$1"
    grep -E '^(Sig[BIC]|Umask|Uid|Gid|Groups|Cap|NoNew|Seccomp:|Cpus_allowed:)' "$1/status"
    cat "$1/limits" "$1/oom_score_adj" "$1/coredump_filter" "$1/personality" 2>&1
    sed 's/.*) //' "$1/stat" | { read -r state parent group session terminal foreground rest
        echo "leads: group $([ "$group" = "$2" ] && echo yes) session $([ "$session" = "$2" ] && echo yes)" \
            "foreground $([ "$foreground" = "$group" ] && echo yes) terminal $([ "$terminal" != 0 ] && echo yes)"; }
    readlink "$1/cwd"; readlink "$1/root"
}
[ -r "/proc/$1/status" ] && about "/proc/$1" "$1"
echo below; links /proc/self; grep -E '^(Sig[BIC]|Umask)' /proc/self/status; ulimit -a; umask
tr '\0' '\n' </proc/self/environ | sort
