package spool

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"whetstone/learning"
)

func capture(rule string) learning.Record {
	return learning.Record{Captures: []learning.Capture{{Event: rule, Learning: learning.Learning{Category: "c", Rule: rule}}}}
}

func TestWhatIsWrittenIsDrainedOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	for _, r := range []string{"a", "b", "c"} {
		if err := Write(dir, capture(r)); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]int{}
	take := func(r learning.Record) error {
		for _, c := range r.Captures {
			got[c.Learning.Rule]++
		}
		return nil
	}
	if n, err := Drain(dir, 2, take); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := Drain(dir, 10, take); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if len(got) != 3 || got["a"] != 1 {
		t.Errorf("%v", got)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestAFailureKeepsTheFile(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, capture("a")); err != nil {
		t.Fatal(err)
	}
	busy := errors.New("busy")
	if _, err := Drain(dir, 10, func(learning.Record) error { return busy }); !errors.Is(err, busy) {
		t.Errorf("%v", err)
	}
	if n, err := Drain(dir, 10, func(learning.Record) error { return nil }); n != 1 || err != nil {
		t.Errorf("it was lost: %d, %v", n, err)
	}
}

func TestABrokenFileIsSetAsideAndStopsNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "0.json"), []byte("{half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "1.tmp"), []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, capture("a")); err != nil {
		t.Fatal(err)
	}
	if n, err := Drain(dir, 10, func(learning.Record) error { return nil }); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "0.bad")); err != nil {
		t.Error("the broken file is gone")
	}
	if n, err := Drain(filepath.Join(dir, "none"), 1, nil); n != 0 || err != nil {
		t.Errorf("a spool that is not there: %d, %v", n, err)
	}
}
