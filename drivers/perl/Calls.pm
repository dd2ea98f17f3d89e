# A function that runs elsewhere: in a fork, which sends its result by a pipe.
#
# Timed: from before the call until it has returned, until the function's first line in the child, until its result is here
# and the child has been waited for. Outside: storing the sample; for `fork` also making the pipe, which its child
# only needs for its timestamp.

package Calls;

use strict;
use warnings;

use Measure qw(now);

my @STAGES = qw(call_returns_ns task_runs_ns result_ns);
use constant STAMP_BYTES => 8;

sub workloads {
    return (
        call('fork', 'fork, the child ends by POSIX::_exit, waitpid', 'fork', 'fork', \&forked),
        call('process_fork', 'pipe, fork, the result by Storable through the pipe, waitpid', 'fork and Storable',
             'fork', \&stored),
        call('process_open', 'open "-|" alone: the child goes on in Perl and prints the result, which is read; close',
             'open "-|"', 'open-minus', \&opened),
    );
}

sub call {
    my ($word, $summary, $api, $line, $prepare) = @_;
    return {
        word => $word, family => 'runtime_call', summary => $summary, stages => \@STAGES, prepare => $prepare,
        api => $api, launch_path => $line,
    };
}

sub forked {
    require POSIX;
    pipe(my $reading, my $writing) or die "no pipe: $!";
    my $launch = sub {
        my $before = now();
        my $pid = fork() // return;
        if ($pid == 0) {
            syswrite($writing, pack('d', now()));
            POSIX::_exit(0);
        }
        my $returned = now();
        waitpid($pid, 0);
        my $ended = now();
        sysread($reading, my $stamp, STAMP_BYTES);
        return ($before, $returned, unpack('d', $stamp), $ended);
    };
    return ($launch, sub { });
}

sub stored {
    require POSIX;
    require Storable;
    my $launch = sub {
        my $before = now();
        pipe(my $reading, my $writing) or return;
        my $pid = fork() // return;
        if ($pid == 0) {
            Storable::store_fd([now()], $writing);
            close($writing);
            POSIX::_exit(0);
        }
        my $returned = now();
        close($writing);
        my ($ran) = @{ Storable::fd_retrieve($reading) };
        waitpid($pid, 0);
        return ($before, $returned, $ran, now());
    };
    return ($launch, sub { });
}

sub opened {
    require POSIX;
    my $launch = sub {
        my $before = now();
        my $pid = open(my $reading, '-|') // return;
        if ($pid == 0) {
            syswrite(STDOUT, pack('d', now()));
            POSIX::_exit(0);
        }
        my $returned = now();
        read($reading, my $stamp, STAMP_BYTES);
        close($reading);
        my $ended = now();
        return ($before, $returned, unpack('d', $stamp), $ended);
    };
    return ($launch, sub { });
}

1;
