# What the driver itself costs: the readings of a launch, with nothing launched.
#
# Timed: from a reading of the clock to the last one of the parent, with one between, as every launch has them. It is part
# of each figure of this driver. Outside: storing the sample.

package Floor;

use strict;
use warnings;

use Measure qw(now);

my @STAGES = qw(call_returns_ns task_runs_ns image_runs_ns reaped_ns);
use constant NOTHING_STARTED => 'nothing is launched';

sub workloads {
    return (
        {
            word => 'none', family => 'floor', summary => "the driver's own readings, with nothing launched",
            stages => \@STAGES, prepare => \&none, api => 'Time::HiRes::clock_gettime',
            nulls => { task_runs_ns => NOTHING_STARTED, image_runs_ns => NOTHING_STARTED },
        },
    );
}

sub none {
    my $launch = sub {
        my $before = now();
        my $returned = now();
        my $ended = now();
        return ($before, $returned, undef, undef, $ended);
    };
    return ($launch, sub { });
}

1;
