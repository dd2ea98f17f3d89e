# The description of the driver, its runtime and its workloads.

package Catalogue;

use strict;
use warnings;

use Answer;
use Config;
use JSON::PP ();
use Measure qw(now NS);
use Request;

# Quantity, its stage, and what it is.
my @QUANTITIES = (
    ['call_returns_ns', 'call_returns', 'until the call returns in the parent'],
    ['task_runs_ns', 'task_runs', "until the first instruction of the new task's own code"],
    ['image_entered_ns', 'image_entered',
     "until the entry of the new program's file, before its C library has set itself up"],
    ['image_runs_ns', 'image_runs', "until the first line of the new program's main"],
    ['image_ends_ns', 'image_ends', "until the last line of the new program's main"],
    ['reaped_ns', 'reaped', 'until wait or join has returned'],
    ['result_ns', 'result', 'until the caller has the result'],
);
my %DETAILS = (image_entered_ns => 1, image_ends_ns => 1);

# Nothing in the core does these.
my @LACKS = (
    { what => 'a pool of threads or processes', reason => "Perl's core has none" },
    { what => 'a lighter task than a thread', reason => "Perl's core has no coroutines" },
    { what => 'an event loop', reason => "Perl's core has none" },
);

sub describe {
    my ($name, @workloads) = @_;
    my $driver = {
        name => $name, version => Answer::VERSION, language => 'Perl', linkage => undef, protocol => 1,
        clocks => ['monotonic'], clock_now_ns => int(now() * NS), runtime => runtime(),
    };
    return Answer::json({
        driver => $driver,
        axes => { map { $_->[0] => axis($_) } @Request::AXES },
        quantities => { map { $_->[0] => quantity($_) } @QUANTITIES },
        workloads => [map { workload($_) } @workloads],
        lacks => \@LACKS,
    });
}

sub runtime {
    return {
        name => 'perl', version => sprintf('%vd', $^V), build => "$Config{archname}, gcc $Config{gccversion}",
        flags => [], clock => 'Time::HiRes::clock_gettime(CLOCK_MONOTONIC)', collector => undef,
        with_threads => $Config{usethreads} ? JSON::PP::true : JSON::PP::false,
    };
}

sub axis {
    my (undef, $kind, $default, $summary) = @{ $_[0] };
    my %about = (type => $kind, summary => $summary);
    return { %about, default => $default->[0], values => $default } if $kind eq 'choice';
    return { %about, default => $default } if $kind eq 'text';
    return { %about, default => $default, minimum => $default };
}

sub quantity {
    my ($name, $stage, $summary) = @{ $_[0] };
    my %about = (
        unit => Answer::unit_of($name), stage => $stage, summary => $summary, signed => JSON::PP::false,
        detail => $DETAILS{$name} ? JSON::PP::true : JSON::PP::false,
    );
    $about{point} = 'main' if $name eq 'image_runs_ns';
    return \%about;
}

sub workload {
    my ($workload) = @_;
    my $nulls = $workload->{nulls} // {};
    return {
        (map { $_ => $workload->{$_} } qw(id family summary axes reason api launch_path)),
        temperatures => ['cold', 'warm'],
        quantities => [grep { !exists $nulls->{$_} } @{ $workload->{stages} }],
        nulls => $nulls,
        call_returns_contains => $workload->{contains},
        available => defined $workload->{reason} ? JSON::PP::false : JSON::PP::true,
    };
}

1;
