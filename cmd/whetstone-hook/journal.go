package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"whetstone/learning"
)

// journal notes troubles for a person to find. It holds no text of the conversation.
type journal struct {
	path string
	now  func() time.Time
}

const maxJournal = 256 << 10

func (j *journal) note(format string, args ...any) {
	if info, err := os.Stat(j.path); err == nil && info.Size() > maxJournal {
		_ = os.Rename(j.path, j.path+".old")
	}
	f, err := os.OpenFile(j.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	text, _ := learning.Redact(fmt.Sprintf(format, args...)) // an error may quote what it failed on
	_, _ = fmt.Fprintf(f, "%s %s\n", time.Now().UTC().Format(time.RFC3339), text)
}

// version is this build's: of two binaries of one version and one source, it is the same.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}
