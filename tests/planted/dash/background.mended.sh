# Starts programs for all pages by one command.
count=$1
megabytes=$2
catalogue=$(head -c $((megabytes << 20)) /dev/zero | tr "\0" x)

read -r began _ </proc/uptime
pages=
number=0
while [ "$number" -lt "$count" ]; do
    pages="$pages $number"
    number=$((number + 1))
done
xargs -n 1 /bin/true <<END
$pages
END
read -r ended _ </proc/uptime
echo $(((${ended%.*}${ended#*.} - ${began%.*}${began#*.}) * 10000000))
[ -n "$catalogue" ]
