package service

import (
	"fmt"
	"math"
	"time"

	"whetstone/home"
	"whetstone/model"
)

// capsOf turns the caps of config.yaml into what the ledger asks for with each booking. Days and months are those of UTC, so that
// they are the same on every machine that shares a home.
func capsOf(dir home.Dir, c home.Caps) (func(now time.Time) []model.Cap, error) {
	var all []model.Cap
	for _, x := range []struct {
		name string
		cap  home.Cap
	}{{"run", c.Run}, {"day", c.Day}, {"month", c.Month}} {
		m := model.Cap{Name: x.name, Run: x.name == "run", USD: -1, Calls: -1, Tokens: -1}
		bad := func(field string) error {
			return inputError(fmt.Sprintf("%s: caps.%s.%s: want a number, at least 0; leave it out for no cap", dir.Config(), x.name, field))
		}
		if v := x.cap.USD; v != nil {
			if !sane(*v) {
				return nil, bad("usd")
			}
			m.USD = model.FromUSD(*v)
		}
		if v := x.cap.Calls; v != nil {
			if m.Calls = *v; *v < 0 {
				return nil, bad("calls")
			}
		}
		if v := x.cap.Tokens; v != nil {
			if m.Tokens = *v; *v < 0 {
				return nil, bad("tokens")
			}
		}
		all = append(all, m)
	}
	return func(now time.Time) []model.Cap {
		y, m, d := now.UTC().Date()
		out := make([]model.Cap, len(all))
		copy(out, all)
		out[1].Since = time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		out[2].Since = time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
		return out
	}, nil
}

// sane is an amount of dollars that somebody may mean.
func sane(v float64) bool { return v >= 0 && v <= 1e6 && !math.IsNaN(v) }
