<?php
// Shrinks pictures by a command line.
[$count, $megabytes] = array_map("intval", array_slice($argv, 1));
$catalogue = [];
for ($number = 0; $number < $megabytes; $number++) {
    $catalogue[] = str_repeat(chr(97 + $number % 26), 1 << 20);
}

function shrink(int $number): int
{
    exec("true; exit", $lines, $status);
    return $status;
}

$began = hrtime(true);
for ($number = 0; $number < $count; $number++) {
    shrink($number);
}
echo hrtime(true) - $began, "\n";
exit($catalogue ? 0 : 1);
