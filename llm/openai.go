package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"whetstone/learning"
	"whetstone/model"
)

// OpenAIOptions configures a client of the OpenAI protocol.
type OpenAIOptions struct {
	Provider string // how errors and the ledger name it
	BaseURL  string // ".../v1"; empty is OpenAI's own
	Key      string // empty for local servers that want none
	Schema   bool   // the server holds a model to a JSON Schema
	HTTP     *http.Client
}

// OpenAIClient speaks the chat completions protocol of OpenAI and everything compatible: OpenRouter, Fireworks, Groq,
// Ollama, vLLM, LM Studio, llama.cpp.
type OpenAIClient struct {
	provider string
	official bool
	schema   bool
	client   *openai.Client
}

// NewOpenAI builds a client.
func NewOpenAI(o OpenAIOptions) (*OpenAIClient, error) {
	if o.Provider == "" {
		return nil, errors.New("build an OpenAI client: no provider name")
	}
	cfg := openai.DefaultConfig(o.Key)
	c := &OpenAIClient{provider: o.Provider, official: o.BaseURL == "" || strings.Contains(o.BaseURL, "api.openai.com")}
	c.schema = o.Schema && (c.official || o.Provider != "openai") // whoever else answers at OpenAI's name may know no schemas
	if o.BaseURL != "" {
		cfg.BaseURL = strings.TrimRight(o.BaseURL, "/")
	}
	h := *strictly(o.HTTP)
	h.Transport = headerKeeper{h.Transport}
	cfg.HTTPClient = &h
	c.client = openai.NewClientWithConfig(cfg)
	return c, nil
}

// Complete makes one call and never repeats it.
func (c *OpenAIClient) Complete(ctx context.Context, req model.Request) (model.Reply, error) {
	r := openai.ChatCompletionRequest{Model: req.Ref.Model}
	for _, m := range req.Messages {
		r.Messages = append(r.Messages, openai.ChatCompletionMessage{Role: m.Role, Content: m.Content})
	}
	if c.official {
		r.MaxCompletionTokens = req.MaxTokens
	} else {
		r.MaxTokens = req.MaxTokens //nolint:staticcheck // servers that are compatible only know the older name
	}
	if req.Schema != nil && c.schema {
		r.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONSchema, JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: req.Schema.Name, Schema: req.Schema.JSON, Strict: true}}
	}
	if !fixedSampling(req.Ref.Model) {
		seed := int(req.Seed & math.MaxInt32)
		r.Seed = &seed
		r.Temperature = float32(req.Temperature)
		if r.Temperature == 0 {
			r.Temperature = math.SmallestNonzeroFloat32 // the library leaves a plain zero out, and the server's default is 1
		}
	}
	kept := &keptHeader{}
	resp, err := c.client.CreateChatCompletion(context.WithValue(ctx, keptHeaderKey{}, kept), r)
	if err != nil {
		return model.Reply{}, c.translate(ctx, err, kept.header)
	}
	if len(resp.Choices) == 0 {
		return model.Reply{}, &model.Error{Kind: model.Malformed, Provider: c.provider, Err: errors.New("the reply has no choices")}
	}
	choice := resp.Choices[0]
	reply := model.Reply{Text: choice.Message.Content, Finish: string(choice.FinishReason), Usage: model.Usage{Input: resp.Usage.PromptTokens, Output: resp.Usage.CompletionTokens}}
	if d := resp.Usage.PromptTokensDetails; d != nil {
		reply.Usage.Cached = d.CachedTokens
	}
	if choice.Message.Refusal != "" {
		reply.Finish, reply.Text = "refusal", choice.Message.Refusal
	}
	reply.Usage = booked(req, reply.Usage, reply.Text)
	return reply, nil
}

// fixedSampling models refuse temperature and seed.
func fixedSampling(name string) bool {
	for _, p := range []string{"o1", "o3", "o4", "gpt-5"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// translate sorts a failure. Error texts of servers are cut short: they may quote the prompt.
func (c *OpenAIClient) translate(ctx context.Context, err error, h http.Header) error {
	e := &model.Error{Provider: c.provider, RetryAfter: retryAfter(h, time.Now())}
	var api *openai.APIError
	var reqErr *openai.RequestError
	switch {
	case errors.As(err, &api):
		e.Status = api.HTTPStatusCode
		e.Err = errors.New(short(api.Message))
		e.Kind = kindOf(e.Status, fmt.Sprint(api.Code), api.Type, api.Message)
	case errors.As(err, &reqErr):
		e.Status = reqErr.HTTPStatusCode
		e.Err = errors.New(short(http.StatusText(reqErr.HTTPStatusCode)))
		e.Kind = kindOf(e.Status, "", "", "")
		if e.Status >= 200 && e.Status < 300 {
			e.Kind, e.Err = model.Malformed, errors.New("the reply is not the documented JSON")
		}
	default:
		return transport(ctx, c.provider, err)
	}
	return e
}

// transport sorts a failure without an answer of the server's.
func transport(ctx context.Context, provider string, err error) error {
	e := &model.Error{Provider: provider}
	var netErr net.Error
	var op *net.OpError
	e.NotSent = errors.As(err, &op) && op.Op == "dial"
	switch {
	case errors.Is(err, errRedirect):
		e.Kind, e.Err, e.NotSent = model.BadRequest, errRedirect, false
	case errors.Is(err, errTooLarge):
		e.Kind, e.Err = model.BadRequest, errTooLarge
	case errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil || (errors.As(err, &netErr) && netErr.Timeout()):
		e.Kind, e.Err = model.Timeout, errors.New("no answer in time")
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		e.Kind, e.Err = model.Unavailable, errors.New("the connection broke before the answer was whole")
	case errors.As(err, &netErr):
		e.Kind, e.Err = model.Unavailable, errors.New(short(netErr.Error()))
	default:
		e.Kind, e.Err = model.Malformed, errors.New("the reply is not the documented JSON")
	}
	return e
}

func kindOf(status int, code, typ, message string) model.Kind {
	text := strings.ToLower(code + " " + typ + " " + message)
	switch {
	case strings.Contains(text, "insufficient_quota") || strings.Contains(text, "billing"):
		return model.Quota
	case strings.Contains(text, "context_length") || strings.Contains(text, "maximum context"):
		return model.TooLong
	case status == http.StatusTooManyRequests:
		return model.RateLimited
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return model.Unauthorised
	case status == http.StatusPaymentRequired:
		return model.Quota
	case status == http.StatusNotFound:
		return model.NotFound
	case status == http.StatusRequestEntityTooLarge:
		return model.TooLong
	case status == http.StatusRequestTimeout || status == http.StatusConflict || status == http.StatusGatewayTimeout:
		return model.Unavailable
	case status >= 500:
		return model.Unavailable
	}
	return model.BadRequest
}

func short(s string) string {
	s, _ = learning.Redact(strings.Join(strings.Fields(s), " ")) // a proxy may echo the key
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return strings.ToValidUTF8(s, "")
}

// headerKeeper hands the response's headers to the caller, since the library drops those of failed calls.
type headerKeeper struct{ next http.RoundTripper }

type keptHeaderKey struct{}

type keptHeader struct{ header http.Header }

func (k headerKeeper) RoundTrip(r *http.Request) (*http.Response, error) {
	next := k.next
	if next == nil {
		next = http.DefaultTransport
	}
	resp, err := next.RoundTrip(r)
	if err == nil {
		if kept, ok := r.Context().Value(keptHeaderKey{}).(*keptHeader); ok {
			kept.header = resp.Header
		}
	}
	return resp, err
}
