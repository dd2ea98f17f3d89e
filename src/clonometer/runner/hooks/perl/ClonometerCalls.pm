# Notes which lines of a Perl program make processes, for `clonometer census`, which has put this file into PERL5OPT.
# Any Perl may start with it: whatever goes wrong is left alone.
package ClonometerCalls;

our ($libraries, @begun);

sub check { begin() }

BEGIN {
    local ($@, $!);
    my $folder = substr(__FILE__, 0, rindex(__FILE__, '/'));
    for my $i (0 .. $#INC) {
        if ($INC[$i] eq $folder) { splice(@INC, $i, 1); last }
    }
    eval {
        local $SIG{__DIE__} = 'DEFAULT';
        die unless $ENV{CLONOMETER_LIBRARY};
        $libraries = join '', map { "$_/\n" } grep { !ref && (-e "$_/strict.pm" || -e "$_/Config.pm") } @INC;
        # As XSLoader does it: without what DynaLoader loads besides.
        package DynaLoader;
        boot_DynaLoader('DynaLoader') if defined(&boot_DynaLoader) && !defined(&dl_error);
        my $file = dl_load_file($ENV{CLONOMETER_LIBRARY}, 0);
        my $begin = $file && dl_find_symbol($file, 'clonometer_perl_begin');
        if ($begin) {
            dl_install_xsub('ClonometerCalls::begin', $begin);
# line 4711 "ClonometerCalls"
            ClonometerCalls::check();
        }
    };
}

# What is compiled for a back end (-MO=Deparse) keeps its BEGIN blocks, and would print this file's use. It still runs.
if ($INC{'O.pm'} && defined(&B::begin_av)) {
    my $kept = B::begin_av()->object_2svref;
    @begun = map { \$_ } @$kept[-2, -1];
    $#$kept -= 2;
}

1;
