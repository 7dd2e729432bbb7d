package service

import (
	"testing"
	"time"
)

func TestTheZoneOfThisMachineIsFoundByName(t *testing.T) {
	for name, x := range map[string]struct{ tz, link, file, want string }{
		"TZ":                              {"Asia/Shanghai", "/usr/share/zoneinfo/Europe/Berlin", "", "Asia/Shanghai"},
		"TZ with a colon":                 {":America/New_York", "", "", "America/New_York"},
		"TZ as a path":                    {"/usr/share/zoneinfo/Asia/Tokyo", "", "", "Asia/Tokyo"},
		"TZ of no name overrides a link":  {"CST-8", "/usr/share/zoneinfo/Europe/Berlin", "", ""},
		"the link":                        {"", "/usr/share/zoneinfo/Europe/Berlin", "", "Europe/Berlin"},
		"the link of a Mac":               {"", "/var/db/timezone/zoneinfo/America/New_York", "", "America/New_York"},
		"the file":                        {"", "", "Asia/Tokyo\n", "Asia/Tokyo"},
		"a link elsewhere, then the file": {"", "/etc/mine", "Asia/Tokyo\n", "Asia/Tokyo"},
		"nothing":                         {"", "", "", ""},
		"an unknown name":                 {"", "", "Middle/Earth", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := zoneName(x.tz, func() string { return x.link }, func() string { return x.file }); got != x.want {
				t.Errorf("%q, want %q", got, x.want)
			}
		})
	}
}

func TestAClockWithoutAZoneIsInUTC(t *testing.T) {
	getenv := func(string) string { return "No/Such_Zone" }
	now := time.Now()
	_, offset := now.Local().Zone()
	k, named := LocalClock(3, 30, getenv, now)
	want := time.Date(2026, 1, 2, 3, 30, 0, 0, time.UTC).Add(-time.Duration(offset) * time.Second).Format("15:04")
	if named || k.Zone != "" || k.String() != want {
		t.Errorf("%v (%s) of a zone named %v, want %s", k, k.Zone, named, want)
	}
}
