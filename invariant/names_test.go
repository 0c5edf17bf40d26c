package invariant_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// Customers have names that nobody else has: they get one, change it, give it up. The customer's own record is written
// in the same transaction (see package sentinel).

var customers = txn.Table{Name: "Customers"}

const customerKind = "CUSTOMER"

var customerNames, customerIDs = []string{"ann", "bob", "cid"}, []string{"c-1", "c-2"}

// customer is a customer's record as it was read. Version 0: there is none.
type customer struct {
	id, name string
	version  int64
	held     sentinel.Held
}

func customerKey(id string) txn.Item { return customers.Key("TEN#acme#CUSTOMER#"+id, "META") }

func readCustomer(ctx context.Context, client *dynamodb.Client, names *sentinel.Names, id string) (customer, error) {
	c := customer{id: id}
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &customers.Name, Key: customerKey(id), ConsistentRead: aws.Bool(true)})
	if err != nil || out.Item == nil {
		return c, err
	}
	if c.version, err = strconv.ParseInt(out.Item["version"].(*types.AttributeValueMemberN).Value, 10, 64); err != nil {
		return c, err
	}
	name, ok := out.Item["name"].(*types.AttributeValueMemberS)
	if !ok {
		return c, nil
	}
	c.name = name.Value
	c.held, err = names.Lookup(ctx, client, "acme", customerKind, c.name)
	return c, err
}

// renamed is the part that gives the customer another name, or none.
func (c customer) renamed(name string) txn.Part {
	update := expression.Set(expression.Name("version"), expression.Value(c.version+1))
	if name == "" {
		update = update.Remove(expression.Name("name"))
	} else {
		update = update.Set(expression.Name("name"), expression.Value(name))
	}
	return txn.Update(customers, customerKey(c.id), update, txn.If(expression.Name("version").Equal(expression.Value(c.version))))
}

// registry is what one process has of it.
type registry struct {
	p       *invariant.Process
	commits *txn.Committer
	names   *sentinel.Names
}

// want brings a customer to a name, "" for none, and returns what came of it. An error means that the caller may repeat.
func (r registry) want(ctx context.Context, id, name string) (string, error) {
	now, err := readCustomer(ctx, r.p.Client(), r.names, id)
	if err != nil {
		return "", err // also a name that moved between the two reads
	}
	claim := sentinel.Claim{Tenant: "acme", Kind: customerKind, Name: name, Owner: id, Command: r.p.NewID()}
	var parts []txn.Part
	switch {
	case now.name == name && now.version > 0:
		return "done before", nil
	case now.version == 0 && name == "":
		return "nobody to take a name from", nil
	case now.version == 0:
		item := customerKey(id)
		item["name"], item["version"] = s(name), &types.AttributeValueMemberN{Value: "1"}
		parts = []txn.Part{r.names.Reserve(claim), txn.Put(customers, item, txn.IfAbsent())}
	case name == "":
		parts = []txn.Part{r.names.Release(now.held), now.renamed("")}
	case now.name == "":
		parts = []txn.Part{r.names.Reserve(claim), now.renamed(name)}
	default:
		parts = []txn.Part{r.names.Move(now.held, claim), now.renamed(name)}
	}
	noted := attempt{owner: id}
	if name != "" {
		noted.reserve = r.p.Begin(invariant.NameOp{Name: name, Owner: id})
	}
	if now.name != "" {
		noted.release = r.p.Begin(invariant.NameOp{Name: now.name, Owner: id, Release: true})
	}
	_, err = r.commits.Commit(ctx, parts...)
	return noted.ended(err)
}

// attempt is what the model is told of one commit.
type attempt struct {
	owner            string
	reserve, release func(output any)
}

func (a attempt) is(reserved, released any) {
	if a.reserve != nil {
		a.reserve(reserved)
	}
	if a.release != nil {
		a.release(released)
	}
}

// ended notes what is now known about the names, and whether the caller may repeat.
func (a attempt) ended(err error) (string, error) {
	var taken *sentinel.TakenError
	var canceled *txn.CanceledError
	switch {
	case err == nil:
		a.is(a.owner, "")
		return "done", nil
	case errors.Is(err, txn.ErrAmbiguous), errors.As(err, &canceled) && canceled.Unsettled:
		return "", err // it may have happened, or an earlier copy may still arrive
	case errors.As(err, &taken) && taken.Owner != a.owner:
		a.is(taken.Owner, invariant.NoEffect)
		return "refused: " + taken.Owner + " has it", nil
	case errors.Is(err, txn.ErrCanceled), errors.Is(err, txn.ErrContention):
		a.is(invariant.NoEffect, invariant.NoEffect)
	}
	return "", err
}

// nameCustomers is the story of a few workers that give customers names, and take them away.
func nameCustomers(w *invariant.World) {
	w.Table(customers.Name)
	w.Table(sentinel.DefaultTable)
	names := sentinel.New(sentinel.Config{})
	for i := range 2 + w.Choose("more workers", 2) {
		id := customerIDs[w.Choose("customer", len(customerIDs))]
		var wishes []string
		for range 1 + w.Choose("more wishes", 3) {
			wishes = append(wishes, append([]string{""}, customerNames...)[w.Choose("name", len(customerNames)+1)])
		}
		registered(w, fmt.Sprint("worker", i), id, wishes)
	}
	w.Always("names and customers, one to one", func() error { return namesAgree(w, names) })
	w.Run()
	w.Settle()
	w.Check("the holders of a name follow one another", w.Linearizable(invariant.Names()))
}

// registered starts a worker that brings a customer to one name after the other.
func registered(w *invariant.World, worker, id string, wishes []string) {
	w.Note("%s brings %s to the names %q", worker, id, wishes)
	w.Worker(worker, func(ctx context.Context, p *invariant.Process) error {
		r := registry{p: p, commits: txn.New(p.Client(), p.Txn()), names: sentinel.New(sentinel.Config{Now: p.Now})}
		for _, name := range wishes {
			result, err := r.want(ctx, id, name)
			if err != nil {
				return err
			}
			p.Note("%s to %q: %s", id, name, result)
		}
		return nil
	})
}

func namesAgree(w *invariant.World, names *sentinel.Names) error {
	ownerOf, nameOf := map[string]string{}, map[string]string{}
	for _, name := range customerNames {
		held, err := names.Lookup(w.Context(), w.Client(), "acme", customerKind, name)
		if err == nil {
			ownerOf[name] = held.Owner
		} else if !errors.Is(err, sentinel.ErrNotFound) {
			return err
		}
	}
	for _, id := range customerIDs {
		c, err := readCustomer(w.Context(), w.Client(), names, id)
		if err != nil {
			return err
		}
		if c.name != "" {
			nameOf[id] = c.name
		}
	}
	return invariant.Bijection(ownerOf, nameOf)
}

func TestNamesAndOwnersStayOneToOne(t *testing.T) {
	t.Parallel()
	invariant.Check(t, invariant.Config{}, nameCustomers)
}

func TestNamesSurviveEachFaultAtEachRequest(t *testing.T) {
	wishes := []string{"ann", "bob", "", "ann"}
	runs := invariant.EachFault(t, invariant.Config{}, func(w *invariant.World) {
		w.Table(customers.Name)
		w.Table(sentinel.DefaultTable)
		registered(w, "worker", "c-1", wishes)
		w.Run()
		w.Settle()
		w.Check("names and customers, one to one", namesAgree(w, sentinel.New(sentinel.Config{})))
		w.Check("the holders of a name follow one another", w.Linearizable(invariant.Names()))
	})
	if runs < 40 {
		t.Errorf("%d runs", runs)
	}
}
