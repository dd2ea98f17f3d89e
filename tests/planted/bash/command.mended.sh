# Checks each page by a program; it is for dash.
export LC_ALL=C
count=$1
megabytes=$2
catalogue=$(head -c $((megabytes << 20)) /dev/zero | tr "\\0" x)

check() {
    /bin/true "$1"
}

read -r began _ </proc/uptime
number=0
while [ "$number" -lt "$count" ]; do
    check "$number"
    number=$((number + 1))
done
read -r ended _ </proc/uptime
echo $(((${ended%.*}${ended#*.} - ${began%.*}${began#*.}) * 10000000))
[ -n "$catalogue" ]
