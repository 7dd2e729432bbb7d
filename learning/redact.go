package learning

import (
	"math"
	"regexp"
	"strings"
)

type pattern struct {
	kind string
	re   *regexp.Regexp
	// group is the submatch that holds the secret; the rest of the match stays. 0 is all of it.
	group int
	// accept decides on shapes that also fit harmless text; nil takes every match.
	accept func(secret string) bool
}

// The shapes follow the vendors' published token formats.
var patterns = []pattern{
	{kind: "private-key", re: regexp.MustCompile(`(?s)-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)`)},
	{kind: "anthropic-key", re: regexp.MustCompile(`\bsk-ant-[A-Za-z0-9_-]{16,}`)},
	{kind: "openai-key", re: regexp.MustCompile(`\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}`), accept: mixed},
	{kind: "github-token", re: regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})`)},
	{kind: "gitlab-token", re: regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{18,}`)},
	{kind: "slack-token", re: regexp.MustCompile(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`)},
	{kind: "slack-webhook", re: regexp.MustCompile(`https://hooks\.slack\.com/services/[A-Za-z0-9/_-]{20,}`)},
	{kind: "aws-key", re: regexp.MustCompile(`\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b`)},
	{kind: "google-key", re: regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{33,}`)},
	{kind: "google-oauth", re: regexp.MustCompile(`\b(?:ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})`)},
	{kind: "stripe-key", re: regexp.MustCompile(`\b(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,}`)},
	{kind: "npm-token", re: regexp.MustCompile(`\bnpm_[A-Za-z0-9]{30,}`)},
	{kind: "pypi-token", re: regexp.MustCompile(`\bpypi-[A-Za-z0-9_-]{40,}`)},
	{kind: "hf-token", re: regexp.MustCompile(`\bhf_[A-Za-z0-9]{30,}`)},
	{kind: "groq-key", re: regexp.MustCompile(`\bgsk_[A-Za-z0-9]{30,}`)},
	{kind: "sendgrid-key", re: regexp.MustCompile(`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`)},
	{kind: "digitalocean-token", re: regexp.MustCompile(`\bdo[opr]_v1_[a-f0-9]{40,}`)},
	{kind: "azure-key", re: regexp.MustCompile(`(?i)\b(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{20,}={0,2})`), group: 1},
	{kind: "jwt", re: regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`)},
	{kind: "connection-string", re: regexp.MustCompile(`\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s:/@'"]*:([^\s@'"]+)@[^\s'"]+`), group: 1, accept: notPlaceholder},
	{kind: "authorization", re: regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/-]{20,}=*)`), group: 1, accept: mixed},
	{kind: "assignment", re: regexp.MustCompile(`(?i)\b[a-z0-9_.-]*(?:password|passwd|passwort|pwd|passphrase|secret|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key|client[_-]?secret|credential)[a-z0-9_]*["']?\s*(?::=|=>|[:=])\s*["'` + "`" + `]([^"'` + "`" + `\s]{8,})["'` + "`" + `]`), group: 1, accept: secretLike},
	{kind: "assignment", re: regexp.MustCompile(`(?i)\b[a-z0-9_.-]*(?:password|passwd|passwort|pwd|passphrase|secret|token|api[_-]?key|apikey|access[_-]?key|client[_-]?secret)[a-z0-9_]*(?:\s*[:=]\s*|\s+(?:is|ist|was)\s+)([^\s"'` + "`" + `,;)\]}]{8,})`), group: 1, accept: strongSecret},
}

// Redact replaces secrets by "[redacted:kind]" and counts them by kind. Shapes come first (keys and tokens of known
// vendors, private keys, connection strings with passwords), then assignments of values that look random. It is
// idempotent.
func Redact(s string) (string, map[string]int) {
	var counts map[string]int
	for _, p := range patterns {
		s = p.apply(s, func() {
			if counts == nil {
				counts = map[string]int{}
			}
			counts[p.kind]++
		})
	}
	return s, counts
}

func (p *pattern) apply(s string, hit func()) string {
	matches := p.re.FindAllStringSubmatchIndex(s, -1)
	if matches == nil {
		return s
	}
	var b strings.Builder
	last := 0
	for _, m := range matches {
		start, end := m[2*p.group], m[2*p.group+1]
		secret := s[start:end]
		if strings.HasPrefix(secret, "[redacted:") || (p.accept != nil && !p.accept(secret)) {
			continue
		}
		b.WriteString(s[last:start])
		b.WriteString("[redacted:" + p.kind + "]")
		last = end
		hit()
	}
	b.WriteString(s[last:])
	return b.String()
}

// mixed tells a random token from a hyphenated name such as sk-learn-compatible-estimator-names.
func mixed(s string) bool {
	return strings.ContainsAny(s, "0123456789") && (entropy(s) >= 3 || len(s) >= 32)
}

func notPlaceholder(s string) bool {
	return !strings.ContainsAny(s, "<>${}*") && !strings.EqualFold(s, "password") && !strings.EqualFold(s, "pass")
}

func secretLike(s string) bool {
	if !notPlaceholder(s) || strings.Contains(s, "os.Getenv") || strings.Contains(s, "(") {
		return false
	}
	digit := strings.ContainsAny(s, "0123456789")
	symbol := strings.ContainsAny(s, "!@#%^&+=/~-_.")
	return entropy(s) >= 3 && digit || (entropy(s) >= 3.2 && symbol && len(s) >= 16)
}

// strongSecret asks more of a value without quotes, where ordinary words may follow: letters, digits and a symbol or mixed
// case.
func strongSecret(s string) bool {
	digit := strings.ContainsAny(s, "0123456789")
	upper, lower := strings.ToLower(s) != s, strings.ToUpper(s) != s
	symbol := strings.ContainsAny(s, "!@#%^&+=~")
	return secretLike(s) && digit && lower && (upper || symbol || len(s) >= 20)
}

// entropy is the Shannon entropy of the bytes of s, in bits a byte.
func entropy(s string) float64 {
	if s == "" {
		return 0
	}
	var n [256]int
	for i := range len(s) {
		n[s[i]]++
	}
	var h float64
	for _, c := range n {
		if c > 0 {
			p := float64(c) / float64(len(s))
			h -= p * math.Log2(p)
		}
	}
	return h
}
