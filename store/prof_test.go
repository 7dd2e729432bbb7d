package store

import (
	"context"
	"fmt"
	"os/exec"
	"testing"
	"time"
)

func TestProf(t *testing.T) {
	ctx := context.Background()
	exec.Command("sh", "-c", "rm -rf /tmp/prof2; cp -r /tmp/prof /tmp/prof2").Run()
	for i := range 8 {
		t0 := time.Now()
		s, err := Open(ctx, Options{Path: "/tmp/prof2/data.db"})
		if err != nil {
			t.Fatal(err)
		}
		t1 := time.Now()
		var id string
		s.read.QueryRow(`SELECT id FROM learnings LIMIT 1 OFFSET ?`, i*7).Scan(&id)
		t2 := time.Now()
		if _, _, err := s.Take(ctx, Effect{Event: fmt.Sprint("e", i), Session: "s", Tell: []string{id}}); err != nil {
			t.Fatal(err)
		}
		t3 := time.Now()
		s.OwedNow(ctx)
		t4 := time.Now()
		s.Close()
		t5 := time.Now()
		fmt.Println("open", t1.Sub(t0), "first read", t2.Sub(t1), "take", t3.Sub(t2), "owed", t4.Sub(t3), "close", t5.Sub(t4))
	}
}
