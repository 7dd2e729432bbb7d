package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// ErrDiskFull is returned where the home's disk takes no more. The run stays open: with room again, the same command goes
// on with it.
var ErrDiskFull = errors.New("the disk is full")

// probeBytes is what must fit for a run to go on: less than that and the next page of a database may not.
const probeBytes = 64 << 10

// WithDisk ends the returned context when the home's disk is full: Temporal would retry for hours, and a person would
// look at a command that does nothing.
func (c *Connection) WithDisk(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		t := time.NewTicker(time.Second)
		defer t.Stop()
		for failures := 0; ; {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			if c.DiskFull() == nil {
				failures = 0
				continue
			}
			if failures++; failures == 2 {
				cancel()
				return
			}
		}
	}()
	return ctx, cancel
}

// DiskFull tries to write a little into the home, and returns ErrDiskFull if there is no room.
func (c *Connection) DiskFull() error {
	f, err := os.CreateTemp(string(c.s.Home), ".probe-*")
	if err == nil {
		_, err = f.Write(make([]byte, probeBytes))
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		_ = os.Remove(f.Name())
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w (%s): nothing is lost; free some space and start the same command again, it goes on with the run", ErrDiskFull, c.s.Home)
	}
	return nil
}
