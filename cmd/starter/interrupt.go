package main

import (
	"context"
	"io"
)

// interruptible lets a person end a command that waits for standard input: a read that blocks is left behind when the
// context ends.
type interruptible struct {
	ctx context.Context //nolint:containedctx // an io.Reader has no other way to be told
	in  io.Reader
}

// Read reads, or gives up when the context ends.
func (r *interruptible) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	buf := make([]byte, len(p))
	done := make(chan result, 1)
	go func() {
		n, err := r.in.Read(buf)
		done <- result{n, err}
	}()
	select {
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	case x := <-done:
		copy(p, buf[:x.n])
		return x.n, x.err
	}
}
