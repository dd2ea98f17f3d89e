# Sends letters by a program.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);
use IO::Handle;
use Socket;

my ($count, $megabytes) = @ARGV;
# Forked before the data is loaded: it launches for this program.
socketpair(my $here, my $there, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die;
$_->autoflush(1) for $here, $there;
my $worker = fork() // die;
if ($worker == 0) {
    close $here;
    while (my $command = <$there>) {
        chomp $command;
        print {$there} system(split / /, $command), "\n";
    }
    exit 0;
}
close $there;
my @catalogue = map { chr(97 + $_ % 26) x (1 << 20) } 1 .. $megabytes;

sub ask {
    my ($number) = @_;
    print {$here} "/bin/true $number\n";
    return scalar <$here>;
}

my $began = clock_gettime(CLOCK_MONOTONIC);
for my $number (1 .. $count) {
    ask($number);
}
printf "%d\n", 1e9 * (clock_gettime(CLOCK_MONOTONIC) - $began);
close $here;
exit(@catalogue ? 0 : 1);
