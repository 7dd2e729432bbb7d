package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"whetstone/model"
)

func book(key string, reserve, budget model.NanoUSD) model.Booking {
	return model.Booking{Key: key, RunID: "r", Stage: "judge", Ref: model.Ref{Provider: "openai", Model: "m"}, Reserve: reserve, Budget: budget}
}

func TestASettledCallIsAnsweredFromTheLedger(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	b, err := s.Reserve(ctx, book("k", 100, 1000))
	must(t, err)
	must(t, s.Settle(ctx, "k", b.Attempt, 70, model.Reply{Text: "answer", Finish: "stop", Usage: model.Usage{Input: 3, Output: 4}}))
	again, err := s.Reserve(ctx, book("k", 100, 0)) // even without any budget left
	must(t, err)
	if again.Reply == nil || again.Reply.Text != "answer" || again.Reply.Usage.Output != 4 {
		t.Fatalf("%+v", again)
	}
	spent, calls, err := s.Spent(ctx, "r")
	must(t, err)
	if spent != 70 || calls != 1 {
		t.Errorf("spent %d in %d calls", spent, calls)
	}
}

func TestAReservationOfADeadProcessCountsAsSpent(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	_, err := s.Reserve(ctx, book("k", 100, 150))
	must(t, err)
	// The process died; the same call is asked for again.
	if _, err := s.Reserve(ctx, book("k", 100, 150)); !errors.Is(err, model.ErrBudget) {
		t.Fatalf("the unknown outcome does not count: %v", err)
	}
	b, err := s.Reserve(ctx, book("k", 100, 250))
	must(t, err)
	if b.Attempt != 2 || b.Reply != nil {
		t.Errorf("%+v", b)
	}
	stages, err := s.SpendByStage(ctx, "r")
	must(t, err)
	if len(stages) != 1 || stages[0].Unknown != 1 || stages[0].NanoUSD != 200 {
		t.Errorf("%+v", stages)
	}
	// The first attempt's answer comes in late after all: it is booked for what it took.
	must(t, s.Settle(ctx, "k", 1, 60, model.Reply{Text: "late"}))
	if spent, _, _ := s.Spent(ctx, "r"); spent != 160 {
		t.Errorf("spent %d", spent)
	}
}

func TestReleasedCallsCostNothingUnlessTheyMayHave(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	b, err := s.Reserve(ctx, book("a", 100, 1000))
	must(t, err)
	must(t, s.Release(ctx, "a", b.Attempt, false, "429"))
	b, err = s.Reserve(ctx, book("b", 100, 1000))
	must(t, err)
	must(t, s.Release(ctx, "b", b.Attempt, true, "timeout"))
	spent, calls, err := s.Spent(ctx, "r")
	must(t, err)
	if spent != 100 || calls != 1 {
		t.Errorf("spent %d in %d calls", spent, calls)
	}
}

func TestTheNumberOfCallsIsCapped(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	for i := range 3 {
		b := book(fmt.Sprint(i), 0, 0)
		b.Calls = 2
		_, err := s.Reserve(ctx, b)
		if (i < 2) != (err == nil) || (i == 2 && !errors.Is(err, model.ErrCalls)) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

// Over 10,000 random schedules with concurrency, retries, lost answers and restarts: spent and reserved never pass the
// budget, and no call is settled twice.
func TestTheLedgerNeverOvershoots(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.db")
	s, err := Open(t.Context(), Options{Path: path})
	must(t, err)
	defer func() { _ = s.Close() }()
	ctx := t.Context()
	schedules := 10_000
	if testing.Short() || raced {
		schedules = 500 // all 10,000 run without the detector, in `make test` and `make check`
	}
	rng := rand.New(rand.NewPCG(11, 13))
	type plan struct {
		run    string
		budget model.NanoUSD
		seed   uint64
	}
	work := make(chan plan)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for p := range work {
				r := rand.New(rand.NewPCG(p.seed, 1))
				for range 3 + r.IntN(6) {
					b := model.Booking{Key: fmt.Sprintf("%s/%d", p.run, r.IntN(4)), RunID: p.run, Stage: "judge", Reserve: model.NanoUSD(1 + r.IntN(100)), Budget: p.budget}
					got, err := s.Reserve(ctx, b)
					switch {
					case errors.Is(err, model.ErrBudget):
					case err != nil:
						t.Errorf("reserve: %v", err)
					case got.Reply != nil:
					default:
						switch r.IntN(4) {
						case 0: // the process dies: nothing more is heard of it
						case 1:
							err = s.Release(ctx, b.Key, got.Attempt, r.IntN(2) == 0, "failed")
						default:
							// A provider that honours max tokens never costs more than was reserved.
							err = s.Settle(ctx, b.Key, got.Attempt, model.NanoUSD(r.Int64N(int64(b.Reserve)+1)), model.Reply{Text: "x"})
						}
						if err != nil {
							t.Errorf("book: %v", err)
						}
					}
					if spent, _, err := s.Spent(ctx, p.run); err != nil || spent > p.budget {
						t.Errorf("run %s: spent and reserved %d of %d (%v)", p.run, spent, p.budget, err)
					}
				}
			}
		})
	}
	// Two schedules share a run, so that they race for one budget.
	for i := range schedules {
		work <- plan{fmt.Sprintf("run-%d", i/2), model.NanoUSD(50 + (i/2*37)%200), rng.Uint64()}
	}
	close(work)
	wg.Wait()
	for i := 0; i < schedules/2; i += 97 {
		if twice, err := s.DoublePaid(ctx, fmt.Sprintf("run-%d", i)); err != nil || len(twice) > 0 {
			t.Errorf("settled twice: %v (%v)", twice, err)
		}
	}
}
