package report

import (
	"fmt"

	"whetstone/run"
)

// spendTable is the ledger by stage with its sum.
type spendTable struct {
	Rows     []spendRow
	Total    spendRow
	Reported bool // a program said what its calls cost
	InFlight bool
}

type spendRow struct {
	run.Spend
	USD, ReportedUSD string
	Share            int // of the dollars, percent
}

func newSpend(ss []run.Spend) spendTable {
	t := spendTable{Total: spendRow{Spend: run.Spend{Stage: "Total"}}}
	sum := &t.Total.Spend
	for _, s := range ss {
		sum.Calls += s.Calls
		sum.NanoUSD += s.NanoUSD
		sum.Input += s.Input
		sum.Output += s.Output
		sum.Unknown += s.Unknown
		sum.Reserved += s.Reserved
		sum.Cached += s.Cached
		sum.Reported += s.Reported
		sum.Estimated += s.Estimated
	}
	for _, s := range ss {
		row := priced(s)
		if sum.NanoUSD > 0 {
			row.Share = int(100*float64(s.NanoUSD)/float64(sum.NanoUSD) + 0.5)
		}
		t.Rows = append(t.Rows, row)
	}
	t.Total = priced(*sum)
	t.Reported, t.InFlight = sum.Reported > 0, sum.Reserved > 0
	return t
}

func priced(s run.Spend) spendRow {
	return spendRow{Spend: s, USD: usd(s.NanoUSD), ReportedUSD: usd(s.Reported)}
}

func usd(nano int64) string { return fmt.Sprintf("$%.4f", float64(nano)/1e9) }
