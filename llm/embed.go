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
	out := model.EmbedReply{Vectors: make([][]float32, len(req.Texts)), Usage: model.Usage{Input: resp.Usage.PromptTokens}}
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
	if out.Usage.Input <= 0 {
		for _, t := range req.Texts {
			out.Usage.Input += len(t)
		}
		out.Usage.Estimated = true
	}
	return out, nil
}

// Embedder makes the client for an embedding model.
func (r *Registry) Embedder(ref model.Ref) (model.Embedder, error) {
	if ref.Provider == model.Offline {
		return nil, fmt.Errorf("provider %s makes no vectors: the search goes by words alone without an embedding model", ref.Provider)
	}
	c, err := r.Client(ref)
	if err != nil {
		return nil, err
	}
	e, ok := c.(model.Embedder)
	if !ok {
		return nil, fmt.Errorf("provider %s makes no vectors", ref.Provider)
	}
	return e, nil
}

// Local reports whether a model runs on this machine, as far as its address tells.
func (r *Registry) Local(ref model.Ref) bool {
	switch ref.Provider {
	case model.Offline:
		return true
	case "openai":
		return loopback(r.Getenv("OPENAI_BASE_URL"))
	case "ollama":
		return r.Getenv("OLLAMA_HOST") == "" || loopback(r.Getenv("OLLAMA_HOST"))
	}
	return false
}
