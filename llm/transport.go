package llm

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"whetstone/model"
)

// maxAnswer bounds the body of an answer, in bytes, after it was unpacked.
const maxAnswer = 16 << 20

var (
	errRedirect = errors.New("the server answers with a redirect, which is not followed, since the key would go along: give its final address")
	errTooLarge = fmt.Errorf("the answer has more than %d bytes", maxAnswer)
)

// strict is how models are asked over HTTP: no redirect is followed, and no answer is read without end.
type strict struct{ next http.RoundTripper }

// RoundTrip makes one request.
func (s strict) RoundTrip(r *http.Request) (*http.Response, error) {
	next := s.next
	if next == nil {
		next = http.DefaultTransport
	}
	resp, err := next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		_ = resp.Body.Close()
		return nil, errRedirect
	}
	resp.Body = &bounded{ReadCloser: resp.Body, left: maxAnswer}
	return resp, nil
}

type bounded struct {
	io.ReadCloser
	left int64
}

// Read fails where the answer goes on beyond its bound.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		var one [1]byte
		if n, err := b.ReadCloser.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, errTooLarge
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}

// client is h with strict manners.
func strictly(h *http.Client) *http.Client {
	if h == nil {
		h = &http.Client{}
	}
	c := *h
	c.Transport = strict{h.Transport}
	return &c
}

// booked is the usage that a reply is booked with: what the server told, where it can be. None, or one that contradicts itself, is
// estimated. One beyond what was reserved is booked at that, and marked: more would pass the budget, and one wrong figure would
// use up every other one.
func booked(req model.Request, told model.Usage, text string) model.Usage {
	u := told
	if u.Input < 0 || u.Output < 0 || u.Cached < 0 || u.Written < 0 || u.Input == 0 && u.Output == 0 || u.Cached > u.Input || u.Written > u.Input-u.Cached {
		u = estimated(req, text)
	}
	if most := model.MostInput(req); u.Input > most {
		u.Input, u.Estimated = most, true
		u.Cached, u.Written = 0, 0
	}
	if req.MaxTokens > 0 && u.Output > req.MaxTokens {
		u.Output, u.Estimated = req.MaxTokens, true
	}
	return u
}

// estimated is what stands in for a usage that was not told.
func estimated(req model.Request, text string) model.Usage {
	return model.Usage{Input: model.EstimateInput(req.Messages), Output: model.Estimate(text), Estimated: true}
}
