# As heap.py. system waits for the program, so that its call lasts until the end.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my @heap = map { chr($_ & 127) x 960 } 1 .. int($ARGV[0] / 1024);
$| = 1;
print "ready\n";

sub now { return int(clock_gettime(CLOCK_MONOTONIC) * 1e9); }

while (my $word = <STDIN>) {
    chomp $word;
    if ($word eq "write") {
        vec($_, 0, 8) = 65 for @heap;
        print "written\n";
        next;
    }
    my $began = now();
    my $returned;
    if ($word eq "system") {
        system { "/bin/true" } "/bin/true";
        $returned = now();
    } else {
        my $pid = fork();
        if ($pid == 0) { exec { "/bin/true" } "/bin/true"; }
        $returned = now();
        waitpid($pid, 0);
    }
    printf "%d %d\n", $returned - $began, now() - $began;
}
