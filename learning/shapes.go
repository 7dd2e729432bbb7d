package learning

import (
	"math"
	"regexp"
	"strings"

	"whetstone/internal/late"
)

// shape is what a kind of secret looks like.
type shape struct {
	kind string
	// need are words, in lower case, of which one occurs in every match: most texts hold none, and cost nothing then. Without
	// them the shape is looked for in texts that have a run of at least long characters without a space.
	need []string
	long int
	// near limits the search to the surroundings of need: for shapes that are slow to look for.
	near bool
	re   func() *regexp.Regexp
	// group is the submatch that holds the secret; the rest of the match stays. 0 is all of it.
	group int
	// accept decides on shapes that also fit harmless text; nil takes every match.
	accept func(secret string) bool
}

// names are what a variable, a field or an option that holds a secret is called.
const names = `(?:password|passwd|passwort|pwd|passphrase|secret|token|api[_-]?key|app[_-]?key|auth[_-]?key|signing[_-]?key|encryption[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key|credential)`

var named = []string{"password", "passwd", "passwort", "pwd", "passphrase", "secret", "token", "apikey", "api_key", "api-key", "appkey", "app_key", "app-key", "authkey", "auth_key", "auth-key", "signingkey", "signing_key", "signing-key", "encryptionkey", "encryption_key", "encryption-key", "accesskey", "access_key", "access-key", "privatekey", "private_key", "private-key", "accountkey", "account_key", "account-key", "credential"}

// The shapes of tokens follow their vendors' documentation. Shapes of vendors come before those that only a name gives away.
var shapes = []shape{
	{kind: "private-key", need: []string{"private key"}, re: late.Regexp(`(?s)-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)`)},
	{kind: "anthropic-key", need: []string{"sk-ant-"}, re: late.Regexp(`\bsk-ant-[A-Za-z0-9_-]{16,}`)},
	{kind: "openai-key", need: []string{"sk-"}, re: late.Regexp(`\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}`), accept: mixed},
	{kind: "github-token", need: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, re: late.Regexp(`\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})`)},
	{kind: "gitlab-token", need: []string{"glpat-", "glrt-", "gldt-", "glsoat-", "glptt-", "glcbt-", "glft-", "glimt-", "glagent-", "gloas-"}, re: late.Regexp(`\bgl(?:pat|rt|dt|soat|ptt|cbt|ft|imt|agent|oas)-[A-Za-z0-9_.-]{18,}`)},
	{kind: "slack-token", need: []string{"xox", "xapp-", "xoxe."}, re: late.Regexp(`\b(?:xox[abeoprs]-|xoxe\.xox[bp]-|xapp-)[A-Za-z0-9-]{10,}`)},
	{kind: "webhook", need: []string{"hooks.slack.com/"}, re: late.Regexp(`https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}`)},
	{kind: "webhook", need: []string{"/api/webhooks/"}, re: late.Regexp(`https://(?:[a-z]+\.)?discord(?:app)?\.com/api/webhooks/\d+/([\w-]{30,})`), group: 1},
	{kind: "webhook", need: []string{".webhook.office.com/"}, re: late.Regexp(`https://[\w.-]+\.webhook\.office\.com/webhookb2/([^\s"'<>]{40,})`), group: 1},
	{kind: "discord-token", long: 58, re: late.Regexp(`\b[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}`)},
	{kind: "telegram-token", need: []string{":aa"}, re: late.Regexp(`\d{8,10}:AA[A-Za-z0-9_-]{30,}`)},
	{kind: "aws-key", need: []string{"akia", "asia", "aroa", "aida"}, re: late.Regexp(`\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b`)},
	{kind: "google-key", need: []string{"aiza"}, re: late.Regexp(`\bAIza[A-Za-z0-9_-]{33,}`)},
	{kind: "google-oauth", need: []string{"ya29.", "gocspx-"}, re: late.Regexp(`\b(?:ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})`)},
	{kind: "stripe-key", need: []string{"sk_", "rk_", "whsec_"}, re: late.Regexp(`\b(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,}`)},
	{kind: "npm-token", need: []string{"npm_"}, re: late.Regexp(`\bnpm_[A-Za-z0-9]{30,}`)},
	{kind: "pypi-token", need: []string{"pypi-"}, re: late.Regexp(`\bpypi-[A-Za-z0-9_-]{40,}`)},
	{kind: "hf-token", need: []string{"hf_"}, re: late.Regexp(`\bhf_[A-Za-z0-9]{30,}`)},
	{kind: "groq-key", need: []string{"gsk_"}, re: late.Regexp(`\bgsk_[A-Za-z0-9]{30,}`)},
	{kind: "xai-key", need: []string{"xai-"}, re: late.Regexp(`\bxai-[A-Za-z0-9]{40,}`)},
	{kind: "sendgrid-key", need: []string{"sg."}, re: late.Regexp(`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`)},
	{kind: "mailgun-key", need: []string{"key-"}, re: late.Regexp(`\bkey-[0-9a-z]{32}\b`)},
	{kind: "sentry-token", need: []string{"sntrys_", "sntryu_"}, re: late.Regexp(`\bsntry[su]_[A-Za-z0-9_+/=-]{30,}`)},
	{kind: "digitalocean-token", need: []string{"dop_v1_", "doo_v1_", "dor_v1_"}, re: late.Regexp(`\bdo[opr]_v1_[a-f0-9]{40,}`)},
	{kind: "vault-token", need: []string{"hvs.", "hvb.", "hvr."}, re: late.Regexp(`\bhv[sbr]\.[A-Za-z0-9_-]{24,}`)},
	{kind: "age-key", need: []string{"age-secret-key-"}, re: late.Regexp(`\bAGE-SECRET-KEY-1[A-Z0-9]{40,}`)},
	{kind: "azure-key", need: []string{"accountkey", "sharedaccesskey"}, re: late.Regexp(`(?i)\b(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{20,}={0,2})`), group: 1},
	{kind: "signature", need: []string{"sig=", "signature="}, re: late.Regexp(`(?i)\b(?:sig|signature|x-amz-signature|x-goog-signature)=([A-Za-z0-9%+/=_~-]{30,})`), group: 1, accept: secretLike},
	{kind: "shopify-token", need: []string{"shpat_", "shpss_", "shpca_", "shppa_"}, re: late.Regexp(`\bshp(?:at|ss|ca|pa)_[A-Fa-f0-9]{30,}`)},
	{kind: "linear-key", need: []string{"lin_api_", "lin_oauth_"}, re: late.Regexp(`\blin_(?:api|oauth)_[A-Za-z0-9]{30,}`)},
	{kind: "heroku-key", need: []string{"hrku-"}, re: late.Regexp(`\bHRKU-[A-Za-z0-9_-]{30,}`)},
	{kind: "facebook-token", need: []string{"eaac", "eaab"}, re: late.Regexp(`\bEAA[BC][A-Za-z0-9]{40,}`)},
	{kind: "doppler-token", need: []string{"dp.pt.", "dp.st.", "dp.ct."}, re: late.Regexp(`\bdp\.(?:pt|st|ct)\.[A-Za-z0-9._-]{30,}`)},
	{kind: "figma-token", need: []string{"figd_"}, re: late.Regexp(`\bfigd_[A-Za-z0-9_-]{30,}`)},
	{kind: "notion-token", need: []string{"ntn_", "secret_"}, re: late.Regexp(`\b(?:ntn_|secret_)[A-Za-z0-9]{40,}`)},
	{kind: "netrc", need: []string{"login"}, near: true, re: late.Regexp(`(?i)\blogin\s+\S+\s+password\s+(\S{4,})`), group: 1, accept: notPlaceholder},
	{kind: "docker-auth", need: []string{`"auth"`}, near: true, re: late.Regexp(`"auth"\s*:\s*"([A-Za-z0-9+/]{12,}={0,2})"`), group: 1},
	{kind: "jwt", need: []string{"eyj"}, re: late.Regexp(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`)},
	{kind: "connection-string", need: []string{"://"}, near: true, re: late.Regexp(`\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s:/@'"]*:([^\s@'"]+)@[^\s'"]+`), group: 1, accept: notPlaceholder},
	{kind: "connection-string", need: []string{"@tcp(", "@unix(", "@udp("}, near: true, re: late.Regexp(`[\w.-]+:([^\s@"'/:]{4,})@(?:tcp|unix|udp)\(`), group: 1, accept: notPlaceholder},
	{kind: "authorization", need: []string{"bearer", "basic"}, near: true, re: late.Regexp(`(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/-]{20,}=*)`), group: 1, accept: mixed},
	{kind: "command-line", need: []string{"curl", "wget", "docker", "podman", "helm", "sshpass", "mysql", "mariadb"}, near: true, re: late.Regexp(`\b(?:(?:curl|wget)\b[^\n]*?\s(?:-u|--user)[ =]?["']?[^\s:"']+:|(?:docker|podman|helm)\b[^\n]*?\slogin\b[^\n]*?\s(?:-p|--password)[ =]["']?|sshpass\s+-p\s*["']?|(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n]*?\s-p)([^\s"']{5,})`), group: 1, accept: notPlaceholder},
	{kind: "cookie", need: []string{"cookie"}, near: true, re: late.Regexp(`(?i)\b[\w.-]*(?:sess|sid\b|auth|token|jwt|csrf|xsrf|remember)[\w.-]*=([^;\s"']{16,})`), group: 1, accept: secretLike},
	{kind: "assignment", need: named, near: true, re: late.Regexp(`(?i)` + names + `[a-z0-9_]*["']?\s*(?::=|=>|[:=])\s*["'` + "`" + `]([^"'` + "`" + `\s]{8,})["'` + "`" + `]`), group: 1, accept: secretLike},
	{kind: "assignment", need: named, near: true, re: late.Regexp(`(?i)` + names + `[a-z0-9_]*(?:\s*[:=]\s*|\s+(?:is|ist|was)\s+)([^\s"'` + "`" + `,;)\]}]{8,})`), group: 1, accept: strongSecret},
	{kind: "assignment", need: named, near: true, re: late.Regexp(`(?i)--[a-z-]*` + names + `[ =]+["']?([^\s"']{8,})`), group: 1, accept: secretLike},
	{kind: "assignment", need: []string{"pass", "pw"}, near: true, re: late.Regexp(`(?i)(?:\b|[_-])(?:pass|pw)["']?\s*[:=]\s*["'` + "`" + `]?([^"'` + "`" + `\s,;)\]}]{8,})`), group: 1, accept: strongSecret},
	{kind: "assignment", need: []string{"密码", "口令", "密钥", "私钥", "令牌", "凭证", "パスワード", "비밀번호"}, near: true, re: late.Regexp(`(?:密码|口令|密钥|私钥|令牌|凭证|パスワード|비밀번호)(?:[是为為设成:：=は는]|[ \t])*[「『“"'` + "`" + `]?([!-~]{8,})`), group: 1, accept: secretLike},
}

// mixed tells a random token from a hyphenated name such as sk-learn-compatible-estimator-names.
func mixed(s string) bool {
	return strings.ContainsAny(s, "0123456789") && (entropy(s) >= 3 || len(s) >= 32)
}

// placeholders are what documentation writes where a secret goes.
var placeholders = []string{"<", "${", "{{", "$(", "%(", "***", "...", "xxxx", "your_", "your-", "example", "changeme", "placeholder", "redacted"}

func notPlaceholder(s string) bool {
	low := strings.ToLower(s)
	for _, p := range placeholders {
		if strings.Contains(low, p) {
			return false
		}
	}
	return low != "password" && low != "pass" && low != "passwd" && low != "secret" && !strings.HasPrefix(s, "$")
}

// secretLike is a value that looks random.
func secretLike(s string) bool {
	if !notPlaceholder(s) || strings.Contains(s, "os.Getenv") || strings.Contains(s, "(") {
		return false
	}
	digit := strings.ContainsAny(s, "0123456789")
	symbol := strings.ContainsAny(s, "!@#%^&+=/~-_.")
	return entropy(s) >= 3 && digit || (entropy(s) >= 3.2 && symbol && len(s) >= 16) || scrambled(s)
}

// strongSecret asks more of a value without quotes, where ordinary words may follow: letters, digits and a symbol or mixed
// case.
func strongSecret(s string) bool {
	if scrambled(s) {
		return notPlaceholder(s)
	}
	digit := strings.ContainsAny(s, "0123456789")
	upper, lower := strings.ToLower(s) != s, strings.ToUpper(s) != s
	symbol := strings.ContainsAny(s, "!@#%^&*+=~")
	return secretLike(s) && digit && lower && (upper || symbol || len(s) >= 20)
}

// scrambled is a word without digits that nobody would spell so: base64 has capitals for half of its letters, a name in camel
// case far fewer.
func scrambled(s string) bool {
	if len(s) < 20 || entropy(s) < 3.5 || strings.ContainsAny(s, "./_-()") {
		return false
	}
	upper, letters := 0, 0
	for _, r := range s {
		switch {
		case r >= 'A' && r <= 'Z':
			upper++
			letters++
		case r >= 'a' && r <= 'z':
			letters++
		}
	}
	return letters >= 16 && upper*10 >= letters*3 && upper*10 <= letters*7
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
