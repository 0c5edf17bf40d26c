// Command inbox shows the pattern: fills of orders arrive at a portfolio service three times, at once, and once more with
// other content under the same ID, and each has one effect. Beside it stands a consumer without an inbox, which is given
// the same messages. It runs on the embedded engine and prints what happens.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/txn"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "inbox:", err)
		os.Exit(1)
	}
}

// positions is the consumer's own state, which an event must change once.
var positions = txn.Table{Name: "Positions"}

// message is what a queue delivers: an identity of the delivery, and in it the event, whose identity is the producer's.
type message struct{ receipt, eventID, order, quantity string }

// consumer is the portfolio service.
type consumer struct {
	out       io.Writer
	client    *dynamodb.Client
	committer *txn.Committer
	received  *inbox.Inbox
}

// run is the program.
func run(ctx context.Context, out io.Writer) error {
	db := dynamosim.Open(dynamosim.Options{})
	if err := errors.Join(db.CreateTable(positions.Name), db.CreateTable(inbox.DefaultTable)); err != nil {
		return err
	}
	client := db.Client() // in production: the *dynamodb.Client that you have
	c := &consumer{out, client, txn.New(client, txn.Config{}), inbox.New(inbox.Config{Consumer: "portfolio"})}

	fmt.Fprintf(out, "%-12s%-11s%-10s%-52s%9s%9s\n", "MESSAGE", "EVENT", "QUANTITY", "RESULT", "POSITION", "NAIVE")
	for _, m := range []message{
		{"message 1", "order-1/2", "order-1", "100"},
		{"message 2", "order-1/2", "order-1", "100"}, // the queue did not hear the acknowledgement
		{"message 3", "order-2/2", "order-2", "20"},
		{"message 4", "order-1/2", "order-1", "100"}, // an operator replays the day
		{"message 5", "order-2/2", "order-2", "200"}, // somebody reused the ID
	} {
		result, err := c.handle(ctx, m)
		if err != nil {
			return err
		}
		if err := c.handleNaively(ctx, m); err != nil {
			return err
		}
		if err := c.show(ctx, m, result); err != nil {
			return err
		}
	}
	return c.handleAtOnce(ctx, message{"", "order-3/2", "order-3", "7"}, 8)
}

// handle gives a message its effect. A nil error says that it may be acknowledged, whatever the result.
func (c *consumer) handle(ctx context.Context, m message) (result string, err error) {
	outcome, err := c.received.Process(ctx, c.committer,
		inbox.Event{ID: m.eventID, Type: "OrderFilled", Source: m.order, SourceVersion: 2, Payload: []byte(m.quantity)},
		map[string]string{"added": m.quantity}, // what came of it, for whoever delivers it again
		txn.Update(positions, positionKey, add("quantity", m.quantity)),
	)
	var mismatch *inbox.MismatchError
	switch {
	case errors.As(err, &mismatch): // no repeat can cure it: put it aside, and let somebody look at it
		return "refused: the ID belongs to another event", nil
	case err != nil: // nothing is known to have happened: let the queue deliver it again
		return "", err
	case outcome.Duplicate:
		return fmt.Sprintf("had its effect before: added %s", outcome.Effect["added"]), nil
	}
	return fmt.Sprintf("added %s and its receipt, %s write units", outcome.Effect["added"], outcome.Commit.Total()), nil
}

// handleNaively is what a consumer does that trusts its queue: each delivery counts.
func (c *consumer) handleNaively(ctx context.Context, m message) error {
	_, err := c.committer.Commit(ctx, txn.Update(positions, positionKey, add("naive", m.quantity)))
	return err
}

// handleAtOnce delivers one event to several workers at the same time.
func (c *consumer) handleAtOnce(ctx context.Context, m message, workers int) error {
	results, errs := make([]string, workers), make([]error, workers)
	var busy sync.WaitGroup
	for i := range workers {
		busy.Go(func() { results[i], errs[i] = c.handle(ctx, m) })
	}
	busy.Wait()
	count := map[string]int{}
	for _, result := range results {
		count[result]++
	}
	fmt.Fprintf(c.out, "\n%d workers get %s at once:\n", workers, m.eventID)
	for _, result := range []string{"added 7 and its receipt, 4 write units", "had its effect before: added 7"} {
		fmt.Fprintf(c.out, "%6d  %s\n", count[result], result)
	}
	return errors.Join(errs...)
}

// show prints a message with its result, and what the two consumers have.
func (c *consumer) show(ctx context.Context, m message, result string) error {
	out, err := c.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(positions.Name), Key: positionKey, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return err
	}
	figure := func(name string) string {
		n, _ := out.Item[name].(*types.AttributeValueMemberN)
		return n.Value
	}
	_, err = fmt.Fprintf(c.out, "%-12s%-11s%8s  %-52s%9s%9s\n", m.receipt, m.eventID, m.quantity, result, figure("quantity"), figure("naive"))
	return err
}

var positionKey = positions.Key(txn.JoinKey("TEN", "acme", "ACCT", "a-1"), txn.JoinKey("POS", "ACME"))

// add is an update that adds an exact number, digit by digit.
func add(attribute, quantity string) expression.UpdateBuilder {
	return expression.Add(expression.Name(attribute), expression.Value(&types.AttributeValueMemberN{Value: quantity}))
}
