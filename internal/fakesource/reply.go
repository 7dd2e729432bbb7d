package fakesource

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// text is an answer with a body of any type.
func text(status int, contentType, body string) reply {
	return reply{status: status, header: http.Header{"Content-Type": {contentType}}, body: []byte(body)}
}

// object is an answer in JSON. HTML inside it stays readable, as the services leave it.
func object(status int, v any) reply {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return text(http.StatusInternalServerError, "text/plain", err.Error())
	}
	return text(status, "application/json", string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))))
}

// with adds headers to an answer, given as name, value, name, value.
func (r reply) with(pairs ...string) reply {
	for i := 0; i+1 < len(pairs); i += 2 {
		r.header.Set(pairs[i], pairs[i+1])
	}
	return r
}

func send(w http.ResponseWriter, r reply) {
	for k, v := range r.header {
		w.Header()[k] = v
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(r.body)))
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body)
}

// m is a JSON object.
type m = map[string]any

// number reads a whole number, falling back where there is none; false says that there is something else.
func number(s string, fallback int) (int, bool) {
	if s == "" {
		return fallback, true
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// page cuts one page out of a list.
func page[T any](all []T, start, size int) []T {
	start = min(max(start, 0), len(all))
	return all[start:min(start+max(size, 0), len(all))]
}
