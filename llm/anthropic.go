package llm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"whetstone/internal/late"
	"whetstone/model"
)

// AnthropicOptions configures a client of the Messages API.
type AnthropicOptions struct {
	Provider string
	BaseURL  string // empty is Anthropic's own
	Key      string
	HTTP     *http.Client
}

// AnthropicClient speaks Anthropic's Messages API through its official SDK. The system prompt is the fixed layer of all prompts
// and is marked for the provider's cache; a schema becomes a tool that the model has to call.
type AnthropicClient struct {
	provider string
	client   anthropic.Client
}

// NewAnthropic builds a client. Retries are off: Temporal does them.
func NewAnthropic(o AnthropicOptions) *AnthropicClient {
	opts := []option.RequestOption{option.WithoutEnvironmentDefaults(), option.WithAPIKey(o.Key), option.WithMaxRetries(0)}
	if o.BaseURL != "" {
		opts = append(opts, option.WithBaseURL(o.BaseURL))
	}
	opts = append(opts, option.WithHTTPClient(strictly(o.HTTP)))
	return &AnthropicClient{o.Provider, anthropic.NewClient(opts...)}
}

// noTemperature are the models that refuse a temperature.
var noTemperature = late.Regexp(`claude-(?:opus|sonnet|haiku)-(?:[5-9]|\d\d)\b|claude-opus-4-[7-9]`)

// Complete makes one call and never repeats it.
func (c *AnthropicClient) Complete(ctx context.Context, req model.Request) (model.Reply, error) {
	p := anthropic.MessageNewParams{Model: req.Ref.Model, MaxTokens: int64(req.MaxTokens)}
	if !noTemperature().MatchString(req.Ref.Model) {
		p.Temperature = anthropic.Float(min(req.Temperature, 1))
	}
	for _, m := range req.Messages {
		switch m.Role {
		case "system":
			p.System = append(p.System, anthropic.TextBlockParam{Text: m.Content})
		case "assistant":
			p.Messages = append(p.Messages, anthropic.NewAssistantMessage(anthropic.NewTextBlock(m.Content)))
		default:
			p.Messages = append(p.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock(m.Content)))
		}
	}
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = anthropic.NewCacheControlEphemeralParam()
	}
	if req.Schema != nil {
		var s struct {
			Properties any      `json:"properties"`
			Required   []string `json:"required"`
		}
		if err := json.Unmarshal(req.Schema.JSON, &s); err != nil {
			return model.Reply{}, &model.Error{Kind: model.BadRequest, Provider: c.provider, NotSent: true, Err: errors.New("the schema of the answer is not valid")}
		}
		p.Tools = []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: s.Properties, Required: s.Required}, req.Schema.Name)}
		p.ToolChoice = anthropic.ToolChoiceParamOfTool(req.Schema.Name)
	}
	resp, err := c.client.Messages.New(ctx, p)
	if err != nil {
		return model.Reply{}, c.translate(ctx, err)
	}
	reply := model.Reply{Finish: finishOf(string(resp.StopReason))}
	for _, b := range resp.Content {
		switch {
		case b.Type == "text" && req.Schema == nil:
			reply.Text += b.Text
		case b.Type == "tool_use" && req.Schema != nil:
			reply.Text = string(b.Input)
		case b.Type == "text" && reply.Text == "":
			reply.Text = b.Text
		}
	}
	u := resp.Usage
	reply.Usage = model.Usage{Input: int(u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens), Cached: int(u.CacheReadInputTokens), Written: int(u.CacheCreationInputTokens), Output: int(u.OutputTokens)}
	reply.Usage = booked(req, reply.Usage, reply.Text)
	if len(resp.Content) == 0 && reply.Finish == "stop" {
		return model.Reply{}, &model.Error{Kind: model.Malformed, Provider: c.provider, Err: errors.New("the reply has no content")}
	}
	return reply, nil
}

// finishOf turns a reason to stop into the words of the chat protocol.
func finishOf(reason string) string {
	switch reason {
	case "end_turn", "stop_sequence", "tool_use", "":
		return "stop"
	case "max_tokens", "model_context_window_exceeded":
		return "length"
	}
	return reason
}

func (c *AnthropicClient) translate(ctx context.Context, err error) error {
	var api *anthropic.Error
	if !errors.As(err, &api) {
		return transport(ctx, c.provider, err)
	}
	e := &model.Error{Provider: c.provider, Status: api.StatusCode}
	if api.Response != nil {
		e.RetryAfter = retryAfter(api.Response.Header, time.Now())
	}
	var body struct {
		Error struct{ Type, Message string }
	}
	_ = json.Unmarshal([]byte(api.RawJSON()), &body)
	text := strings.ToLower(body.Error.Message)
	e.Err = errors.New(short(body.Error.Type + " " + body.Error.Message))
	switch {
	case strings.Contains(text, "credit balance") || strings.Contains(text, "billing"):
		e.Kind = model.Quota
	case strings.Contains(text, "prompt is too long") || strings.Contains(text, "exceed context limit"):
		e.Kind = model.TooLong
	case body.Error.Type == "overloaded_error" || api.StatusCode == 529:
		e.Kind = model.Unavailable
	case body.Error.Type == "rate_limit_error":
		e.Kind = model.RateLimited
	default:
		e.Kind = kindOf(api.StatusCode, "", body.Error.Type, "")
	}
	return e
}
