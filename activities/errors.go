package activities

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"

	"whetstone/model"
)

// Error types as the workflow and the command line see them.
const (
	// TypeInput is a person's to mend: a bad file, too few learnings, an unknown price. Never retried.
	TypeInput = "BadInput"
	// TypeModel is a model call that failed. The workflow takes it for an outage and counts it towards the breaker. Its details
	// hold the kind, see KindOf.
	TypeModel = "Model"
)

// InputError makes an error that says what is wrong and what to do about it. It is never retried.
func InputError(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return temporal.NewNonRetryableApplicationError(err.Error(), TypeInput, nil)
}

// translate is the one place that decides what Temporal does with an error: model failures keep their kind, carry the
// provider's Retry-After, and are retried only where a repetition may help; everything else is retried as Temporal does.
func translate(err error) error {
	if err == nil {
		return nil
	}
	var app *temporal.ApplicationError
	if errors.As(err, &app) || errors.Is(err, context.Canceled) {
		return err
	}
	me, ok := model.AsError(err)
	if !ok {
		return err
	}
	return temporal.NewApplicationErrorWithOptions(me.Error(), TypeModel, temporal.ApplicationErrorOptions{
		NonRetryable:   !me.Retryable(),
		NextRetryDelay: me.RetryAfter,
		Details:        []any{string(me.Kind)},
	})
}

// KindOf is the kind of the model failure that an activity ended with, such as "unauthorised" or "quota", as model.Kind names them;
// "" where err is something else. It reads nothing but err, so that a workflow may call it.
func KindOf(err error) string {
	for {
		var app *temporal.ApplicationError
		if !errors.As(err, &app) {
			break
		}
		var kind string
		if app.Type() == TypeModel && app.HasDetails() && app.Details(&kind) == nil {
			return kind
		}
		err = errors.Unwrap(app)
	}
	if me, ok := model.AsError(err); ok {
		return string(me.Kind)
	}
	return ""
}

// Lasting reports whether a failure of this kind comes again until a person has done something, see Remedy.
func Lasting(kind string) bool {
	switch model.Kind(kind) {
	case model.Unauthorised, model.Quota, model.BadRequest, model.NotFound:
		return true
	}
	return false
}

// Remedy is what to do about failures of a kind.
func Remedy(kind string) string {
	switch model.Kind(kind) {
	case model.Unauthorised:
		return "check the provider's key: `starter doctor` says where it comes from"
	case model.Quota:
		return "the account's quota is used up: raise it at the provider, or use another model"
	case model.NotFound:
		return "the provider knows no such model or address: check --model"
	case model.BadRequest:
		return "the provider refuses the request: another model may take it"
	case model.TooLong:
		return "the prompt is longer than the model takes: use one with a larger context, or a smaller --batch-size"
	case model.CutOff:
		return "the answer does not fit the model's bound: use a smaller --batch-size"
	case model.Refused:
		return "the model declines to answer: use another one"
	}
	return "the same command goes on once the provider answers again"
}
