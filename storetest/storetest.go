package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/txn"
)

// rivals is how many workers want the same thing at the same time.
const rivals = 8

// run is one run of a suite.
type run struct {
	ctx    context.Context
	client *dynamodb.Client
	id     string // part of every identity, so that no other run's records are met
	broken []error
}

func begin(ctx context.Context, client *dynamodb.Client) *run {
	return &run{ctx: ctx, client: client, id: rand.Text()}
}

// promise notes what comes of a promise.
func (r *run) promise(what string, keep func() error) {
	if err := keep(); err != nil {
		r.broken = append(r.broken, fmt.Errorf("storetest: %s: %w", what, err))
	}
}

func (r *run) end() error { return errors.Join(r.broken...) }

// commit commits over a network that loses nothing.
func (r *run) commit(parts ...txn.Part) error {
	_, err := txn.Commit(r.ctx, r.client, parts...)
	return err
}

// commitLossy commits over a network that loses the first answer after the transaction was applied.
func (r *run) commitLossy(parts ...txn.Part) (txn.Receipt, error) {
	var lost atomic.Bool
	return txn.Commit(r.ctx, r.faulty(func(dynamosim.Call) dynamosim.Fate {
		if lost.CompareAndSwap(false, true) {
			return dynamosim.LoseAnswer
		}
		return dynamosim.Deliver
	}), parts...)
}

func (r *run) faulty(choose func(dynamosim.Call) dynamosim.Fate) *dynamodb.Client {
	o := r.client.Options()
	o.HTTPClient = dynamosim.Faulty(o.HTTPClient, choose)
	return dynamodb.New(o)
}

// compete lets every rival work at the same time and returns their errors.
func compete(work func(rival int) error) [rivals]error {
	var errs [rivals]error
	var group sync.WaitGroup
	for i := range rivals {
		group.Go(func() { errs[i] = work(i) })
	}
	group.Wait()
	return errs
}

// fact writes an item that the caller of a primitive would write himself.
func (r *run) fact(table txn.Table, name string) txn.Part {
	return txn.Put(table, r.key(table, name), txn.IfAbsent(), txn.Label("fact"))
}

func (r *run) key(table txn.Table, name string) txn.Item {
	return table.Key("STORETEST#"+r.id+"#"+name, "FACT")
}

// read returns a fact as it is stored, nil if there is none.
func (r *run) read(table txn.Table, name string) (txn.Item, error) {
	out, err := r.client.GetItem(r.ctx, &dynamodb.GetItemInput{
		TableName: &table.Name, Key: r.key(table, name), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// facts counts which of the rivals' facts are stored.
func (r *run) facts(table txn.Table, name string) (n int, err error) {
	for i := range rivals {
		item, err := r.read(table, fmt.Sprint(name, i))
		if err != nil {
			return 0, err
		}
		if item != nil {
			n++
		}
	}
	return n, nil
}

// oneFact checks that exactly one of the rivals' facts is stored.
func (r *run) oneFact(table txn.Table, name string) error {
	n, err := r.facts(table, name)
	if err == nil && n != 1 {
		err = fmt.Errorf("%d rivals stored their other write, want 1", n)
	}
	return err
}

// An index may lag. It is looked at again after indexPause, indexTries times at most.
const (
	indexPause = 100 * time.Millisecond
	indexTries = 300
)

// eventually repeats a look at an index until it shows what it must, or fails.
func (r *run) eventually(look func() (shown bool, err error)) error {
	for range indexTries {
		if shown, err := look(); shown || err != nil {
			return err
		}
		select {
		case <-time.After(indexPause):
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	}
	return fmt.Errorf("not after %v", indexPause*indexTries)
}
