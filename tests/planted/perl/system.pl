# Sends letters by a program.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my ($count, $megabytes) = @ARGV;

my @catalogue = map { chr(97 + $_ % 26) x (1 << 20) } 1 .. $megabytes;

sub send_letter {
    my ($number) = @_;
    system("/bin/true", $number) == 0 or die;
}

my $began = clock_gettime(CLOCK_MONOTONIC);
for my $number (1 .. $count) {
    send_letter($number);
}
printf "%d\n", 1e9 * (clock_gettime(CLOCK_MONOTONIC) - $began);

exit(@catalogue ? 0 : 1);
