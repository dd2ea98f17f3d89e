# The loop that anyone can check, of Perl: `loops.pl WHAT LAUNCHES` prints the ns per launch of 30 parts. With `benchmark`
# before these, Perl's own module Benchmark times the parts.

use strict;
use warnings;

use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);
use constant { PARTS => 30, WARMUP => 20, NS => 1e9 };

my %launches = (command => sub { system { '/bin/true' } '/bin/true' });

sub part_ns {
    my ($launch, $each) = @_;
    my $began = clock_gettime(CLOCK_MONOTONIC);
    $launch->() for 1 .. $each;
    return (clock_gettime(CLOCK_MONOTONIC) - $began) * NS / $each;
}

sub benchmark_ns {
    my ($launch, $each) = @_;
    return Benchmark::timeit($each, $launch)->real * NS / $each;
}

my $time = \&part_ns;
if ($ARGV[0] eq 'benchmark') {
    shift @ARGV;
    require Benchmark;
    Benchmark->import(':hireswallclock');
    $time = \&benchmark_ns;
}
my ($what, $count) = @ARGV;
my $launch = $launches{$what};
$launch->() for 1 .. WARMUP;
my @parts = map { $time->($launch, $count / PARTS) } 1 .. PARTS;
print "@parts\n";
