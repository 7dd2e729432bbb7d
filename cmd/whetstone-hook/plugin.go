package main

import (
	"path/filepath"

	"whetstone/hook"
	"whetstone/install"
)

// standsBack reports whether settings certainly register the hook for this event, so that the plugin's copy need not run. Where
// that is not certain both run: the event's identity in the store keeps the effect single.
func standsBack(e env, event hook.Event) bool {
	var paths []string
	if user := e.getenv("HOME"); user != "" {
		paths = append(paths, filepath.Join(user, ".claude", "settings.json"))
	}
	for _, dir := range []string{e.getenv("CLAUDE_PROJECT_DIR"), event.CWD} {
		if dir != "" {
			paths = append(paths, filepath.Join(dir, ".claude", "settings.json"), filepath.Join(dir, ".claude", "settings.local.json"))
		}
	}
	return install.Registered(paths, event.Name, false)
}
