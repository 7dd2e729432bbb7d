// Command ablation shows what each part of the optimizer earns: whole runs in a world where the worth of every edit is known
// (internal/simworld), with and without each part, on the same seeds and at the same budget. It appends an outcome a line to a
// file and skips those that the file has, so that it can be stopped and started again; the table is of the seeds that the file
// has for every variant.
//
//	go run ./bench/ablation -from 1 -to 200 -workers 2 -out ablation.jsonl
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"whetstone/activities"
	"whetstone/internal/simworld"
	"whetstone/run"
)

// variant is a run without some parts.
type variant struct {
	Name    string
	Search  string
	Without []string
}

// full is what the others are compared with.
const full = "greedy, full"

var variants = []variant{
	{full, activities.SearchGreedy, nil},
	{"without slow", activities.SearchGreedy, []string{run.PartSlow}},
	{"without meta", activities.SearchGreedy, []string{run.PartMeta}},
	{"without slow, meta", activities.SearchGreedy, []string{run.PartSlow, run.PartMeta}},
	{"without credit", activities.SearchGreedy, []string{run.PartCredit}},
	{"without memory", activities.SearchGreedy, []string{run.PartMemory}},
	{"pareto, full", activities.SearchPareto, nil},
	{"pareto without credit", activities.SearchPareto, []string{run.PartCredit}},
}

// line is one outcome in the file.
type line struct {
	Variant string
	Outcome simworld.Outcome
}

func main() {
	if err := ablate(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func ablate(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("ablation", flag.ContinueOnError)
	from := f.Uint64("from", 1, "first seed")
	to := f.Uint64("to", 20, "last seed")
	workers := f.Int("workers", 1, "runs side by side")
	only := f.String("only", "", "run this variant only")
	out := f.String("out", "ablation.jsonl", "file of outcomes")
	if err := f.Parse(args); err != nil {
		return err
	}
	have, err := read(*out)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(*out, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(*workers, 1))
	for seed := *from; seed <= *to; seed++ {
		for _, v := range variants {
			if *only != "" && v.Name != *only {
				continue
			}
			if slices.ContainsFunc(have, func(l line) bool { return l.Variant == v.Name && l.Outcome.Seed == seed }) {
				continue
			}
			g.Go(func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				o, err := simworld.Run(ctx, seed, func(p *run.Params) { p.Search, p.Without = v.Search, v.Without })
				if err != nil {
					return err
				}
				b, err := json.Marshal(line{v.Name, o})
				if err != nil {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				have = append(have, line{v.Name, o})
				_, err = file.Write(append(b, '\n'))
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	table(have, *from, *to)
	return nil
}

func read(path string) ([]line, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var out []line
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		var l line
		if err := json.Unmarshal(sc.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		out = append(out, l)
	}
	return out, sc.Err()
}

// table prints a row for each variant.
func table(have []line, from, to uint64) {
	by := map[string]map[uint64]simworld.Outcome{}
	for _, v := range variants {
		by[v.Name] = map[uint64]simworld.Outcome{}
	}
	for _, l := range have {
		if by[l.Variant] != nil && l.Outcome.Seed >= from && l.Outcome.Seed <= to {
			by[l.Variant][l.Outcome.Seed] = l.Outcome
		}
	}
	var seeds []uint64
	before := 0.0
	for seed, o := range by[full] {
		if !slices.ContainsFunc(variants, func(v variant) bool { _, ok := by[v.Name][seed]; return !ok }) {
			seeds = append(seeds, seed)
			before += o.TestBefore
		}
	}
	slices.Sort(seeds)
	if len(seeds) == 0 {
		fmt.Println("no seed has every variant")
		return
	}
	n := float64(len(seeds))
	fmt.Printf("%d seeds; mean true test score before: %.3f; budget $%.2f\n\n", len(seeds), before/n, simworld.StandingBudget)
	fmt.Println("| | test after | against full | accepted a run | false | good edits of refused bundles, recovered | harm in the final text | judgements | spent |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for _, v := range variants {
		var after, usd float64
		var accepted, wrong, refused, recovered, harm, judgements int
		diffs := make([]float64, len(seeds))
		for i, seed := range seeds {
			o := by[v.Name][seed]
			diffs[i] = o.TestAfter - by[full][seed].TestAfter
			after += o.TestAfter
			usd += o.USD
			accepted += o.Accepted
			wrong += o.FalseAccepts
			refused += o.GoodRefused
			recovered += o.GoodRecovered
			judgements += o.Judgements
			if o.HarmInFinal {
				harm++
			}
		}
		against := "-"
		if v.Name != full {
			mean, lo, hi := interval(diffs)
			against = fmt.Sprintf("%+.3f (%+.3f to %+.3f)", mean, lo, hi)
		}
		fmt.Printf("| %s | %.3f | %s | %.2f | %d of %d | %d of %d | %.0f %% | %.0f | $%.3f |\n", v.Name, after/n, against, float64(accepted)/n, wrong, accepted, recovered, refused, 100*float64(harm)/n, float64(judgements)/n, usd/n)
	}
	fmt.Println("\n" + strings.TrimSpace(kinds(by, seeds)))
}

// kinds counts what the less frequent kinds of steps came to.
func kinds(by map[string]map[uint64]simworld.Outcome, seeds []uint64) string {
	var b strings.Builder
	for _, v := range variants {
		var slow, merges, looks, steps int
		stops := map[string]int{}
		for _, seed := range seeds {
			o := by[v.Name][seed]
			slow += o.SlowAccepted
			merges += o.MergeAccepted
			looks += o.Looks
			steps += o.Steps
			stops[o.Stopped]++
		}
		fmt.Fprintf(&b, "%s: %d steps, %d looks with alpha, %d slow updates and %d merges accepted, stopped by %v\n", v.Name, steps, looks, slow, merges, stops)
	}
	return b.String()
}

// interval is the mean of paired differences with its 95 % interval, by 10,000 bootstrap draws over the seeds.
func interval(diffs []float64) (mean, lo, hi float64) {
	const draws = 10_000
	rng := rand.New(rand.NewPCG(1, 0x13198a2e03707344))
	means := make([]float64, draws)
	for i := range means {
		for range diffs {
			means[i] += diffs[rng.IntN(len(diffs))]
		}
		means[i] /= float64(len(diffs))
	}
	for _, d := range diffs {
		mean += d
	}
	slices.Sort(means)
	return mean / float64(len(diffs)), means[draws*25/1000], means[draws*975/1000-1]
}
