package service

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"

	"whetstone/activities"
	"whetstone/calibrate"
	"whetstone/run"
)

// Calibrate measures a judge's noise in this process: it is repeatable, what it paid for is in the ledger, and it needs no
// Temporal. The second value is what it has spent, in dollars.
func (s *Service) Calibrate(ctx context.Context, p run.Params, rounds int) (calibrate.Wobble, float64, error) {
	acts, err := s.newActivities()
	if err != nil {
		return calibrate.Wobble{}, 0, err
	}
	job := activities.Job{RunID: fmt.Sprintf("calibrate-%s-%s-%d", p.SkillKey, p.Judge, p.Seed), WorkflowID: "calibrate/" + p.SkillKey, Params: p}
	w, spent, err := activities.Calibrate(ctx, acts, job, rounds)
	var app *temporal.ApplicationError
	if errors.As(err, &app) && app.Type() == activities.TypeInput {
		return w, spent, inputError(app.Message())
	}
	return w, spent, err
}
