package llm

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"whetstone/model"
)

func TestUnknownPricesAreRefusedByName(t *testing.T) {
	p, err := LoadPrices()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Of(model.Ref{Provider: "openai", Model: "gpt-99"}); !errors.Is(err, ErrUnknownPrice) || !strings.Contains(err.Error(), "gpt-99") || !strings.Contains(err.Error(), "--price") {
		t.Errorf("%v", err)
	}
	for ref, free := range map[model.Ref]bool{{Provider: "offline"}: true, {Provider: "ollama", Model: "x"}: true, {Provider: "openai", Model: "gpt-4o-mini"}: false, {Provider: "openai", Model: "gpt-4o-mini-2024-07-18"}: false} {
		price, err := p.Of(ref)
		if err != nil || (price == model.Price{}) != free {
			t.Errorf("%s: %+v, %v", ref, price, err)
		}
	}
	if p.Date == "" {
		t.Error("the table has no date")
	}
}

func TestCostsAreRoundedUpInNanodollars(t *testing.T) {
	price := model.Price{Input: 0.15, Cached: 0.075, Output: 0.60}
	if got := price.Cost(model.Usage{Input: 1000, Cached: 400, Output: 10}); got != 600*150+400*75+10*600 {
		t.Errorf("got %d", got)
	}
	if got := (model.Price{Input: 0.0001}).Cost(model.Usage{Input: 1}); got != 1 {
		t.Errorf("a fraction of a nanodollar was lost: %d", got)
	}
}

func TestAKeyDecidesTheDefault(t *testing.T) {
	env := map[string]string{}
	r := &Registry{Getenv: func(k string) string { return env[k] }}
	if r.Default().Provider != model.Offline {
		t.Error("without a key the default must be offline")
	}
	if _, err := r.Client(model.Ref{Provider: "openai", Model: "gpt-4o-mini"}); !errors.Is(err, ErrNoKey) || !strings.Contains(err.Error(), "OPENAI_API_KEY") {
		t.Errorf("%v", err)
	}
	env["OPENAI_API_KEY"] = "k"
	if r.Default().Provider != "openai" {
		t.Error("with a key the default must be openai")
	}
	if _, err := r.Client(model.Ref{Provider: "nobody"}); err == nil || !strings.Contains(err.Error(), "offline") {
		t.Errorf("%v", err)
	}
}

func TestOfflineModelAnswersInTheWireFormat(t *testing.T) {
	body := "# T\n\n- Mock the database.\n- Be brief.\n"
	reply, err := OfflineClient{}.Complete(t.Context(), model.Request{Task: &model.ReflectTask{Body: body, MaxPatches: 4, Trajectories: []model.Trajectory{{ID: "i", Category: "t", Expected: "Do not mock the database."}}}})
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Patches []struct{ Op, Anchor, Payload string }
	}
	if err := json.Unmarshal([]byte(reply.Text), &r); err != nil || len(r.Patches) != 1 || r.Patches[0].Op != "replace" || r.Patches[0].Anchor != "- Mock the database." {
		t.Fatalf("%s (%v)", reply.Text, err)
	}
	again, err := OfflineClient{}.Complete(t.Context(), model.Request{Task: &model.ReflectTask{Body: body, MaxPatches: 4, Trajectories: []model.Trajectory{{ID: "i", Category: "t", Expected: "Do not mock the database."}}}})
	if err != nil || again.Text != reply.Text {
		t.Error("the offline model is not deterministic")
	}
	if _, err := (OfflineClient{}).Complete(t.Context(), model.Request{Stage: "poem"}); err == nil {
		t.Error("an unknown task was answered")
	}
}
