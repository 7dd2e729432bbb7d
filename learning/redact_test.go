package learning

import (
	"strings"
	"testing"
)

func TestRedactTakesSecretsOut(t *testing.T) {
	// Assembled here, so that no scanner takes this file for a leak.
	body := "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9"
	secrets := map[string]string{
		"openai-key":        "sk-proj-" + body,
		"anthropic-key":     "sk-ant-" + "api03-" + body,
		"github-token":      "ghp_" + body,
		"aws-key":           "AKIA" + "IOSFODNN7EXAMPLE",
		"google-key":        "AIza" + body,
		"slack-token":       "xoxb-" + "123456789012-abcdefghijkl",
		"stripe-key":        "sk_live_" + body,
		"npm-token":         "npm_" + body,
		"jwt":               "eyJhbGciOiJI" + "." + "eyJzdWIiOiIx" + "." + "SflKxwRJSMeKKF2QT4",
		"private-key":       "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY-----",
		"connection-string": "hunter2secret",
		"assignment":        "f9A!k2_Lq8zR",
	}
	for kind, secret := range secrets {
		text := "we set it to " + secret + " and it worked"
		switch kind {
		case "connection-string":
			text = "DSN is postgres://app:" + secret + "@db.internal:5432/app"
		case "assignment":
			text = `db_password = "` + secret + `"`
		}
		got, counts := Redact(text)
		if strings.Contains(got, secret) {
			t.Errorf("%s: the secret is still there: %s", kind, got)
		}
		if !strings.Contains(got, "[redacted:"+kind+"]") || counts[kind] != 1 {
			t.Errorf("%s: got %q, counts %v", kind, got, counts)
		}
		if again, more := Redact(got); again != got || more != nil {
			t.Errorf("%s: redacting twice changed %q to %q", kind, got, again)
		}
	}
}

func TestRedactLeavesOrdinaryTextAlone(t *testing.T) {
	for _, s := range []string{
		"Never log the Authorization header.", "sk-learn-compatible estimators need fit and predict", "password = os.Getenv(\"DB_PASSWORD\")", "the token: bucket algorithm limits rates",
		"https://example.com/path?q=1", "use postgres://user:<password>@host/db", "secret=${SECRET}", "commit 44c9b2d6e889982ac18c27d05a19fefe335194e1 broke it", "不要在日志里打印 token：会泄露",
		"api_key: string // the name of the field", "ssh git@github.com:acme/api.git",
	} {
		if got, counts := Redact(s); got != s {
			t.Errorf("%q became %q (%v)", s, got, counts)
		}
	}
}
