# What the runner asks for: the measuring keys and the axes, each checked.

use strict;
use warnings;

# A key or a value that cannot be meant: the answer is `failed`.
package Refusal;

sub throw { die bless { reason => $_[1] }, $_[0] }

# What this machine cannot do: the answer is `skipped`.
package Skip;

sub throw { die bless { reason => $_[1] }, $_[0] }

package Request;

use constant {
    MOST_SAMPLES => 10_000_000,
    MOST_BLOCKS => 10_000,
    MOST_MESSAGE_BYTES => 1 << 30,
    # A variable of a filled environment, with its equals sign and the zero at its end.
    VARIABLE_BYTES => 150,
};

# Axis, its type, its default (of a choice: its values), and what it is. As the probe has them (docs/protocol.md).
our @AXES = (
    ['placement', 'choice', ['pinned', 'free'], 'parent and child on one CPU, or where the scheduler puts them'],
    ['stages', 'choice', ['all', 'parent'],
     "all stages, or the parent's timestamps only (the new task takes none)"],
    ['parent_bytes', 'bytes', 0, 'objects of the runtime that the parent holds before it launches, in bytes'],
    ['env_bytes', 'bytes', 0,
     "size of the new program's environment, filled with variables of 150 bytes; 0: unchanged"],
    ['message_bytes', 'bytes', 1, 'size of a message'],
    ['program', 'text', 'target_static',
     'what is started: one of our targets, or any path; arguments follow after colons'],
    ['call_spin_ns', 'count', 0, 'known answer: the parent spins this long after its call, before its timestamp'],
    ['stamp_spin_ns', 'count', 0, 'known answer: the new task spins this long before its timestamp'],
    ['child_spin_ns', 'count', 0, 'known answer: the new task spins this long before it exits'],
);
my %KIND = map { $_->[0] => $_ } @AXES;
my %COUNTS = (samples => 200, blocks => 3, warmup => 20, block_limit_ns => 0, cpu => -1);
my %TEXTS = (temperatures => 'warm', clock => 'monotonic', targets => '.', workload => '');
my %MOST = (samples => MOST_SAMPLES, blocks => MOST_BLOCKS, message_bytes => MOST_MESSAGE_BYTES);

sub new {
    my ($class, @workloads) = @_;
    my %workloads = map { $_->{id} => $_ } @workloads;
    my %defaults = map { $_->[0] => $_->[1] eq 'choice' ? $_->[2][0] : $_->[2] } @AXES;
    return bless { workloads => \%workloads, values => { %COUNTS, %TEXTS, %defaults } }, $class;
}

sub value {
    my ($self, $key) = @_;
    return $self->{values}{$key};
}

# The workload itself, once the keys have been read.
sub workload { return $_[0]{asked} }

sub is_pinned { return $_[0]->value('placement') eq 'pinned' }

sub read {
    my ($self, @words) = @_;
    my @given;
    for my $word (@words) {
        my ($key, $text) = $word =~ /\A(.*?)=(.*)\z/s or Refusal->throw("'$word' is not key=value");
        exists $self->{values}{$key} or Refusal->throw("unknown key '$key'");
        $self->{values}{$key} = checked($key, $text);
        push @given, $key;
    }
    $self->check_workload(@given);
    $self->check_values;
    $self->check_cpu if $self->is_pinned;
    return;
}

# A key's value, as a number where it is one.
sub checked {
    my ($key, $text) = @_;
    my (undef, $kind, $values) = @{ $KIND{$key} // [$key, exists $COUNTS{$key} ? 'count' : 'text'] };
    if ($kind eq 'choice') {
        grep { $_ eq $text } @$values or Refusal->throw("$key has no value '$text'");
    }
    return $text if $kind eq 'choice' || $kind eq 'text';
    $text =~ /\A[0-9]{1,18}\z/ or Refusal->throw("$key=$text: not a whole number from 0 to 18 digits");
    return 0 + $text;
}

sub check_workload {
    my ($self, @given) = @_;
    my $id = $self->value('workload');
    Refusal->throw('workload is missing') if $id eq '';
    my $workload = $self->{asked} = $self->{workloads}{$id} // Refusal->throw("there is no workload '$id'");
    Skip->throw($workload->{reason}) if defined $workload->{reason};
    my %has = map { $_ => 1 } @{ $workload->{axes} };
    for my $key (@given) {
        Refusal->throw("$id has no axis '$key'") if $KIND{$key} && !$has{$key};
    }
    return;
}

sub check_values {
    my ($self) = @_;
    my ($temperatures, $clock) = map { $self->value($_) } qw(temperatures clock);
    $temperatures =~ /\A(?:cold|warm|cold,warm)\z/
        or Refusal->throw("temperatures=$temperatures: must be cold, warm or cold,warm");
    $clock eq 'monotonic' or Refusal->throw("clock=$clock: Perl reads the monotonic clock only");
    for my $key (sort keys %MOST) {
        my $value = $self->value($key);
        Refusal->throw("$key=$value: from 1 to $MOST{$key}") if $value < 1 || $value > $MOST{$key};
    }
    return;
}

sub check_cpu {
    my ($self) = @_;
    my ($cpu, $allowed) = ($self->value('cpu'), allowed_cpu());
    return if defined $allowed && ($cpu == -1 || $cpu == $allowed);
    Skip->throw($cpu >= 0 ? "CPU $cpu cannot be used" : 'no CPU was chosen to pin it to');
}

# The only CPU that this process may use, undefined if there are several.
sub allowed_cpu {
    my ($list) = contents('/proc/self/status') =~ /^Cpus_allowed_list:\s*(\S+)/m;
    return defined $list && $list =~ /\A\d+\z/ ? 0 + $list : undef;
}

# The text of a file, empty if it cannot be read: a thread may end between the listing and the reading.
sub contents {
    my ($path) = @_;
    open(my $file, '<', $path) or return '';
    local $/;
    return <$file> // '';
}

# Whether the program is ours, which leaves timestamps.
sub is_target { return $_[0]->value('program') !~ m{\A[^:]*/} }

# The words of the program that is started. Ours are passed where to leave their timestamps.
sub command {
    my ($self) = @_;
    my @words = ('');
    for my $part ($self->value('program') =~ /(\\?.)/gs) {
        if ($part eq ':') { push @words, '' }
        else { $words[-1] .= substr($part, -1) }
    }
    return @words unless $self->is_target;
    my $target = shift @words;
    return ($self->value('targets') . "/$target", 'm0:0', @words);
}

# The environment of the program; undefined if it is ours.
sub environment {
    my ($self) = @_;
    my $bytes = $self->value('env_bytes') or return undef;
    my $count = int(($bytes + VARIABLE_BYTES - 1) / VARIABLE_BYTES);
    my @names = map { sprintf 'CLONOMETER_FILL%06d', $_ } 0 .. $count - 1;
    return { map { $_ => 'x' x (VARIABLE_BYTES - length($_) - 2) } @names };
}

1;
