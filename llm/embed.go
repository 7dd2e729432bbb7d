package llm

import (
	"context"
	"fmt"
	"math"

	openai "github.com/sashabaranov/go-openai"

	"whetstone/model"
)

// Embed asks for vectors in one request and never repeats it. A reply that does not hold one vector for each text, all of
// one length, is malformed.
func (c *OpenAIClient) Embed(ctx context.Context, req model.EmbedRequest) (model.EmbedReply, error) {
	kept := &keptHeader{}
	resp, err := c.client.CreateEmbeddings(context.WithValue(ctx, keptHeaderKey{}, kept), openai.EmbeddingRequestStrings{Input: req.Texts, Model: openai.EmbeddingModel(req.Ref.Model), EncodingFormat: openai.EmbeddingEncodingFormatFloat})
	if err != nil {
		return model.EmbedReply{}, c.translate(ctx, err, kept.header)
	}
	bad := func(format string, args ...any) (model.EmbedReply, error) {
		return model.EmbedReply{}, &model.Error{Kind: model.Malformed, Provider: c.provider, Err: fmt.Errorf(format, args...)}
	}
	if len(resp.Data) != len(req.Texts) {
		return bad("%d vectors for %d texts", len(resp.Data), len(req.Texts))
	}
	out := model.EmbedReply{Vectors: make([][]float32, len(req.Texts)), Usage: model.Usage{Input: max(resp.Usage.PromptTokens, resp.Usage.TotalTokens)}}
	for _, d := range resp.Data {
		if d.Index < 0 || d.Index >= len(out.Vectors) || out.Vectors[d.Index] != nil || len(d.Embedding) == 0 {
			return bad("the vectors are not numbered as documented")
		}
		for _, x := range d.Embedding {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return bad("a vector holds no number")
			}
		}
		out.Vectors[d.Index] = d.Embedding
	}
	for _, v := range out.Vectors {
		if len(v) != len(out.Vectors[0]) {
			return bad("the vectors have different lengths")
		}
	}
	if most := model.MostEmbedded(req.Texts); out.Usage.Input > most { // that much was reserved
		out.Usage.Input, out.Usage.Estimated = most, true
	}
	if out.Usage.Input <= 0 {
		for _, t := range req.Texts {
			out.Usage.Input += model.Estimate(t)
		}
		out.Usage.Estimated = true
	}
	return out, nil
}

// Embedder makes the client for an embedding model.
func (r *Registry) Embedder(ref model.Ref) (model.Embedder, error) {
	p, err := r.provider(ref.Provider)
	if err != nil {
		return nil, err
	}
	if p.protocol != chat && p.protocol != vectors {
		return nil, fmt.Errorf("provider %s makes no vectors: the search goes by words alone without an embedding model", ref.Provider)
	}
	key := ""
	if p.KeyEnv != "" {
		if key = r.Getenv(p.KeyEnv); key == "" {
			return nil, fmt.Errorf("use %s: %w: set %s", ref, ErrNoKey, p.KeyEnv)
		}
	}
	// Voyage speaks the same protocol, but for its usage, which has the total only.
	c, err := NewOpenAI(OpenAIOptions{Provider: p.Name, BaseURL: r.base(p), Key: key, HTTP: r.HTTP})
	if err != nil {
		return nil, err
	}
	return gated{c, r.gate(p), r.secrets(p)}, nil
}
