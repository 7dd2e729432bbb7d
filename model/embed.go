package model

import "context"

// EmbedRequest asks for the vectors of texts.
type EmbedRequest struct {
	Ref   Ref
	Texts []string
}

// EmbedReply holds one vector for each text, in order.
type EmbedReply struct {
	Vectors [][]float32
	Usage   Usage // Output is 0
}

// Embedder makes vectors. Like Client, it never retries.
type Embedder interface {
	Embed(ctx context.Context, req EmbedRequest) (EmbedReply, error)
}

// MostEmbedded is an upper bound on the tokens of texts that vectors are made of: their bytes, and what frames each.
func MostEmbedded(texts []string) int {
	n := 0
	for _, t := range texts {
		n += len(t) + 8
	}
	return n
}
