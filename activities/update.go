package activities

import "context"

func (a *Activities) Update(ctx context.Context, in UpdateIn) (UpdateOut, error) {
	return UpdateOut{}, nil
}
