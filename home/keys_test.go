package home

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestTheFileOfKeys(t *testing.T) {
	d := Dir(t.TempDir())
	if k, err := d.Keys(); err != nil || len(k) != 0 {
		t.Errorf("%v %v", k, err)
	}
	write := func(text string, mode os.FileMode) {
		t.Helper()
		_ = os.Remove(d.KeysFile())
		if err := os.WriteFile(d.KeysFile(), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("# mine\n\nOPENAI_API_KEY=sk-1\nexport B_KEY = \"two words\"\nC='x=y'\n", 0o600)
	k, err := d.Keys()
	if err != nil || k["OPENAI_API_KEY"] != "sk-1" || k["B_KEY"] != "two words" || k["C"] != "x=y" || len(k) != 3 {
		t.Errorf("%v %v", k, err)
	}
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604} {
		write("A=b\n", mode)
		if _, err := d.Keys(); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("%v: %v", mode, err)
		}
	}
	for _, bad := range []string{"sk-secret-without-a-name\n", "=sk-secret\n", "A B=sk-secret\n"} {
		write(bad, 0o600)
		if _, err := d.Keys(); !errors.Is(err, ErrConfig) || strings.Contains(err.Error(), "sk-secret") || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
