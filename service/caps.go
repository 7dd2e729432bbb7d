package service

import (
	"time"

	"whetstone/home"
	"whetstone/model"
)

// capsOf turns the caps of config.yaml into what the ledger asks for with each booking. Days and months are those of UTC, so that
// they are the same on every machine that shares a home.
func capsOf(c home.Caps) func(now time.Time) []model.Cap {
	one := func(name string, x home.Cap) model.Cap {
		return model.Cap{Name: name, USD: model.FromUSD(x.USD), Calls: x.Calls, Tokens: x.Tokens}
	}
	return func(now time.Time) []model.Cap {
		y, m, d := now.UTC().Date()
		run, day, month := one("run", c.Run), one("day", c.Day), one("month", c.Month)
		run.Run = true
		day.Since = time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		month.Since = time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
		return []model.Cap{run, day, month}
	}
}
