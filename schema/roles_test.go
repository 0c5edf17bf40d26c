package schema_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/schema"
	"github.com/dynafin/dynafin/txn"
)

// world is the service on its tables, with the gatekeeper at the door.
type world struct {
	*testing.T
	service
	deployment schema.Deployment
	client     *dynamodb.Client
	unseen     *dynamodb.Client // passes by the gatekeeper
	keeper     *gatekeeper
	steps      []step
}

// step is something that programs with some roles do, and what IAM sees of it.
type step struct {
	roles    []string
	what     string
	requests []request
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, service: newService(), keeper: &gatekeeper{t: t, pks: map[string]string{}}}
	w.deployment = w.service.deployment()
	d, err := w.deployment.Plan()
	w.must(err)
	for _, table := range d.Tables {
		w.keeper.pks[table.Name] = table.PK
		for _, i := range table.Indexes {
			w.keeper.pks[table.Name+"/index/"+i.Name] = i.PK
		}
	}
	db := create(t, w.deployment)
	w.client, w.unseen = db.Client(w.keeper.on), db.Client()
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// as does something in a role, or in several joined by a plus.
func (w *world) as(roles, what string, do func() error) {
	w.Helper()
	w.keeper.take()
	if err := do(); err != nil {
		w.Fatalf("%s, %s: %v", roles, what, err)
	}
	w.steps = append(w.steps, step{strings.Split(roles, "+"), what, w.keeper.take()})
}

func (w *world) commit(parts ...txn.Part) error {
	_, err := txn.Commit(w.Context(), w.client, parts...)
	return err
}

// policy is the document of some roles.
func (w *world) policy(scope schema.Scope, roles ...string) []byte {
	w.Helper()
	scope.Account = anAccount
	policy, err := w.deployment.Policy(scope, roles...)
	w.must(err)
	document, err := policy.JSON()
	w.must(err)
	return document
}

func TestRolesAllowWhatPrimitivesDoAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.doEverything()
	for _, role := range w.deployment.Roles() {
		if role != schema.VerifyRole {
			w.nothingIsMissing(role)
			w.nothingIsUnneeded(role)
			w.othersAreDenied(role)
			w.probesAreDenied(role)
		}
	}
}

// of returns the steps of a role.
func (w *world) of(role string) (steps []step) {
	for _, s := range w.steps {
		if slices.Contains(s.roles, role) {
			steps = append(steps, s)
		}
	}
	return steps
}

func (w *world) nothingIsMissing(role string) {
	for _, s := range w.of(role) {
		document := w.policy(schema.Scope{}, s.roles...)
		narrow := w.policy(schema.Scope{Tenant: tenant}, s.roles...)
		for _, r := range s.requests {
			if !allows(w.T, document, r) || !allows(w.T, narrow, r) {
				w.Errorf("%s, %s: denied: %s", role, s.what, r)
			}
		}
	}
	if len(w.of(role)) == 0 {
		w.Errorf("%s does nothing here", role)
	}
}

// nothingIsUnneeded takes away one action or key pattern after the other: something must be denied then. Of a denial,
// something must be allowed.
func (w *world) nothingIsUnneeded(role string) {
	whole := w.policy(schema.Scope{}, role)
	for _, less := range w.reductions(whole) {
		missed := slices.ContainsFunc(w.of(role), func(s step) bool {
			others := slices.DeleteFunc(slices.Clone(s.roles), func(name string) bool { return name == role })
			return slices.ContainsFunc(s.requests, func(r request) bool {
				return allows(w.T, whole, r) && !allows(w.T, less.document, r) && !allows(w.T, w.policy(schema.Scope{}, others...), r)
			})
		})
		if !missed && !less.denial {
			w.Errorf("%s does not need %s", role, less.what)
		}
	}
}

type reduction struct {
	what     string
	document []byte
	denial   bool
}

func (w *world) reductions(document []byte) (all []reduction) {
	var policy schema.Policy
	w.must(json.Unmarshal(document, &policy))
	add := func(what string, s schema.Statement, denial bool, at int) {
		less := schema.Policy{Version: policy.Version, Statement: slices.Clone(policy.Statement)}
		less.Statement[at] = s
		text, err := less.JSON()
		w.must(err)
		all = append(all, reduction{what, text, denial})
	}
	for at, s := range policy.Statement {
		denial := s.Effect == "Deny"
		for n, action := range s.Action {
			less := s
			less.Action = slices.Delete(slices.Clone(s.Action), n, n+1)
			add(fmt.Sprint(s.Sid, " ", action), less, denial, at)
		}
		const operator, key = "ForAllValues:StringLike", "dynamodb:LeadingKeys"
		patterns := s.Condition[operator][key]
		for n, pattern := range patterns {
			less := s
			less.Condition = map[string]map[string][]string{}
			for name, condition := range s.Condition {
				less.Condition[name] = condition
			}
			less.Condition[operator] = map[string][]string{key: append(slices.Delete(slices.Clone(patterns), n, n+1), "nobody")}
			add(fmt.Sprint(s.Sid, " on ", pattern), less, denial, at)
		}
	}
	return all
}

// othersAreDenied: what another primitive does is not allowed, on the tables that both share neither.
func (w *world) othersAreDenied(role string) {
	primitive, _, _ := strings.Cut(role, ".")
	document := w.policy(schema.Scope{}, role)
	for _, s := range w.steps {
		if other, _, _ := strings.Cut(s.roles[0], "."); other == primitive {
			continue
		}
		for _, r := range s.requests {
			if allows(w.T, document, r) {
				w.Errorf("%s may do what %v does, %s: %s", role, s.roles, s.what, r)
			}
		}
	}
}

// probesAreDenied bends what the role does: other keys, other tables, no key at all, other actions.
func (w *world) probesAreDenied(role string) {
	document, narrow := w.policy(schema.Scope{}, role), w.policy(schema.Scope{Tenant: "globex"}, role)
	for _, s := range w.of(role) {
		for _, r := range s.requests {
			for _, probe := range bent(r) {
				if allows(w.T, document, probe) {
					w.Errorf("%s may do %s", role, probe)
				}
			}
			if strings.HasPrefix(leading(r), "TEN#") && allows(w.T, narrow, r) {
				w.Errorf("%s of tenant globex may do %s", role, r)
			}
		}
	}
}

// leading is the partition key of a request, "" for a Scan.
func leading(r request) string {
	if keys := r.context["dynamodb:LeadingKeys"]; len(keys) > 0 {
		return keys[0]
	}
	return ""
}

func bent(r request) []request {
	with := func(action, resource string, keys ...string) request {
		context := map[string][]string{"dynamodb:LeadingKeys": keys}
		if enclosing := r.context["dynamodb:EnclosingOperation"]; enclosing != nil {
			context["dynamodb:EnclosingOperation"] = enclosing
		}
		return request{"dynamodb:" + action, resource, context}
	}
	action, _ := strings.CutPrefix(r.action, "dynamodb:")
	key := leading(r)
	if action == "Scan" { // without keys there are no other ones
		return []request{with(action, r.resource+"-old"), with("GetItem", r.resource, "TEN#acme#ACCT#ann"), with("DeleteTable", r.resource)}
	}
	probes := []request{
		with(action, r.resource),
		with(action, r.resource, "X"+key),
		with(action, r.resource, key, "TEN#acme#ACCOUNTING#1"),
		with(action, r.resource+"-old", key),
		with(action, strings.Replace(r.resource, anAccount, "210987654321", 1), key),
		with(action, strings.Replace(r.resource, "eu-west-1", "us-east-1", 1), key),
	}
	for _, forbidden := range []string{"Scan", "BatchWriteItem", "BatchGetItem", "DeleteTable", "UpdateTable", "PartiQLSelect", "UpdateTimeToLive"} {
		probes = append(probes, with(forbidden, r.resource, key), with(forbidden, r.resource))
	}
	for _, name := range []string{"SERVICE#orders", "CONSUMER#portfolio", "PROJ#portfolio"} {
		if rest, ok := strings.CutPrefix(key, name); ok && !strings.HasPrefix(rest, "-") {
			probes = append(probes, with(action, r.resource, name+"-other"+rest))
		}
	}
	return probes
}

// A write that belongs into a transaction is denied outside of one, and postings cannot be changed by anybody.
func TestWhatRolesMustNotDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := []string{"TransactWriteItems"}
	for _, c := range []struct {
		role, action, table, key string
		enclosing                []string
		want                     bool
	}{
		{"outbox.create", "PutItem", "Orders", "OUTBOX#event-1", in, true},
		{"outbox.create", "PutItem", "Orders", "OUTBOX#event-1", nil, false},
		{"outbox.create", "UpdateItem", "Orders", "OUTBOX#event-1", in, false},
		{"outbox.relay", "DeleteItem", "Orders", "OUTBOX#event-1", nil, false},
		{"outbox.relay", "PutItem", "Orders", "OUTBOX#event-1", nil, false},
		{"outbox.read", "UpdateItem", "Orders", "OUTBOX#event-1", nil, false},
		{"sentinel.reserve", "UpdateItem", "Orders", "TEN#acme#CLIENTORDER#C-77", in, true},
		{"sentinel.reserve", "UpdateItem", "Orders", "TEN#acme#EMAIL#a@example.com", in, false},
		{"sentinel.reserve", "DeleteItem", "Orders", "TEN#acme#CLIENTORDER#C-77", in, false},
		{"idempotency.once", "UpdateItem", "Orders", "TEN#acme#REQ#key-1", in, false},
		{"idempotency.once", "DeleteItem", "Orders", "TEN#acme#REQ#key-1", in, false},
		{"inbox.receive", "DeleteItem", "Inbox", "CONSUMER#portfolio#V#0001#SHARD#0003", in, false},
		{"inbox.receive", "UpdateItem", "Inbox", "CONSUMER#portfolio#V#0001#SHARD#0003", in, false},
		{"ledger.post", "UpdateItem", "Ledger", "TEN#acme#ACCT#bank", in, true},
		{"ledger.post", "UpdateItem", "Ledger", "TEN#acme#ACCT#bank#MONTH#2026-11#BKT#00", in, false},
		{"ledger.post", "UpdateItem", "Ledger", "TEN#acme#ACCT#bank#STRIPE#0001#LANE#0000#MONTH#2026-11#BKT#00", in, false},
		{"ledger.post", "DeleteItem", "Ledger", "TEN#acme#ACCT#bank#MONTH#2026-11#BKT#00", in, false},
		{"ledger.open", "UpdateItem", "Ledger", "TEN#acme#ACCT#bank#MONTH#2026-11#BKT#00", in, false},
		{"ledger.sweep", "UpdateItem", "Ledger", "TEN#acme#ACCT#bank#MONTH#2026-11#BKT#00", in, false},
		{"ledger.read", "PutItem", "Ledger", "TEN#acme#ACCT#bank", in, false},
		{"projection.read", "UpdateItem", "Projection", "PROJ#portfolio#V#0001#SHARD#0003", nil, false},
		{"projection.apply", "UpdateItem", "Projection", "PROJ#portfolio", nil, false},
		{"shardmap.read", "PutItem", "ShardMaps", "SHARDMAP#inbox.portfolio", nil, false},
		{"shardmap.operate", "PutItem", "ShardMaps", "SHARDMAP#other", nil, false},
	} {
		r := access(c.action, c.table)
		r.context["dynamodb:LeadingKeys"], r.context["dynamodb:EnclosingOperation"] = []string{c.key}, c.enclosing
		if got := allows(t, w.policy(schema.Scope{}, c.role), r); got != c.want {
			t.Errorf("%s: %s: %v", c.role, r, got)
		}
	}
	for _, role := range []string{"ledger.post", "ledger.open", "ledger.sweep"} {
		var policy schema.Policy
		w.must(json.Unmarshal(w.policy(schema.Scope{Tenant: tenant}, role), &policy))
		last := policy.Statement[len(policy.Statement)-1]
		if last.Effect != "Deny" || last.Condition["ForAnyValue:StringLike"]["dynamodb:LeadingKeys"][0] != "TEN#*#ACCT#*#MONTH#*#BKT#*" {
			t.Errorf("%s may change postings if another policy allows it: %v", role, last)
		}
	}
}

// A role that verifies may describe the tables, and nothing else.
func TestTheVerifierOnlyDescribes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	document := w.policy(schema.Scope{}, schema.VerifyRole)
	for action, want := range map[string]bool{"DescribeTable": true, "DescribeTimeToLive": true, "DescribeContinuousBackups": true,
		"UpdateTable": false, "GetItem": false, "Scan": false, "UpdateContinuousBackups": false} {
		for _, table := range []string{"Orders", "Ledger", "Other"} {
			if got := allows(t, document, access(action, table)); got != (want && table != "Other") {
				t.Errorf("%s on %s: %v", action, table, got)
			}
		}
	}
}
