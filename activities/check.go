package activities

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"whetstone/skill"
	"whetstone/validation"
)

// Commands is the port to the sandbox in which items of kind command run.
type Commands interface {
	// Check runs a command in a folder of its own that holds the files, without a network, and reports whether it ended
	// with 0. why is for a person. An error says that it could not be run at all, which is no verdict.
	Check(ctx context.Context, command []string, files map[string]string, timeout time.Duration) (passed bool, why string, err error)
	// Available tells why commands can not be run on this machine.
	Available() error
}

// byKind parts items that need no judge from those that a model judges.
func byKind(items []validation.Item) (fixed, judged []validation.Item) {
	for _, it := range items {
		if validation.Deterministic(it) {
			fixed = append(fixed, it)
		} else {
			judged = append(judged, it)
		}
	}
	return fixed, judged
}

// check decides items that need no judge: about the skill's body, or in mode rollout about the answer.
func (a *Activities) check(ctx context.Context, m measuring, s subject, items []validation.Item, trial int) ([]validation.Verdict, error) {
	out := make([]validation.Verdict, len(items))
	for i, it := range items {
		text, file := s.body, map[string]string{"SKILL.md": s.text}
		if s.answers != nil {
			text, file = s.answers[it.ID], map[string]string{"answer.md": s.answers[it.ID]}
		}
		v := validation.Verdict{Item: it.ID, Trial: trial, Judge: it.Kind}
		if it.Kind == validation.KindCommand {
			if !m.job.Params.Commands || a.o.Commands == nil {
				return nil, InputError("item %s runs a command: allow it with --allow-commands", name(it))
			}
			if a.killed() {
				return nil, stopped{StopKillFile}
			}
			passed, why, err := a.o.Commands.Check(ctx, it.Command, file, time.Duration(it.TimeoutSec)*time.Second)
			if err != nil {
				return nil, InputError("run the command of item %s: %w", name(it), err)
			}
			v.State, v.Why = validation.Fail, why
			if passed {
				v.State = validation.Pass
			}
		} else {
			v.State, v.Why = validation.Check(it, text)
		}
		out[i] = v
	}
	return out, nil
}

// name is what a person knows an item by.
func name(it validation.Item) string {
	if it.Label != "" {
		return it.Label
	}
	return it.ID
}

// ItemsFile reads a file of items. All that is wrong with it comes back at once, as BadInput. hash is of what it held.
func ItemsFile(path string) (items []validation.Item, hash string, err error) {
	data, err := readBounded(path)
	if err != nil {
		return nil, "", InputError("read items: %w", err)
	}
	items, problems, err := validation.ReadItems(bytes.NewReader(data), path)
	if err != nil {
		return nil, "", InputError("%w", err)
	}
	if len(problems) > 0 {
		all := make([]error, 0, len(problems)+1)
		all = append(all, fmt.Errorf("read items: %d problem(s) in %s", len(problems), path))
		for _, p := range problems {
			all = append(all, fmt.Errorf("  %s:%s", path, p))
		}
		return nil, "", InputError("%w", errors.Join(all...))
	}
	return items, skill.Hash(string(data)), nil
}

// mostItems is the size an items file may have, in bytes; the reader of its form says so in words of its own.
const mostItems = 6 << 20

func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > mostItems:
		return nil, fmt.Errorf("%s has %d bytes, at most %d", path, info.Size(), mostItems)
	}
	return os.ReadFile(path)
}
