package words

import (
	"sync"

	"github.com/kljensen/snowball/english"
)

// stems remembers what was stemmed: a text holds few different words, and they come again and again.
var stems = struct {
	sync.RWMutex
	of map[string]string
}{of: map[string]string{}}

const maxStems = 1 << 14

func stem(w string) string {
	stems.RLock()
	s, ok := stems.of[w]
	stems.RUnlock()
	if ok {
		return s
	}
	s = english.Stem(w, false)
	stems.Lock()
	if len(stems.of) < maxStems {
		stems.of[w] = s
	}
	stems.Unlock()
	return s
}
