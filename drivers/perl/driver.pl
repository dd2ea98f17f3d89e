# The driver of Perl: performs the launches of one cell through Perl's core (docs/protocol.md).
#
# It is started as `perl -I FOLDER driver.pl NAME` and the words of the protocol, by clonometer-tether, which has checked
# the descriptor, chosen the CPU and made descriptor 0 the file where our programs leave their timestamps.

use strict;
use warnings;

use Measure;
use Request;
use Workloads;

# What happened to the request: its blocks, its status and its reason.
sub perform {
    my ($request, @keys) = @_;
    my $blocks = eval { $request->read(@keys); Measure->new($request)->blocks };
    return ($blocks, 'ok', undef) if $blocks;
    my $error = $@;
    return ([], 'failed', $error->{reason}) if ref $error eq 'Refusal';
    return ([], 'skipped', $error->{reason}) if ref $error eq 'Skip';
    die $error;
}

sub main {
    my ($name, @words) = @_;
    if ("@words" eq '--describe') {
        require Catalogue;
        print Catalogue::describe($name, Workloads::named($name));
        return 0;
    }
    my (undef, $fd, @keys) = @words;
    my ($word) = map { /\Aworkload=[^.]*\.(.*)\z/s } @keys;
    my $request = Request->new(Workloads::named($name, $word // ''));
    my ($blocks, $status, $reason) = perform($request, @keys);

    # What only the answer needs is not part of the process that forks and whose threads are copies of it.
    require Answer;
    my $answer = Answer::encoded($name, $request, $blocks, $status, $reason);
    local $SIG{PIPE} = 'IGNORE';
    my $is_open = open(my $to, '>&=', $fd);
    unless ($is_open && binmode($to) && print({$to} $answer) && close($to)) {
        warn "driver-perl: the answer could not be sent: $!\n";
        return 1;
    }
    return $status eq 'failed' ? 1 : 0;
}

$| = 1;
my $status = main(@ARGV);
# Every workload has tidied up: what the interpreter does at its end is of no use.
require POSIX;
POSIX::_exit($status);
