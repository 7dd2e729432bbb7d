package validation

// Word is what screening says of a part of a refused bundle.
type Word string

// The words of screening. Dropping tells that nothing more is to be learnt of the part's edits, as in an outage; a single edit
// that is to be divided is dropped.
const (
	KeepPart   Word = "keep"
	DividePart Word = "divide"
	DropPart   Word = "drop"
)

// Halve finds the parts of a refused bundle that are worth keeping: it screens both halves, and halves a part that is to be
// divided again, down to single edits. The bundle itself is not screened, its look has refused it. What is kept comes in the
// order of keys. It fails where screen does.
func Halve(keys []string, screen func(part []string) (Word, error)) (kept []string, err error) {
	if len(keys) < 2 {
		return nil, nil
	}
	half := len(keys) / 2
	for _, part := range [][]string{keys[:half], keys[half:]} {
		word, err := screen(part)
		if err != nil {
			return nil, err
		}
		good := part
		switch word {
		case KeepPart:
		case DividePart:
			if good, err = Halve(part, screen); err != nil {
				return nil, err
			}
		default:
			good = nil
		}
		kept = append(kept, good...)
	}
	return kept, nil
}

// goodSign is the share of the measured items that must have risen for the parts of a bundle to be worth a try, where the
// judge answers at random: of items that did not change, about one in seven rises by chance.
const goodSign = 0.25

// Divisible reports whether it is worth screening the parts of a bundle that a staged look refused: something in it was good. A
// bundle that moved nothing has no part that does.
func Divisible(d Decision, s []Sight) bool {
	rose, seen := 0, 0
	for _, x := range s {
		side := x.Main
		if d.Stage == StageTriage {
			side = x.Triage
		}
		if side[0].N == 0 || side[1].N == 0 {
			continue
		}
		seen++
		if side[1].Rate() > side[0].Rate() {
			rose++
		}
	}
	return seen > 0 && float64(rose) >= goodSign*float64(seen)
}
