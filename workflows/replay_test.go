package workflows

import (
	"path/filepath"
	"testing"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Every history of every released version replays: a change of a workflow that would break open runs fails here. New
// histories are recorded with `starter runs history ID`; old ones are never changed.
func TestCommittedHistoriesReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/histories/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("there is no history to replay: the test proves nothing")
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			r := worker.NewWorkflowReplayer()
			r.RegisterWorkflowWithOptions(OptimizeSkill, workflow.RegisterOptions{Name: OptimizeName})
			r.RegisterWorkflowWithOptions(ResearchWiki, workflow.RegisterOptions{Name: ResearchName})
			r.RegisterWorkflowWithOptions(ResearchTick, workflow.RegisterOptions{Name: TickName})
			r.RegisterWorkflowWithOptions(Council, workflow.RegisterOptions{Name: CouncilName})
			r.RegisterWorkflowWithOptions(Survey, workflow.RegisterOptions{Name: SurveyName})
			if err := r.ReplayWorkflowHistoryFromJSONFile(nil, f); err != nil {
				t.Error(err)
			}
		})
	}
}
