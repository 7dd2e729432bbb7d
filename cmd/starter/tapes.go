package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
)

// tapes are the flags of commands that ask models: to show what would be sent, to write down what is answered, to answer from that.
type tapes struct {
	show           bool
	record, replay string
}

func (t *tapes) flags(f *pflag.FlagSet) {
	f.BoolVar(&t.show, "show-prompts", false, "print what would be sent, and send nothing")
	f.StringVar(&t.record, "record", "", "folder to write down in what is answered, with the prompts")
	f.StringVar(&t.replay, "replay", "", "folder to answer from, as --record wrote it: nobody is asked and nothing is paid")
}

// folders checks the folders and makes their names absolute: a worker elsewhere on the machine has another working folder.
func (t *tapes) folders() (record, replay string, err error) {
	if t.record != "" && t.replay != "" {
		return "", "", usage("--record and --replay exclude each other")
	}
	for _, x := range []struct {
		flag, dir string
		to        *string
	}{{"--record", t.record, &record}, {"--replay", t.replay, &replay}} {
		if x.dir == "" {
			continue
		}
		if *x.to, err = filepath.Abs(x.dir); err != nil {
			return "", "", usage("%s %s: %v", x.flag, x.dir, err)
		}
	}
	if t.show {
		return "", "", nil // nothing is sent, so nothing is answered
	}
	if record != "" {
		if err := writable(record); err != nil {
			return "", "", usage("--record %s: %v", t.record, err)
		}
	}
	if replay != "" {
		if info, err := os.Stat(replay); err != nil || !info.IsDir() {
			return "", "", usage("--replay %s: no such folder", t.replay)
		}
	}
	return record, replay, nil
}
