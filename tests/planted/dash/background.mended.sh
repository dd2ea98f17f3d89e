# Starts programs for many pages by one command.
count=$1
megabytes=$2
catalogue=$(head -c $((megabytes << 20)) /dev/zero | tr "\0" x)

read -r began _ </proc/uptime
seq "$count" | xargs -n 1 /bin/true
read -r ended _ </proc/uptime
echo $(((${ended%.*}${ended#*.} - ${began%.*}${began#*.}) * 10000000))
[ -n "$catalogue" ]
