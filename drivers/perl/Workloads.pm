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

# Groups of workloads, and the words that each has. Only what is asked for is loaded: a thread is a copy of all that is.
my @GROUPS = (
    [Threads => qr/\Aos_thread\z/],
    [Calls => qr/\A(?:fork|process_.*)\z/],
    [Commands => qr/\Acommand/],
    [Exchanges => qr/\Aexchange_/],
    [Connections => qr/\Aconnection/],
    [Floor => qr/\Anone\z/],
);

# The workloads of the groups that may have a word; of all groups without one.
sub named {
    my ($name, $asked) = @_;
    my @workloads;
    for (@GROUPS) {
        my ($group, $words) = @$_;
        next if defined $asked && $asked !~ $words;
        require "$group.pm";
        for my $workload ($group->workloads) {
            my @axes = ('placement', 'parent_bytes', @{ $workload->{further_axes} // [] });
            push @workloads, { %$workload, id => "$name.$workload->{word}", axes => \@axes };
        }
    }
    return @workloads;
}

1;
