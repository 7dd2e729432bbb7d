package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// local reports whether name is a file inside of a folder, on every system.
func local(name string) bool {
	return filepath.IsLocal(name) && path.Clean(name) != "." && !strings.ContainsAny(name, "\\\x00:") && !strings.HasSuffix(name, "/")
}

func writeFiles(dir string, files map[string]string) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open the command's folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	for name, text := range files {
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
			return fmt.Errorf("make the folder of %s: %w", name, err)
		}
		if err := root.WriteFile(name, []byte(text), 0o600); err != nil {
			return fmt.Errorf("write %s for the command: %w", name, err)
		}
	}
	return nil
}

// remove deletes a folder, also one in which the command took the permission to write away, as package managers do.
func remove(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	// WalkDir does not follow links, and Chmod is called on folders only: nothing outside is touched.
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
			if err != nil { // it could not be read before: what is in it needs the same
				_ = filepath.WalkDir(path, func(below string, d fs.DirEntry, _ error) error {
					if d != nil && d.IsDir() {
						_ = os.Chmod(below, 0o700)
					}
					return nil
				})
			}
		}
		return nil
	})
	return os.RemoveAll(dir)
}
