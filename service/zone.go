package service

import (
	"os"
	"strings"
	"time"
)

// LocalClock is a time of day of this machine, in its own time zone where the zone's IANA name is known. Where it is not,
// named is false and the clock is in UTC, by the offset of now: it will not follow daylight saving time.
func LocalClock(hour, minute int, getenv func(string) string, now time.Time) (k Clock, named bool) {
	zone := zoneName(getenv("TZ"), func() string { link, _ := os.Readlink("/etc/localtime"); return link },
		func() string { b, _ := os.ReadFile("/etc/timezone"); return string(b) })
	if zone != "" {
		return Clock{hour, minute, zone}, true
	}
	_, offset := now.Local().Zone()
	m := ((hour*60+minute-offset/60)%1440 + 1440) % 1440
	return Clock{m / 60, m % 60, ""}, false
}

// zoneName finds the IANA name of the local zone: by TZ, by where the link /etc/localtime leads, or by what /etc/timezone
// says. It is "" where none of them names one that is known here.
func zoneName(tz string, link, file func() string) string {
	if tz != "" {
		return knownZone(strings.TrimPrefix(tz, ":")) // it overrides the others, so that they would be wrong
	}
	if name := knownZone(link()); name != "" {
		return name
	}
	return knownZone(strings.TrimSpace(file()))
}

func knownZone(name string) string {
	for _, dir := range []string{"zoneinfo/", "zoneinfo.default/"} {
		if _, after, ok := strings.Cut(name, dir); ok {
			name = after
		}
	}
	if name == "" || name == "Local" || strings.HasPrefix(name, "/") {
		return ""
	}
	if _, err := time.LoadLocation(name); err != nil {
		return ""
	}
	return name
}
