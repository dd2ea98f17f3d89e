"""What programs are started in: limits, descriptors, signals, users, namespaces. Each is a line for a POSIX shell.

``{words}`` are the words of the program, ``{quoted}`` the same as a single word.
"""

from __future__ import annotations

# Python ignores two signals, which must not be inherited.
_MASKING = (
    "import os, signal, sys; [signal.signal(each, signal.SIG_DFL) for each in (signal.SIGPIPE, signal.SIGXFSZ)]; "
    "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGWINCH, signal.SIGRTMIN + 3]); "
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
# A root without the folder of hooks: the system's own folders, and where the program is.
_OTHER_ROOT = (
    "mkdir -p root && mount -t tmpfs none root && cd root && mkdir usr etc proc dev tmp && "
    "mount --bind /usr usr && mount --bind /etc etc && mount --rbind /proc proc && mount --rbind /dev dev && "
    "for each in bin lib lib64 sbin; do ln -s usr/$each $each; done && "
    'mkdir -p ".$OLDPWD" && mount --bind "$OLDPWD" ".$OLDPWD" && at=$OLDPWD && '
    'exec chroot . dash -c "cd $at; exec $1"'
)
WRAPPERS = {
    "plain": "exec {words}",
    "small-files": "exec prlimit --fsize=1024 {words}",
    "few-descriptors": "exec prlimit --nofile=32 {words}",
    "few-processes": "exec setpriv --reuid 61234 --regid 61234 --clear-groups prlimit --nproc=3 {words}",
    "little-memory": "exec prlimit --as=400000000 {words}",
    "little-stack": "exec prlimit --stack=262144 {words}",
    "no-stdin": "exec {words} <&-",
    "no-stdout": "exec {words} >&-",
    "no-stderr": "exec {words} 2>&-",
    "no-streams": "exec {words} <&- >&- 2>&-",
    "full-stdout": "exec {words} >/dev/full",
    "terminal": "exec script -qec {quoted} /dev/null </dev/null",
    "umask": "umask 077; exec {words}",
    "masked": f"exec /usr/bin/python3 -I -S -c '{_MASKING}' {{words}}",
    "deaf": "trap '' PIPE INT QUIT HUP ALRM USR1 XFSZ; exec {words}",
    "childless": "trap '' CHLD; exec {words}",
    "descriptors": "exec 3</dev/null 7>&1 9</etc/passwd; exec {words}",
    "no-environment": 'exec env -i PATH="$PATH" {words}',
    "large-environment": 'BIG=$(head -c 100000 /dev/zero | tr "\\0" x); export BIG; exec {words}',
    "other-user": "exec setpriv --reuid 65534 --regid 65534 --clear-groups {words}",
    "no-capabilities": "exec setpriv --bounding-set -all --inh-caps -all --no-new-privs {words}",
    "own-net": "exec unshare -n {words}",
    "own-pids": "exec unshare -pf --kill-child {words}",
    "own-pids-and-proc": "exec unshare -pf --mount-proc {words}",
    "own-mounts": "exec unshare -m {words}",
    "own-users": "exec unshare -Ur {words}",
    "same-root": 'exec chroot / env -C "$PWD" {words}',
    "other-root": f"exec unshare -m dash -c '{_OTHER_ROOT}' dash {{quoted}}",
    "session": "exec setsid -w {words}",
    "job": "set -m; {words} & wait $!; exit $?",
    "nice": "exec nice -n 5 {words}",
    "utf-8": "LC_ALL=C.UTF-8; export LC_ALL; exec {words}",
    "ascii": "LC_ALL=C; export LC_ALL; exec {words}",
    "no-such-locale": "LC_ALL=xx_YY.UTF-8; export LC_ALL; exec {words}",
    "no-home": "unset HOME; exec {words}",
    "no-temporary": "TMPDIR=/nonexistent; export TMPDIR; exec {words}",
    "perturbed": "MALLOC_PERTURB_=165; export MALLOC_PERTURB_; exec {words}",
    "timeout": "exec timeout 25 {words}",
    "renamed": "exec bash -c 'exec -a other \"$@\"' bash {words}",
    "traced": "exec strace -f -o /dev/null {words}",
    "pipe": "{words} | cat; exit 0",
    "closed-pipe": "mkfifo ../gone; : <../gone & exec >../gone; wait $!; rm ../gone; exec {words}",
}
