//go:build unix

package project

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// inode is a key that stays when a folder is moved within its file system. The time of a file that git writes once is part of
// it, since numbers of deleted folders are used again.
func inode(dir string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	born := int64(0)
	if d, err := os.Stat(filepath.Join(dir, "description")); err == nil {
		born = d.ModTime().UnixNano()
	}
	return key("inode", fmt.Sprintf("%d:%d:%d", st.Dev, st.Ino, born))
}
