module clonometer/driver

go 1.18
