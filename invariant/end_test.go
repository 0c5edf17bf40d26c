package invariant

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// dry is chance that ends after some choices, as rapid's does when it replays a file of another version of a story, or
// tries a shorter one.
type dry struct {
	*seeded
	left int
}

type overrun struct{}

func (d *dry) choose(label string, n int) int {
	if d.left == 0 {
		panic(overrun{})
	}
	d.left--
	return d.seeded.choose(label, n)
}

// A history whose choices run dry ends, wherever that is, with all of its workers: else the bubble's complaint of blocked
// goroutines hides the true reason, and rapid takes it for a failure.
func TestAHistoryThatRunsOutOfChoicesLeavesNobodyBehind(t *testing.T) {
	t.Parallel()
	story := func(w *World) {
		w.Table("Things")
		for i := range 3 {
			w.Worker(fmt.Sprint("w", i), func(ctx context.Context, p *Process) error {
				_, err := p.Client().PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("Things"), Item: map[string]types.AttributeValue{
					"PK": &types.AttributeValueMemberS{Value: "p"}, "SK": &types.AttributeValueMemberS{Value: p.Name()}}})
				return err
			})
		}
		w.Run()
		w.Settle()
	}
	for choices, ended := 0, ""; ended != "in time"; choices++ {
		ended = ends(t, &dry{newSeeded(7), choices}, story)
		if ended != "dry" && (ended != "in time" || choices < 10) {
			t.Fatalf("after %d choices: %s", choices, ended)
		}
	}
}

// ends tells a story and says how it ended.
func ends(t *testing.T, chance chance, story func(*World)) (how string) {
	defer func() {
		if r := recover(); r != nil {
			how = fmt.Sprint(r)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		defer func() {
			if _, ok := recover().(overrun); ok {
				how = "dry"
			}
		}()
		how = "with another panic"
		if o := play(t, Config{}, chance, nil, story); o.failure != nil {
			t.Error(o.failure)
		}
		how = "in time"
	})
	return how
}

// Who is left behind is named: the bubble itself only complains.
func TestAGoroutineThatOutlivesItsHistoryIsNamed(t *testing.T) {
	t.Parallel()
	var name string
	how := ends(t, newSeeded(1), func(w *World) {
		name = bubble()
		w.Worker("w", func(context.Context, *Process) error {
			go oversleep()
			return nil
		})
		w.Run()
	})
	if stacks := leftBehind(name); !strings.Contains(how, "blocked goroutines remain") || !strings.Contains(stacks, "invariant.oversleep(") {
		t.Errorf("%s; %q has\n%s", how, name, stacks)
	}
	if bubble() != "" || leftBehind("") != "" {
		t.Error("there is no bubble here")
	}
}

func oversleep() { sleep(time.Hour) }
