# Starts a program by hand.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my ($count, $megabytes) = @ARGV;

my @catalogue = map { chr(97 + $_ % 26) x (1 << 20) } 1 .. $megabytes;

sub start {
    my ($number) = @_;
    my $child = fork() // die;
    exec("/bin/true", $number) if $child == 0;
    waitpid($child, 0);
}

my $began = clock_gettime(CLOCK_MONOTONIC);
for my $number (1 .. $count) {
    start($number);
}
printf "%d\n", 1e9 * (clock_gettime(CLOCK_MONOTONIC) - $began);

exit(@catalogue ? 0 : 1);
