package validation

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestHalvingKeepsAllButTheBadEdit(t *testing.T) {
	for n := 2; n <= 9; n++ {
		keys := strings.Split("abcdefghi"[:n], "")
		for _, bad := range keys {
			asked := 0
			kept, err := Halve(keys, func(part []string) (Word, error) {
				asked++
				if slices.Contains(part, bad) {
					return DividePart, nil
				}
				return KeepPart, nil
			})
			want := slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return k == bad })
			if err != nil || !slices.Equal(kept, want) || asked > 2*n-2 {
				t.Errorf("%v without %s: %v, %v, after %d questions", keys, bad, kept, err, asked)
			}
		}
	}
}

func TestAPartThatIsDroppedIsNotDivided(t *testing.T) {
	var asked []string
	kept, err := Halve([]string{"a", "b", "c", "d"}, func(part []string) (Word, error) {
		asked = append(asked, strings.Join(part, ""))
		if len(asked) == 1 {
			return DropPart, nil
		}
		return KeepPart, nil
	})
	if err != nil || strings.Join(kept, "") != "cd" || strings.Join(asked, " ") != "ab cd" {
		t.Errorf("%v %v %v", kept, asked, err)
	}
	broken := errors.New("broken")
	if _, err := Halve([]string{"a", "b"}, func([]string) (Word, error) { return "", broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// marks is one verdict for each letter, p or f, a row for each trial.
func marks(trials ...string) Measured {
	var m Measured
	for i := range trials[0] {
		m.Items = append(m.Items, Item{ID: string(rune('a' + i)), Weight: 1})
	}
	for n, row := range trials {
		for i, c := range row {
			v := Verdict{Item: m.Items[i].ID, Trial: n, State: Fail}
			if c == 'p' {
				v.State = Pass
			}
			if c == '?' {
				v.State = Missing
			}
			m.Verdicts = append(m.Verdicts, v)
		}
	}
	return m
}

func TestCreditAsksForMoreWhereASingleEditIsNotClear(t *testing.T) {
	for name, c := range map[string]struct {
		parent, part Measured
		fell         map[string]bool
		single       bool
		trials       int
		want         Credited
	}{
		"a clear gain":                                 {marks("ffff"), marks("ppff"), nil, true, 1, Credited{Keep: true, Gain: 2}},
		"a clear loss":                                 {marks("pppp"), marks("ffff"), nil, true, 1, Credited{Harmful: true, Gain: -4}},
		"not clear yet":                                {marks("pfff"), marks("fpff"), nil, true, 1, Credited{More: true}},
		"in doubt at the end, for the edit":            {marks("pfff"), marks("fpff"), nil, true, creditTrials, Credited{Keep: true}},
		"a small loss at the end":                      {marks("ppff"), marks("ffpf"), nil, true, creditTrials, Credited{Gain: -1}},
		"several edits are kept for a clear gain only": {marks("ffff"), marks("ppff"), nil, false, 1, Credited{Gain: 2}},
		"and for one":                                  {marks("ffff"), marks("pppf"), nil, false, 1, Credited{Keep: true, Gain: 3}},
		"what fell under the bundle falls again":       {marks("pffff"), marks("fpppp"), map[string]bool{"a": true}, false, 1, Credited{Gain: 3}},
		"by less than the veto asks for":               {marks("pffff", "pffff"), marks("fpppp", "ppppp"), map[string]bool{"a": true}, true, 1, Credited{Keep: true, Gain: 3.5}},
		"nothing has changed":                          {marks("pf"), marks("pf"), nil, true, 1, Credited{}},
		"a verdict is missing":                         {marks("ffff"), marks("ppp?"), nil, true, 1, Credited{}},
	} {
		if got := Credit(c.parent, c.part, c.fell, c.single, c.trials, creditTrials); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Every part of a bundle of four measured to its end stays within twice a plain look, whatever share of the items is screened.
func TestABundleOfFourStaysWithinTwiceAPlainLook(t *testing.T) {
	for held := 4; held < 80; held++ {
		for screened := 1; screened <= held; screened++ {
			for trials := 2; trials <= 5; trials++ {
				n := CreditTrials(screened, held, trials)
				if cost, plain := (2+4*n+n)*screened, 2*trials*held; cost > 2*plain || n < 1 || n > creditTrials {
					t.Fatalf("%d of %d items, %d trials: %d for each edit cost %d, a plain look %d", screened, held, trials, n, cost, plain)
				}
			}
		}
	}
	// Few items leave room for all of them.
	if CreditTrials(20, 48, 3) != creditTrials || CreditTrials(48, 48, 3) != 2 || CreditTrials(48, 48, 1) != 1 {
		t.Errorf("%d, %d, %d", CreditTrials(20, 48, 3), CreditTrials(48, 48, 3), CreditTrials(48, 48, 1))
	}
}
