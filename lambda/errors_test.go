package lambda_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/dynafin/dynafin/internal/fault"
	"github.com/dynafin/dynafin/lambda"
)

// Every error says whether a repeat can help, and its code, once; and its kind survives wrapping. The tests of the root
// module hold all others to the same.
func TestEveryErrorCanBeActedOn(t *testing.T) {
	t.Parallel()
	var notStored error
	handler := lambda.SQS(lambda.Config{
		DeadLetters: func(context.Context, lambda.DeadLetter) error { return errSink },
		Observer:    func(_ context.Context, o lambda.Observation) { notStored = o.Err },
	}, func(context.Context, events.SQSMessage) error { return lambda.Permanent(errClosed) })
	call(t, t.Context(), handler, events.SQSEvent{Records: []events.SQSMessage{sqsMessage(standardARN, "m-1", "", secret, 1)}})
	codes := map[string]bool{}
	for _, c := range []struct {
		err, kind error
		says      []string
	}{
		{&lambda.InvalidError{Field: "Config.Margin", Reason: "is negative"}, lambda.ErrInvalid, []string{"Config.Margin", "is negative"}},
		{lambda.Permanent(errClosed), lambda.ErrPermanent, []string{errClosed.Error()}},
		{lambda.Temporary(errClosed), lambda.ErrTemporary, []string{errClosed.Error()}},
		{&lambda.PanicError{Value: secret}, lambda.ErrPanic, []string{"type string"}},
		{notStored, lambda.ErrDeadLetter, []string{"m-1", standardARN, errSink.Error()}},
	} {
		text := c.err.Error()
		var coded interface{ Code() string }
		if wrapped := fmt.Errorf("outer: %w", c.err); !errors.Is(wrapped, c.kind) || !errors.As(wrapped, &coded) || !strings.HasSuffix(text, "["+coded.Code()+"]") {
			t.Errorf("%T: kind or code is lost in %q", c.err, text)
			continue
		}
		codes[coded.Code()] = true
		if strings.Count(text, "[DFN-") != 1 || strings.Count(text, "retrying")+strings.Count(text, "retry later") != 1 || strings.Contains(text, secret) {
			t.Errorf("%T: %q", c.err, text)
		}
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%T: %q does not say %q", c.err, text, want)
			}
		}
	}
	for _, code := range fault.Lambda {
		if !codes[code.ID] {
			t.Errorf("no error above has the code %s of %s", code.ID, code.Name)
		}
	}
}
