package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"whetstone/model"
)

func capped(t *testing.T, at *time.Time, caps ...model.Cap) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "data.db"), Now: func() time.Time { return *at }})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	s.SetCaps(func(now time.Time) []model.Cap {
		out := make([]model.Cap, len(caps))
		for i, c := range caps {
			out[i] = c
			if c.Name == "day" {
				out[i].Since = now.Truncate(24 * time.Hour)
			}
		}
		return out
	})
	return s
}

func TestACapOfADayHoldsForAllRunsAndEndsWithIt(t *testing.T) {
	for what, c := range map[string]model.Cap{"dollars": {Name: "day", USD: 100, Calls: -1, Tokens: -1}, "calls": {Name: "day", USD: -1, Calls: 2, Tokens: -1}, "tokens": {Name: "day", USD: -1, Calls: -1, Tokens: 250}} {
		at := time.Date(2026, 5, 1, 23, 0, 0, 0, time.UTC)
		s := capped(t, &at, c)
		book := func(runID string, n int) error {
			_, err := s.Reserve(t.Context(), model.Booking{Key: fmt.Sprint(runID, n), RunID: runID, Stage: "judge", Ref: model.Ref{Provider: "openai"}, Reserve: 50, Tokens: 100, Budget: 1000})
			return err
		}
		must(t, book("a", 1))
		must(t, book("b", 1))
		err := book("c", 1)
		var e *model.CapError
		if !errors.As(err, &e) || e.Cap != "day" || e.What != what || errors.Is(err, model.ErrCalls) != (what == "calls") || errors.Is(err, model.ErrBudget) == (what == "calls") {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := s.Reserve(t.Context(), model.Booking{Key: "o", RunID: "o", Stage: "judge", Ref: model.Ref{Provider: model.Offline}, Budget: 1}); err != nil {
			t.Errorf("%s: the offline model is not counted: %v", what, err)
		}
		at = at.Add(2 * time.Hour) // the next day
		must(t, book("c", 1))
	}
}

func TestACapOfARunHoldsForEachByItself(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s := capped(t, &at, model.Cap{Name: "run", Run: true, USD: -1, Calls: -1, Tokens: 150})
	book := func(runID string, n int) error {
		_, err := s.Reserve(t.Context(), model.Booking{Key: fmt.Sprint(runID, n), RunID: runID, Stage: "judge", Ref: model.Ref{Provider: "ollama"}, Tokens: 100})
		return err
	}
	must(t, book("a", 1))
	must(t, book("b", 1))
	if err := book("a", 2); !errors.Is(err, model.ErrBudget) {
		t.Errorf("%v", err)
	}
}

// Random schedules of several runs against one cap on a day: with retries, deaths and lost answers, spent and reserved never pass it.
func TestCapsAreNeverOvershot(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	const usd, calls, tokens = 20_000, 500, 40_000
	s := capped(t, &at, model.Cap{Name: "day", USD: usd, Calls: calls, Tokens: tokens})
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 5))
			for i := range 400 {
				b := model.Booking{Key: fmt.Sprintf("%d/%d", w, r.IntN(300)), RunID: fmt.Sprint("run", r.IntN(5)), Stage: "judge", Ref: model.Ref{Provider: "openai"}, Reserve: model.NanoUSD(1 + r.IntN(100)), Tokens: 1 + r.IntN(200), Budget: 1e9}
				got, err := s.Reserve(t.Context(), b)
				switch {
				case errors.Is(err, model.ErrBudget) || errors.Is(err, model.ErrCalls) || got.Reply != nil:
					continue
				case err != nil:
					t.Errorf("%d: %v", i, err)
					return
				}
				switch r.IntN(4) {
				case 0:
				case 1:
					err = s.Release(t.Context(), b.Key, got.Attempt, r.IntN(2) == 0, "failed")
				default:
					err = s.Settle(t.Context(), b.Key, got.Attempt, model.NanoUSD(r.Int64N(int64(b.Reserve)+1)), model.Reply{Text: "x", Usage: model.Usage{Input: r.IntN(b.Tokens + 1)}})
				}
				if err != nil {
					t.Errorf("%d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
	var spent, n, tok int64
	must(t, s.read.QueryRow(`SELECT sum(CASE state WHEN 'reserved' THEN reserved ELSE spent END), count(CASE WHEN state <> 'released' THEN 1 END), sum(CASE WHEN state IN ('reserved', 'unknown') THEN max(reserved_tokens, input + output) WHEN state = 'settled' THEN input + output ELSE 0 END) FROM calls`).Scan(&spent, &n, &tok))
	if spent > usd || n > calls || tok > tokens {
		t.Errorf("%d of %d, %d of %d calls, %d of %d tokens", spent, usd, n, calls, tok, tokens)
	}
	if n < calls*8/10 && spent < usd*8/10 && tok < tokens*8/10 {
		t.Errorf("the caps were not reached: %d, %d calls, %d tokens", spent, n, tok)
	}
}

func TestACapOfZeroAllowsNothing(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for what, c := range map[string]model.Cap{"dollars": {Name: "day", Calls: -1, Tokens: -1}, "calls": {Name: "day", USD: -1, Tokens: -1}, "tokens": {Name: "day", USD: -1, Calls: -1}} {
		s := capped(t, &at, c)
		_, err := s.Reserve(t.Context(), model.Booking{Key: "k", RunID: "r", Stage: "judge", Ref: model.Ref{Provider: "openai"}, Reserve: 5, Tokens: 5, Budget: 1000})
		var e *model.CapError
		if !errors.As(err, &e) || e.What != what {
			t.Errorf("%s: %v", what, err)
		}
	}
}
