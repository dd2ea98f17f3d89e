# All workloads. Their ids are the name of the driver, a dot, and the `word` that says what is launched.
#
# A workload has its `family`, its `summary` and its `stages`. `prepare` takes the request and returns two functions. The
# first launches, and returns when it began and its stages, in seconds of the clock, undefined for a stage that it lacks; if
# the launch failed, it returns nothing and leaves the reason in $!. The second tidies up. `nulls` says why stages are
# never there, `api` what is called, `launch_path` its line in the book of launch paths. `reason` says why it is
# unavailable here. With `copies_of_heap` a launch needs the memory of the heap again.

package Workloads;

use strict;
use warnings;

use Calls;
use Commands;
use Connections;
use Exchanges;
use Floor;
use Threads;

sub all {
    my ($name) = @_;
    my @workloads;
    for my $group (qw(Threads Calls Commands Exchanges Connections Floor)) {
        for my $workload ($group->workloads) {
            my @axes = ('placement', 'parent_bytes', @{ $workload->{further_axes} // [] });
            push @workloads, { %$workload, id => "$name.$workload->{word}", axes => \@axes };
        }
    }
    return @workloads;
}

1;
