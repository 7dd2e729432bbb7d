package fetch

import (
	"strconv"
	"strings"
	"sync"
	"time"
)

// robotsAge is how long a robots.txt is relied on (RFC 9309, 2.4: at most a day).
const robotsAge = 24 * time.Hour

// product is the token by which robots.txt files address us.
const product = "whetstone"

// allowed applies a robots.txt to a path with its query, by RFC 9309: the groups of the crawler's own name are joined, or
// those for everybody where it has none; the longest matching rule decides, and of two equally long ones the one that
// allows.
func allowed(robots, agent, path string) bool {
	p := normalisePath(path)
	if p == "/robots.txt" {
		return true
	}
	best, allow := -1, true
	for _, r := range rulesFor(robots, agent) {
		if r.pattern == "" || !matches(r.pattern, p) {
			continue
		}
		if n := len(r.pattern); n > best || n == best && r.allow {
			best, allow = n, r.allow
		}
	}
	return allow
}

type robotsRule struct {
	pattern string
	allow   bool
}

// maxRobots is how much of a file is read (RFC 9309, 2.5: at least 500 KiB).
const maxRobots = 512 << 10

func rulesFor(robots, agent string) []robotsRule {
	if len(robots) > maxRobots {
		robots = robots[:maxRobots]
	}
	robots = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(robots, "\ufeff"))
	var own, everybody []robotsRule
	named := false                  // a group has our name
	var forUs, forAll, inRules bool // of the group that is being read
	for _, line := range strings.Split(robots, "\n") {
		line, _, _ = strings.Cut(line, "#")
		field, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(field)) {
		case "user-agent":
			if inRules {
				forUs, forAll, inRules = false, false, false
			}
			if value == "*" {
				forAll = true
			} else if strings.EqualFold(productToken(value), agent) {
				forUs, named = true, true
			}
		case "allow", "disallow":
			inRules = true
			r := robotsRule{normalisePattern(value), strings.EqualFold(strings.TrimSpace(field), "allow")}
			if forUs {
				own = append(own, r)
			}
			if forAll {
				everybody = append(everybody, r)
			}
		}
	}
	if named {
		return own
	}
	return everybody
}

// productToken is the leading part of a value that can be a product's name: "whetstone/1.0" names whetstone.
func productToken(v string) string {
	i := strings.IndexFunc(v, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_')
	})
	if i < 0 {
		return v
	}
	return v[:i]
}

// matches reports whether a pattern, in which * stands for anything and a last $ for the end, is a prefix of the path.
func matches(pattern, path string) bool {
	anchored := strings.HasSuffix(pattern, "$")
	pattern = strings.TrimSuffix(pattern, "$")
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(path, parts[0]) {
		return false
	}
	pos := len(parts[0])
	for i, part := range parts[1:] {
		if last := i == len(parts)-2; last && anchored {
			return len(path)-pos >= len(part) && strings.HasSuffix(path, part)
		}
		k := strings.Index(path[pos:], part)
		if k < 0 {
			return false
		}
		pos += k + len(part)
	}
	return !anchored || pos == len(path)
}

// normalisePath writes a path so that equal ones compare equal: unreserved characters plain, all that is not ASCII
// escaped, escapes in capitals; the signs that patterns give a meaning to are escaped.
func normalisePath(p string) string {
	p, _, _ = strings.Cut(p, "#")
	if p == "" || p[0] != '/' {
		p = "/" + p
	}
	return normalise(p, true)
}

func normalisePattern(p string) string { return normalise(p, false) }

func normalise(s string, path bool) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	query := false // reserved characters of a query compare in their escaped form (RFC 9309, 2.2.2, table)
	for i := 0; i < len(s); i++ {
		c := s[i]
		escaped := false
		if c == '%' && i+2 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				c, escaped = byte(v), true
				i += 2
			}
		}
		unreserved := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
		switch {
		case query && strings.IndexByte(":/?[]@", c) >= 0:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		case unreserved, !escaped && c > ' ' && c < 0x7f && !(path && (c == '*' || c == '$')):
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
		query = query || c == '?' && !escaped
	}
	return b.String()
}

type robotsCache struct {
	mu   sync.Mutex
	now  func() time.Time
	byAt map[string]robotsEntry
}

type robotsEntry struct {
	text string
	deny bool // the server failed: everything is disallowed for now (RFC 9309, 2.3.1.4)
	at   time.Time
}

func newRobotsCache(now func() time.Time) *robotsCache {
	return &robotsCache{now: now, byAt: map[string]robotsEntry{}}
}

func (c *robotsCache) get(origin string) (robotsEntry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byAt[origin]
	return e, ok && c.now().Sub(e.at) < robotsAge
}

func (c *robotsCache) put(origin string, e robotsEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.at = c.now()
	c.byAt[origin] = e
}
