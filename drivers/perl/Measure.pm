# Blocks of launches: the clock, the columns and the heap.

use strict;
use warnings;

# The columns of a block, each the text of its packed values.
package Block;

# Column type -> how a value is packed, and what stands for null.
our %TYPES = (i32 => ['l<', -2**31], i64 => ['q<', -9_223_372_036_854_775_808]);

sub new {
    my ($class, $temperature, @names) = @_;
    my %columns = map { $_ => '' } @names;
    return bless { temperature => $temperature, names => \@names, rows => 0, columns => \%columns }, $class;
}

sub type_of { return $_[0] =~ /_ns\z/ ? 'i64' : 'i32' }

sub packed {
    my ($name, $value) = @_;
    my ($template, $null) = @{ $TYPES{ type_of($name) } };
    return pack($template, $value // $null);
}

# Adds a row, of the columns that are named first.
sub add {
    my ($self, @values) = @_;
    for my $place (0 .. $#values) {
        my $name = $self->{names}[$place];
        $self->{columns}{$name} .= packed($name, $values[$place]);
    }
    $self->{rows}++;
    return;
}

# Gives all rows of a column the same value.
sub fill {
    my ($self, $name, $value) = @_;
    $self->{columns}{$name} = packed($name, $value) x $self->{rows};
    return;
}

package Measure;

use Exporter 'import';
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);

our @EXPORT_OK = qw(now spin NS);

# Read once: Time::HiRes answers for this name by a call. The clock is a number of seconds, in steps of less than 1 ns
# until the machine has been up for fifty days.
use constant { CLOCK => CLOCK_MONOTONIC, NS => 1e9 };
use constant {
    LATER_WARMUP => 3,
    FEWEST_SAMPLES => 3,
    SETTLE_S => 0.001,
    # Of a row: its readings, and its columns.
    ROW_BYTES => 160,
    # A reading that there is none: the clock began before.
    NO_READING => 0,
    READING_BYTES => 8,
    # A string of the heap: a Perl program has many small values.
    OBJECT_BYTES => 1024,
    OBJECT_HEADER_BYTES => 80,
};

# A new thread gets a copy of it, as of all that is no variable of a running function. Those, the samples too, it gets empty.
our @HEAP;

sub now { return clock_gettime(CLOCK) }

sub spin {
    my ($duration_ns) = @_;
    my $ends = now() + $duration_ns / NS;
    1 while now() < $ends;
    return;
}

sub new {
    my ($class, $request) = @_;
    return bless { request => $request, stages => $request->workload->{stages} }, $class;
}

sub blocks {
    my ($self) = @_;
    my $request = $self->{request};
    @HEAP = heap_of($request->value('parent_bytes'), $request->workload->{copies_of_heap});
    ($self->{launch}, my $close) = $request->workload->{prepare}->($request);
    my $wanted = $request->value('temperatures');
    my @blocks;
    push @blocks, $self->measured('cold', 1) if $wanted =~ /cold/;
    for my $number (0 .. ($wanted =~ /warm/ ? $request->value('blocks') : 0) - 1) {
        Time::HiRes::sleep(SETTLE_S);
        my $warmup = $request->value('warmup');
        $self->warm_up($number && $warmup > LATER_WARMUP ? LATER_WARMUP : $warmup);
        push @blocks, $self->measured('warm', $request->value('samples'));
    }
    $close->();
    return \@blocks;
}

sub free_bytes {
    my ($kilobytes) = Request::contents('/proc/meminfo') =~ /^MemAvailable:\s*(\d+)/m;
    return 1024 * ($kilobytes // 0);
}

sub heap_of {
    my ($bytes, $copies) = @_;
    my $free = free_bytes();
    Skip->throw("parent_bytes=$bytes: more than the $free free bytes") if $bytes > $free;
    Skip->throw("parent_bytes=$bytes: with a thread's copy more than the $free free bytes")
        if $bytes * (1 + ($copies // 0)) > $free;
    my $length = OBJECT_BYTES - OBJECT_HEADER_BYTES;
    return map { chr($_ & 127) x $length } 1 .. int($bytes / OBJECT_BYTES);
}

sub warm_up {
    my ($self, $launches) = @_;
    my ($began, $limit) = (now(), $self->{request}->value('block_limit_ns') / NS);
    for (1 .. $launches) {
        return if $limit && now() - $began > $limit;
        () = $self->{launch}->() or return;
    }
    return;
}

sub measured {
    my ($self, $temperature, $rows) = @_;
    my $free = free_bytes();
    Skip->throw("samples=$rows: their columns need more than the $free free bytes") if $rows * ROW_BYTES > $free;
    # Made and written before anything is timed. After a fork each page that is written is copied: readings take the fewest.
    my $readings = pack('d', NO_READING) x ($rows * $self->readings_of_row);
    my ($created, %before) = (tasks_created(), counters());
    my $began = now();
    my $filled = $self->launched(\$readings, $began, $rows);
    my $wall_ns = int((now() - $began) * NS);
    my %after = counters();
    substr($readings, $filled * $self->readings_of_row * READING_BYTES) = '';
    my $block = $self->columns_of($temperature, $began, $readings);
    $self->name_cpus($block);
    $block->{facts} = {
        (map { $_ => $after{$_} - $before{$_} } keys %after),
        wall_ns => $wall_ns,
        start_ticks => int($began * NS),
        tasks_created => $created < 0 ? -1 : tasks_created() - $created,
        effective_mhz => $self->frequencies,
    };
    return $block;
}

# When it began, its stages, and its errno.
sub readings_of_row { return 2 + @{ $_[0]{stages} } }

# Launches until there is no room for more readings or the time is up, and returns how many launches there were.
sub launched {
    my ($self, $readings, $began, $rows) = @_;
    my ($launch, $count) = ($self->{launch}, $self->readings_of_row);
    my ($template, $bytes) = ("d$count", $count * READING_BYTES);
    my $limit = $self->{request}->value('block_limit_ns') / NS;
    for my $row (0 .. $rows - 1) {
        my @stamps = $launch->();
        my $errno = @stamps ? 0 : 0 + $!;
        @stamps = (now()) unless @stamps;
        $#stamps = $count - 2;
        substr($$readings, $row * $bytes, $bytes) = pack($template, (map { $_ // NO_READING } @stamps), $errno);
        return $row + 1 if $limit && $row + 1 >= FEWEST_SAMPLES && now() - $began > $limit;
    }
    return $rows;
}

sub columns_of {
    my ($self, $temperature, $began, $readings) = @_;
    my $block = Block->new($temperature, 'start_ns', @{ $self->{stages} }, qw(errno cpu_before cpu_after cpu_child));
    my $bytes = $self->readings_of_row * READING_BYTES;
    for my $row (0 .. length($readings) / $bytes - 1) {
        my ($start, @stamps) = unpack('d*', substr($readings, $row * $bytes, $bytes));
        my $errno = pop @stamps;
        my @lasted = map { $_ == NO_READING ? undef : int(($_ - $start) * NS + 0.5) } @stamps;
        $block->add(int(($start - $began) * NS + 0.5), @lasted, $errno);
    }
    return $block;
}

sub name_cpus {
    my ($self, $block) = @_;
    my $cpu = $self->{request}->is_pinned ? Request::allowed_cpu() : undef;
    my $stamps = $block->{columns}{task_runs_ns} // '';
    my $is_stamped = $stamps ne '' && unpack('q<', $stamps) >= 0;
    $block->fill($_, $cpu) for qw(cpu_before cpu_after);
    $block->fill('cpu_child', $is_stamped ? $cpu : undef);
    return;
}

# Counts of this process so far. Switches of threads that have ended are not among them: Perl has no getrusage.
sub counters {
    my ($statistics) = Request::contents('/proc/self/stat') =~ /.*\)\s+(.*)/s;
    my @fields = split ' ', $statistics;
    opendir(my $tasks, '/proc/self/task') or die "no list of threads: $!";
    my $statuses = join '', map { Request::contents("/proc/self/task/$_/status") } grep { /\A\d/ } readdir $tasks;
    my (undef, undef, $children_user, $children_system) = times;
    my %switches = (voluntary => 0, nonvoluntary => 0);
    $switches{$1} += $2 while $statuses =~ /^((?:non)?voluntary)_ctxt_switches:\s*(\d+)/mg;
    return (
        minor_faults => $fields[7],
        major_faults => $fields[9],
        voluntary_switches => $switches{voluntary},
        involuntary_switches => $switches{nonvoluntary},
        cpu_ns => int(clock_gettime(CLOCK_PROCESS_CPUTIME_ID) * NS),
        children_cpu_ns => int(($children_user + $children_system) * NS),
    );
}

# How many tasks the whole machine has created since it started; -1 where the kernel does not count them.
sub tasks_created {
    my ($count) = Request::contents('/proc/stat') =~ /^processes (\d+)/m;
    return $count || -1;
}

# The effective MHz of the CPU that launched, by the tether; none if it may be any.
sub frequencies {
    my ($self) = @_;
    my $request = $self->{request};
    return {} unless $request->is_pinned;
    my $tether = $request->value('targets') . '/clonometer-tether';
    open(my $printed, '-|', $tether, '--mhz', Request::allowed_cpu()) or return {};
    my ($cpu, $mhz) = split ' ', <$printed> // '';
    close($printed);
    return ($mhz // 0) > 0 ? { $cpu => 0 + $mhz } : {};
}

1;
