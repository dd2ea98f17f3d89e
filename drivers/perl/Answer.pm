# The answer: a preamble, then frames of blocks (docs/protocol.md).

package Answer;

use strict;
use warnings;

use Compress::Raw::Zlib ();
use Errno;
use JSON::PP ();

use constant VERSION => '1';

my $JSON = JSON::PP->new->canonical;

sub encoded {
    my ($name, $request, $blocks, $status, $reason) = @_;
    my $ending = {
        status => $status, reason => $reason, errno => undef, blocks => scalar @$blocks, driver => $name,
        version => VERSION, linkage => undef,
    };
    my @frames = map { frames($request, $blocks->[$_], $_) } 0 .. $#$blocks;
    return join '', 'CLNMETER', pack('L<2', 1, 0), @frames, frame('DONE', json($ending));
}

sub json { return $JSON->utf8->encode($_[0]) }

sub frame {
    my ($kind, $payload) = @_;
    return $kind . pack('L<Q<', 0, length $payload) . $payload;
}

sub frames {
    my ($request, $block, $index) = @_;
    my @names = @{ $block->{names} };
    my $head = {
        block => $index, workload => $request->workload->{id}, temperature => $block->{temperature},
        rows => $block->{rows},
        columns => [map { { name => $_, type => Block::type_of($_), unit => unit_of($_) } } @names],
    };
    my $payload = join '', map { $block->{columns}{$_} } @names;
    my $tail = {
        status => 'ok', reason => undef, rows => $block->{rows}, crc32 => Compress::Raw::Zlib::crc32($payload),
        outcomes => outcomes($block), facts => $block->{facts},
    };
    return (frame('HEAD', json($head)), frame('COLS', $payload), frame('TAIL', json($tail)));
}

sub unit_of {
    my ($column) = @_;
    return 'ns' if $column =~ /_ns\z/;
    return $column =~ /\Acpu_/ ? 'cpu' : 'errno';
}

sub outcomes {
    my ($block) = @_;
    my %names = map { Errno->can($_)->() => $_ } keys %!;
    my %counted = (ok => 0);
    $counted{ $_ ? $names{$_} // "errno $_" : 'ok' }++ for unpack 'l<*', $block->{columns}{errno};
    return \%counted;
}

1;
