# Threads of control: Perl's only kind is an interpreter of its own in a thread of the operating system.
#
# Timed: from before the thread is made until that has returned, until its function's first line, until join has returned
# with the timestamp. Outside: storing the sample. Bias: `create` copies all that the interpreter holds, and `join` frees
# the copy (dist/threads/threads.xs), so that both grow with the program; this driver loads little and keeps its samples
# out of the copy.

package Threads;

use strict;
use warnings;

use Config;
use Measure qw(now spin);

my @STAGES = qw(call_returns_ns task_runs_ns image_runs_ns reaped_ns);

# Why nothing of threads is available, undefined where it is.
sub reason {
    return $Config{usethreads} ? undef : 'this Perl was built without threads (Configure -Dusethreads)';
}

sub workloads {
    return (
        {
            word => 'os_thread', family => 'runtime_thread', summary => 'threads->create, its function returns, join',
            stages => \@STAGES, prepare => \&thread, nulls => { image_runs_ns => 'no new program is started' },
            further_axes => [qw(stages call_spin_ns stamp_spin_ns child_spin_ns)], reason => reason(),
            copies_of_heap => 1, api => 'threads->create', launch_path => 'threads',
        },
    );
}

sub thread {
    my ($request) = @_;
    require threads;
    my ($call_spin_ns, $stamp_spin_ns, $child_spin_ns) =
        map { $request->value($_) } qw(call_spin_ns stamp_spin_ns child_spin_ns);
    my $stamped = $request->value('stages') eq 'all';
    my $function = sub {
        spin($stamp_spin_ns) if $stamp_spin_ns;
        my $ran = $stamped ? now() : undef;
        spin($child_spin_ns) if $child_spin_ns;
        return $ran;
    };
    # What cannot be started is a row with its errno, and no line on standard error.
    no warnings 'threads';
    my $launch = sub {
        my $before = now();
        my $thread = threads->create({ context => 'scalar' }, $function) or return;
        spin($call_spin_ns) if $call_spin_ns;
        my $returned = now();
        my $ran = $thread->join;
        my $ended = now();
        return ($before, $returned, $ran, undef, $ended);
    };
    return ($launch, sub { });
}

1;
