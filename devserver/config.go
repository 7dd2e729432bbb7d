package devserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	enumspb "go.temporal.io/api/enums/v1"
)

// Config is the parsed temporal-dev.yaml.
type Config struct {
	Server struct {
		IP       string `yaml:"ip"`
		Port     int    `yaml:"port"`
		LogLevel string `yaml:"log_level"`
	} `yaml:"server"`
	UI struct {
		Enabled bool `yaml:"enabled"`
		Port    int  `yaml:"port"`
		// Strict makes a taken port an error instead of a reason to take another. Set by flags, never by the file.
		Strict bool `yaml:"-"`
	} `yaml:"ui"`
	Database struct {
		File        string   `yaml:"file"`
		Synchronous string   `yaml:"synchronous"`
		BusyTimeout Duration `yaml:"busy_timeout"`
	} `yaml:"database"`
	Namespace struct {
		Name      string   `yaml:"name"`
		Retention Duration `yaml:"retention"`
	} `yaml:"namespace"`
	SearchAttributes map[string]string `yaml:"search_attributes"`
	DynamicConfig    map[string]any    `yaml:"dynamic_config"`
}

// Duration is a time.Duration written the Go way ("720h") in YAML.
type Duration time.Duration

// UnmarshalYAML reads a Go duration.
func (d *Duration) UnmarshalYAML(b []byte) error {
	var s string
	if err := yaml.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("read duration: %w", err)
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("read duration: %w", err)
	}
	*d = Duration(v)
	return nil
}

// ParseConfig reads base (the compiled-in default) and lays override over it; override may be nil. Unknown keys, a
// non-loopback address and impossible values are errors that name the key and, for YAML, the position.
func ParseConfig(base, override []byte) (Config, error) {
	var c Config
	for _, doc := range [][]byte{base, override} {
		if len(bytes.TrimSpace(doc)) == 0 {
			continue
		}
		dec := yaml.NewDecoder(bytes.NewReader(doc), yaml.Strict())
		if err := dec.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
			return Config{}, fmt.Errorf("read it as YAML: %w", err)
		}
	}
	if err := c.validate(); err != nil {
		return Config{}, err
	}
	return c, nil
}

func (c *Config) validate() error {
	ip := net.ParseIP(c.Server.IP)
	if ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("server.ip %q is not a loopback address: the embedded server has no authentication and listens on this machine only; for a shared one run a Temporal cluster and set TEMPORAL_ADDRESS", c.Server.IP)
	}
	for _, p := range []struct {
		key  string
		port int
	}{{"server.port", c.Server.Port}, {"ui.port", c.UI.Port}} {
		if p.port < 0 || p.port > 65535 {
			return fmt.Errorf("%s %d is not a port (0 to 65535)", p.key, p.port)
		}
	}
	switch strings.ToUpper(c.Database.Synchronous) {
	case "NORMAL", "FULL":
	default:
		return fmt.Errorf("database.synchronous %q: want NORMAL or FULL", c.Database.Synchronous)
	}
	if c.Database.File == "" {
		return errors.New("database.file is empty")
	}
	if c.Database.BusyTimeout <= 0 {
		return errors.New("database.busy_timeout must be positive")
	}
	if c.Namespace.Name == "" {
		return errors.New("namespace.name is empty")
	}
	if time.Duration(c.Namespace.Retention) < time.Hour {
		return errors.New("namespace.retention is below 1h: finished runs would vanish before they can be read")
	}
	switch c.Server.LogLevel {
	case "debug", "info", "warn", "error":
	default:
		return fmt.Errorf("server.log_level %q: want debug, info, warn or error", c.Server.LogLevel)
	}
	_, err := c.searchAttributes()
	return err
}

func (c *Config) searchAttributes() (map[string]enumspb.IndexedValueType, error) {
	out := make(map[string]enumspb.IndexedValueType, len(c.SearchAttributes))
	for name, kind := range c.SearchAttributes {
		t, err := enumspb.IndexedValueTypeFromString(kind)
		if err != nil || t == enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED {
			return nil, fmt.Errorf("search_attributes.%s: %q is not a type (Keyword, Text, Int, Double, Bool, Datetime, KeywordList)", name, kind)
		}
		out[name] = t
	}
	return out, nil
}
