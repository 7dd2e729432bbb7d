package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"whetstone/source"
)

// custom is an executable in the home's fetchers folder. It gets a question as JSON on standard input and answers with
// documents, or an error, as JSON on standard output. NAME.json beside it declares it; without that it counts as leaving
// the machine. It runs in an empty folder, with nothing of the environment but PATH, HOME and LANG, for at most a minute.
type custom struct {
	name string
	path string
	decl source.Declaration
}

const customTimeout = time.Minute

var customName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,40}$`)

type declarationFile struct {
	Remote   *bool   `json:"remote"`
	CostUSD  float64 `json:"cost_usd"`
	Interval string  `json:"interval"`
}

// custom finds an executable. ok is false where there is none; a private wiki is not offered those that leave the machine.
func (s *Set) custom(name string, private bool) (source.Fetcher, bool) {
	if s.o.Custom == "" || !customName.MatchString(name) {
		return nil, false
	}
	path := filepath.Join(s.o.Custom, name)
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
		return nil, false
	}
	c := custom{name: name, path: path, decl: source.Declaration{Name: name, Remote: true}}
	if b, err := os.ReadFile(path + ".json"); err == nil {
		var d declarationFile
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&d); err != nil {
			c.decl.Missing = "mend " + name + ".json: " + short(err.Error(), 120)
		}
		if d.Remote != nil {
			c.decl.Remote = *d.Remote
		}
		c.decl.CostUSD = max(d.CostUSD, 0)
		if iv, err := time.ParseDuration(d.Interval); err == nil {
			c.decl.Interval = iv
		}
	}
	if private && c.decl.Remote {
		c.decl.Missing = "it leaves the machine, and the wiki is private"
	}
	return limited{c, s.limits}, true
}

func (s *Set) customNames() []string {
	es, err := os.ReadDir(s.o.Custom)
	if s.o.Custom == "" || err != nil {
		return nil
	}
	var out []string
	for _, e := range es {
		if customName.MatchString(e.Name()) && !slices.Contains(Names(), e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out
}

// limited paces an executable like a host.
type limited struct {
	custom
	limits *limits
}

func (l limited) Fetch(ctx context.Context, q source.Query) ([]source.Document, error) {
	done, err := l.limits.wait(ctx, "custom:"+l.name, l.decl.Interval)
	if err != nil {
		return nil, source.Errorf(source.Timeout, l.name, "wait for its turn: %w", err)
	}
	defer done()
	return l.custom.Fetch(ctx, q)
}

func (c custom) Declare() source.Declaration { return c.decl }

// customAnswer is what an executable prints.
type customAnswer struct {
	Documents []struct {
		URL       string   `json:"url"`
		Title     string   `json:"title"`
		Text      string   `json:"text"`
		Authors   []string `json:"authors"`
		Published string   `json:"published"`
	} `json:"documents"`
	Error *struct {
		Kind       string  `json:"kind"`
		Message    string  `json:"message"`
		RetryAfter float64 `json:"retry_after_s"`
	} `json:"error"`
}

func (c custom) Fetch(ctx context.Context, q source.Query) ([]source.Document, error) {
	if c.decl.Missing != "" {
		return nil, source.Errorf(source.Blocked, c.name, "%s", c.decl.Missing)
	}
	dir, err := os.MkdirTemp("", "whetstone-fetcher-")
	if err != nil {
		return nil, source.Errorf(source.Unavailable, c.name, "make a folder for it: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	in, err := json.Marshal(map[string]any{"query": q.Text, "limit": q.Limit})
	if err != nil {
		return nil, source.Errorf(source.BadQuery, c.name, "encode the question: %w", err)
	}
	run, cancel := context.WithTimeout(ctx, customTimeout)
	defer cancel()
	cmd := exec.CommandContext(run, c.path)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(append(in, '\n'))
	for _, k := range []string{"PATH", "HOME", "LANG", "SYSTEMROOT"} {
		if v, ok := os.LookupEnv(k); ok {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
	}
	out, complaint := &capped{most: maxBody}, &capped{most: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, complaint
	ownGroup(cmd)
	cmd.WaitDelay = 2 * time.Second
	err = cmd.Run()
	switch {
	case out.over:
		return nil, source.Errorf(source.TooLarge, c.name, "it printed more than 4 MiB")
	case run.Err() != nil && ctx.Err() == nil:
		return nil, source.Errorf(source.Timeout, c.name, "it took longer than a minute and was stopped")
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		// What an executable says once it says again: another try is a person's to make.
		e := source.Errorf(source.Unavailable, c.name, "it failed (%s): %s", err, scrub(complaint.buf.String(), ""))
		e.Final = true
		return nil, e
	}
	var a customAnswer
	if err := json.Unmarshal(out.buf.Bytes(), &a); err != nil {
		e := source.Errorf(source.Malformed, c.name, `it did not print {"documents": [{"url", "title", "text"}]} or {"error": {"kind", "message"}}`)
		e.Final = true
		return nil, e
	}
	if a.Error != nil {
		e := source.Errorf(source.Unavailable, c.name, "%s", scrub(a.Error.Message, ""))
		if k := source.Kind(a.Error.Kind); slices.Contains([]source.Kind{source.RateLimited, source.Quota, source.Unavailable, source.Timeout, source.Unauthorised, source.NotFound, source.Malformed, source.BadQuery, source.Blocked, source.TooLarge}, k) {
			e.Kind = k
		}
		e.RetryAfter = time.Duration(max(a.Error.RetryAfter, 0) * float64(time.Second))
		return nil, e
	}
	var docs []source.Document
	for _, d := range a.Documents {
		if strings.TrimSpace(d.Text) == "" || strings.TrimSpace(d.URL) == "" {
			return docs, source.Errorf(source.Malformed, c.name, "a document has no url or no text")
		}
		if q.Limit > 0 && len(docs) == q.Limit {
			break
		}
		docs = append(docs, source.Document{URL: orElse(Canonical(d.URL), c.name+":"+d.URL), Title: d.Title, Text: strings.ToValidUTF8(d.Text, "\ufffd"), Authors: d.Authors, Published: d.Published, Fetcher: c.name})
	}
	return docs, nil
}

// capped keeps the first bytes of what is written and stops the writer beyond them.
type capped struct {
	buf  bytes.Buffer // not embedded: its ReadFrom would go round the limit
	most int
	over bool
}

func (c *capped) Write(p []byte) (int, error) {
	if c.buf.Len()+len(p) > c.most {
		c.over = true
		c.buf.Write(p[:max(0, c.most-c.buf.Len())])
		return 0, errors.New("too much output")
	}
	return c.buf.Write(p)
}
