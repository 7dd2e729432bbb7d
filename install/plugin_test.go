package install

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"whetstone/hook/host"
	"whetstone/skill"
)

const pluginDir = "../plugin"

func pluginJSON(t *testing.T, name string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(get(t, filepath.Join(pluginDir, name))), v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestThePluginRegistersWhatInstallRegisters(t *testing.T) {
	var file struct {
		Hooks map[string][]struct {
			Matcher string
			Hooks   []struct {
				Type, Command string
				Args          []string
				Timeout       int
			}
		}
	}
	pluginJSON(t, "hooks/hooks.json", &file)
	want := map[string]int{}
	for _, e := range plain[host.Claude] {
		want[e.event] = e.seconds
	}
	for event, groups := range file.Hooks {
		if len(groups) != 1 || len(groups[0].Hooks) != 1 || groups[0].Matcher != "" {
			t.Fatalf("%s: %+v", event, groups)
		}
		h := groups[0].Hooks[0]
		if h.Type != "command" || h.Command != "whetstone-hook" || !slices.Equal(h.Args, []string{"--plugin"}) || h.Timeout != want[event] {
			t.Errorf("%s: %+v, want a timeout of %d", event, h, want[event])
		}
		delete(want, event)
	}
	if len(want) > 0 {
		t.Errorf("not registered: %v", want)
	}
}

func TestThePluginsManifestsAreWhole(t *testing.T) {
	var m struct{ Name, Version, Description string }
	pluginJSON(t, ".claude-plugin/plugin.json", &m)
	var market struct {
		Name    string
		Owner   struct{ Name string }
		Plugins []struct{ Name, Source string }
	}
	pluginJSON(t, ".claude-plugin/marketplace.json", &market)
	if m.Name != "whetstone" || m.Version == "" || m.Description == "" || market.Owner.Name == "" || len(market.Plugins) != 1 || market.Plugins[0].Name != m.Name {
		t.Errorf("%+v %+v", m, market)
	}
	if _, err := os.Stat(filepath.Join(pluginDir, market.Plugins[0].Source, ".claude-plugin", "plugin.json")); err != nil {
		t.Error(err)
	}
}

func TestThePluginsSkillsAndCommandsAreValid(t *testing.T) {
	skills, err := filepath.Glob(filepath.Join(pluginDir, "skills", "*", "SKILL.md"))
	if err != nil || len(skills) != 2 {
		t.Fatalf("%v %v", skills, err)
	}
	for _, p := range skills {
		d, err := skill.Parse([]byte(get(t, p)), skill.Options{})
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		if d.Name != filepath.Base(filepath.Dir(p)) {
			t.Errorf("%s calls itself %q", p, d.Name)
		}
	}
	commands, err := filepath.Glob(filepath.Join(pluginDir, "commands", "*.md"))
	if err != nil || len(commands) < 3 {
		t.Fatalf("%v %v", commands, err)
	}
	for _, p := range commands {
		front, _, ok := strings.Cut(strings.TrimPrefix(get(t, p), "---\n"), "\n---\n")
		var f struct {
			Description string `yaml:"description"`
			Argument    string `yaml:"argument-hint"`
			Tools       string `yaml:"allowed-tools"`
		}
		if err := yaml.UnmarshalWithOptions([]byte(front), &f, yaml.Strict()); !ok || err != nil || f.Description == "" {
			t.Errorf("%s: %v %+v", p, err, f)
		}
	}
}

func TestThePluginsCopyStandsBackOnlyWhereThatIsCertain(t *testing.T) {
	o := machine(t, host.Claude)
	path := Path(o)
	if Registered([]string{path}, "Stop", false) {
		t.Error("nothing is registered")
	}
	if _, err := Install(o); err != nil {
		t.Fatal(err)
	}
	if !Registered([]string{"/nowhere.json", path}, "Stop", false) || Registered([]string{path}, "Notification", false) || Registered([]string{path}, "PreToolUse", true) {
		t.Error("Stop is registered, and neither Notification nor a guard is")
	}
	text := get(t, path)
	put(t, path, "{"+text)
	if Registered([]string{path}, "Stop", false) {
		t.Error("a file that can not be read is not certain")
	}
	put(t, path, text)
	put(t, path, strings.Replace(text, "{", `{"disableAllHooks": true,`, 1))
	if Registered([]string{path}, "Stop", false) {
		t.Error("the settings have their hooks switched off")
	}
	put(t, path, text)
	if err := os.Remove(o.Binary); err != nil {
		t.Fatal(err)
	}
	if Registered([]string{path}, "Stop", false) {
		t.Error("what is registered is not there")
	}
}
