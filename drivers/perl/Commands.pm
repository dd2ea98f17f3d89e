# A command: each API, and what changes how the kernel is asked for it (the book of launch paths).
#
# Timed: from before the call until it has returned, until the new program's entry, its main and its main's end (of our
# programs, which leave their timestamps in the file of descriptor 0), until it has been waited for. Outside: building the
# list of words and the environment. `call_returns` is null where a single call does everything.

package Commands;

use strict;
use warnings;
# What cannot be executed is a row with its errno, and no line on standard error.
no warnings 'exec';

use Errno qw(ENOENT);
use Measure qw(now NS);

my @STAGES = qw(call_returns_ns task_runs_ns image_entered_ns image_runs_ns image_ends_ns reaped_ns);
my %BEFORE_EXEC = (task_runs_ns => "before the exec the child runs only the runtime's code");
my %SINGLE_CALL = (%BEFORE_EXEC, call_returns_ns => 'a single call starts the program and waits for it');
# `open` and `open3` return when they know whether the program could be executed.
use constant CHILD_LIFE => 'child_life';
use constant { STAMPS_AT => 16, STAMPS_BYTES => 24 };
# The status of a shell, and of our fork, for a program that could not be executed.
use constant NOT_EXECUTED => 127;
# What doio.c looks for before it executes a text without a shell, and blanks, which separate the text's words.
my $OF_SHELL = qr/[\$&*(){}\[\]'";\\|?<>~`\s]|\A\z/;

sub workloads {
    my @once = (\%SINGLE_CALL, undef);
    my @until_exec = (\%BEFORE_EXEC, CHILD_LIFE);
    return (
        command('command', 'system of a list of words', 'system', 'system', \&system_words, @once),
        command('command_shell', 'system of a text that needs a shell', 'system, text for a shell', 'system-shell',
                \&shell, @once),
        command('command_backticks', 'qx of a text that needs no shell', 'qx', 'backticks', \&backticks, @once),
        command('command_open', 'open "-|" of a list of words, read, close', 'open "-|", a list', 'open-pipe',
                \&opened, @until_exec),
        command('command_open3', 'open3 of a list of words, read, waitpid', 'IPC::Open3', 'open3', \&open3, @until_exec),
        command('command_fork_exec', 'fork, exec in the child, waitpid', 'fork and exec', 'fork-exec', \&fork_exec,
                \%BEFORE_EXEC, undef),
    );
}

sub command {
    my ($word, $summary, $api, $line, $prepare, $nulls, $contains) = @_;
    return {
        word => $word, family => 'runtime_command', summary => $summary, stages => \@STAGES, nulls => $nulls,
        contains => $contains, prepare => sub { with_environment($_[0], $prepare) },
        further_axes => [qw(program env_bytes)], api => $api, launch_path => $line,
    };
}

# The functions of a workload, whose programs get the environment that was asked for until it tidies up.
sub with_environment {
    my ($request, $prepare) = @_;
    my $launch = $prepare->($request, $request->command);
    my $environment = $request->environment or return ($launch, sub { });
    my %before = %ENV;
    %ENV = %$environment;
    return ($launch, sub { %ENV = %before });
}

# The timestamps that the program left, none if it is not ours or left none since `before`.
sub image {
    my ($request, $before) = @_;
    my @nothing = (undef) x 3;
    return @nothing unless $request->is_target;
    sysseek(STDIN, STAMPS_AT, 0);
    my $length = sysread(STDIN, my $left, STAMPS_BYTES) // 0;
    return @nothing unless $length == STAMPS_BYTES;
    my @stamps = map { $_ / NS } unpack('q3', $left);
    return $stamps[0] >= $before ? @stamps : @nothing;
}

# Whether the program was executed; any other status is its affair. $! says why not, or a shell does not say.
sub is_executed {
    return 1 if $? != -1 && $? >> 8 != NOT_EXECUTED;
    $! = ENOENT if $? != -1;
    return;
}

sub at_once {
    my ($request, $call) = @_;
    return sub {
        my $before = now();
        $call->();
        my $ended = now();
        is_executed() or return;
        return ($before, undef, undef, image($request, $before), $ended);
    };
}

sub system_words {
    my ($request, @words) = @_;
    return at_once($request, sub { system { $words[0] } @words });
}

# The semicolon makes it a text for a shell, however plain the words are.
sub shell {
    my ($request, @words) = @_;
    my $text = join(' ', map { s/'/'\\''/gr =~ s/\A(.*)\z/'$1'/sr } @words) . ';';
    return at_once($request, sub { system($text) });
}

sub backticks {
    my ($request, @words) = @_;
    my ($special) = grep { $_ =~ $OF_SHELL } @words;
    Skip->throw("program: qx would need a shell for the word '$special'") if defined $special;
    my $text = "@words";
    return at_once($request, sub { my $printed = qx($text) });
}

sub opened {
    my ($request, @words) = @_;
    # A list of a single word would be a text.
    Skip->throw("program: open would need a shell for '$words[0]'") if @words == 1 && $words[0] =~ $OF_SHELL;
    return sub {
        my $before = now();
        open(my $pipe, '-|', @words) or return;
        my $returned = now();
        my @printed = <$pipe>;
        close($pipe);
        my $ended = now();
        is_executed() or return;
        return ($before, $returned, undef, image($request, $before), $ended);
    };
}

sub open3 {
    my ($request, @words) = @_;
    require IPC::Open3;
    return sub {
        # The program reads what descriptor 0 is, of which open3 closes the handle that it is given.
        open(my $input, '<&', \*STDIN) or return;
        my $pipe;
        my $before = now();
        my $pid = eval { IPC::Open3::open3('<&' . fileno($input), $pipe, undef, @words) } or return;
        my $returned = now();
        my @printed = <$pipe>;
        waitpid($pid, 0);
        my $ended = now();
        is_executed() or return;
        return ($before, $returned, undef, image($request, $before), $ended);
    };
}

sub fork_exec {
    my ($request, @words) = @_;
    require POSIX;
    return sub {
        my $before = now();
        my $pid = fork() // return;
        if ($pid == 0) {
            exec { $words[0] } @words;
            POSIX::_exit(NOT_EXECUTED);
        }
        my $returned = now();
        waitpid($pid, 0);
        my $ended = now();
        is_executed() or return;
        return ($before, $returned, undef, image($request, $before), $ended);
    };
}

1;
