# Data handed over and back: to another thread by queues, to another process by pipes.
#
# Timed: from before the data is handed over until all of it has come back. Outside: making the data, starting the other
# task. To both the bytes are copied, both ways: threads share only what a queue has put aside for all of them.

package Exchanges;

use strict;
use warnings;

use Measure qw(now);
use Threads;

my @STAGES = qw(call_returns_ns result_ns);

sub workloads {
    return (
        {
            %{ exchange('exchange_thread', 'Thread::Queue to a thread', 'Thread::Queue', \&threads) },
            reason => Threads::reason(), copies_of_heap => 1,
        },
        exchange('exchange_process', 'pipe to a process', 'pipe', \&processes),
    );
}

sub exchange {
    my ($word, $way, $api, $prepare) = @_;
    return {
        word => $word, family => 'runtime_data', summary => "$way and back: a string of message_bytes, copied",
        stages => \@STAGES, prepare => $prepare, further_axes => ['message_bytes'], contains => 'answer', api => $api,
    };
}

sub threads {
    my ($request) = @_;
    require threads;
    require Thread::Queue;
    my ($requests, $answers) = (Thread::Queue->new, Thread::Queue->new);
    my $data = 'x' x $request->value('message_bytes');
    my $other = threads->create(sub {
        while (defined(my $message = $requests->dequeue)) {
            $answers->enqueue($message);
        }
    });
    my $launch = sub {
        my $before = now();
        $requests->enqueue($data);
        my $returned = now();
        my $back = $answers->dequeue;
        return ($before, $returned, now());
    };
    return ($launch, sub { $requests->end; $other->join });
}

sub processes {
    my ($request) = @_;
    require POSIX;
    my $size = $request->value('message_bytes');
    pipe(my $theirs, my $to) or die "no pipe: $!";
    pipe(my $from, my $back) or die "no pipe: $!";
    $_->autoflush(1) for $to, $back;
    my $pid = fork() // die "no process: $!";
    if ($pid == 0) {
        close($_) for $to, $from;
        # Ends when the driver does, however that ends: nobody else holds the pipe's other end.
        while (read($theirs, my $message, $size)) {
            print {$back} $message;
        }
        POSIX::_exit(0);
    }
    close($_) for $theirs, $back;
    my $data = 'x' x $size;
    my $launch = sub {
        my $before = now();
        print {$to} $data;
        my $returned = now();
        read($from, my $answer, $size);
        return ($before, $returned, now());
    };
    # It has started when it has answered once.
    $launch->();
    return ($launch, sub { close($to); close($from); waitpid($pid, 0) });
}

1;
