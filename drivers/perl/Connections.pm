# A server's part of a connection over loopback: it is accepted, its request read, answered, and it is closed.
#
# Timed: from before accept until it has returned, and until the connection is closed. Outside: the client's part, in the
# same task: it has connected and sent its request before, and reads the answer to its end afterwards. Nobody waits.

package Connections;

use strict;
use warnings;

use Measure qw(now);

# As serve.* has them by default.
my ($REQUEST, $ANSWER) = ('x' x 128, 'x' x 1024);

sub workloads {
    return {
        word => 'connection', family => 'runtime_data', stages => [qw(call_returns_ns result_ns)],
        summary => q(IO::Socket's accept, sysread of 128 bytes, syswrite of 1 KiB, close; the client's part is outside),
        prepare => \&prepare, api => 'IO::Socket::accept',
    };
}

sub prepare {
    require IO::Socket::INET;
    my $listening = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 8) or die "nobody can listen: $@";
    my $port = $listening->sockport;
    my $launch = sub {
        my $client = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port) or return;
        # Its end is a reset, so that its port is soon free again: many connections follow.
        $client->sockopt(Socket::SO_LINGER(), pack('ii', 1, 0));
        syswrite($client, $REQUEST) or return;
        my $before = now();
        my $connection = $listening->accept or return;
        my $returned = now();
        sysread($connection, my $request, length $REQUEST);
        syswrite($connection, $ANSWER);
        close($connection);
        my $ended = now();
        while (sysread($client, my $answer, length $ANSWER)) { }
        close($client);
        return ($before, $returned, $ended);
    };
    return ($launch, sub { close($listening) });
}

1;
