package devserver

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	namespacepb "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"
)

// waitReady polls until the server does what a client needs of it, then brings search attributes and retention of a
// namespace that existed before up to the configuration (CreateNamespaces leaves an existing one alone).
func waitReady(ctx context.Context, c *Config, address string, attrs map[string]enumspb.IndexedValueType) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cl, err := client.NewLazyClient(client.Options{HostPort: address, Namespace: c.Namespace.Name, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("reach the embedded server: %w", err)
	}
	defer cl.Close()
	ns := c.Namespace.Name
	steps := []struct {
		name string
		do   func() error
	}{
		{"health", func() error { _, err := cl.CheckHealth(ctx, &client.CheckHealthRequest{}); return err }},
		{"namespace", func() error {
			d, err := cl.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: ns})
			if err != nil {
				return err
			}
			want := time.Duration(c.Namespace.Retention)
			if d.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration() == want {
				return nil
			}
			_, err = cl.WorkflowService().UpdateNamespace(ctx, &workflowservice.UpdateNamespaceRequest{
				Namespace: ns,
				Config:    &namespacepb.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(want)},
			})
			return err
		}},
		{"visibility", func() error {
			_, err := cl.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: ns})
			return err
		}},
		{"search attributes", func() error {
			have, err := cl.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: ns})
			if err != nil {
				return err
			}
			missing := map[string]enumspb.IndexedValueType{}
			for name, t := range attrs {
				if _, ok := have.GetCustomAttributes()[name]; !ok {
					missing[name] = t
				}
			}
			if len(missing) == 0 {
				return nil
			}
			_, err = cl.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: ns, SearchAttributes: missing})
			return err
		}},
	}
	for _, s := range steps {
		for {
			err := s.do()
			if err == nil {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("wait for the embedded server's %s: %w (see temporal.log in the home folder)", s.name, err)
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	return nil
}
