package schema_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/schema"
)

func TestPrimitivesShareATable(t *testing.T) {
	t.Parallel()
	d, err := newService().deployment().Plan()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, table := range d.Tables {
		names = append(names, table.Name)
	}
	if got := strings.Join(names, " "); got != "Export Inbox Ledger Orders Projection Reconciliation ShardMaps" {
		t.Errorf("tables %s", got)
	}
	orders := d.Tables[3]
	if len(orders.Indexes) != 2 || orders.TTL != "expiresAt" || !orders.Transactions || len(orders.Roles) != 11 {
		t.Errorf("%d indexes, TTL %q, %d roles", len(orders.Indexes), orders.TTL, len(orders.Roles))
	}
	if d.RecoveryDays != 35 || d.Consistency != schema.EventualConsistency {
		t.Errorf("%d days, %s", d.RecoveryDays, d.Consistency)
	}
	same := trades()
	same.Indexes[0].Project = []string{"quantity", "price"} // the order does not matter
	if merged, err := schema.Merge(trades(), same); err != nil || len(merged) != 1 || len(merged[0].Indexes) != 1 {
		t.Errorf("one table twice: %v, %v", merged, err)
	}
}

func TestEveryFaultOfADeploymentIsReported(t *testing.T) {
	t.Parallel()
	manyNames := func(n int) (names []string) {
		for i := range n {
			names = append(names, "attribute"+string(rune('a'+i%26))+string(rune('a'+i/26)))
		}
		return names
	}
	twice := func(change func(t *schema.Table)) func(*schema.Deployment, *schema.Table) {
		return func(d *schema.Deployment, _ *schema.Table) {
			second := trades()
			change(&second)
			d.Tables = append(d.Tables, second)
		}
	}
	for says, spoil := range map[string]func(d *schema.Deployment, t *schema.Table){
		`table Trades: PK, SK are "PK", "SK" for one and "id"`:        twice(func(t *schema.Table) { t.PK = "id" }),
		`table Trades: TTL is "expiresAt" for one and "x"`:            twice(func(t *schema.Table) { t.TTL = "x" }),
		`table Trades: Stream is "NEW_IMAGE" for one and "OLD_IMAGE"`: twice(func(t *schema.Table) { t.Stream = schema.StreamOld }),
		"table Trades: index GSI1 is defined in two ways":             twice(func(t *schema.Table) { t.Indexes[0].SK = "other" }),
		"Tables are missing":                        func(d *schema.Deployment, _ *schema.Table) { d.Tables = nil },
		"table a: Name is not 3 to 255":             func(_ *schema.Deployment, t *schema.Table) { t.Name = "a" },
		"table Tra des: Name is not 3 to 255":       func(_ *schema.Deployment, t *schema.Table) { t.Name = "Tra des" },
		"PK is missing":                             func(_ *schema.Deployment, t *schema.Table) { t.PK = "" },
		"SK is the partition key as well":           func(_ *schema.Deployment, t *schema.Table) { t.SK = "PK" },
		"TTL is a key attribute":                    func(_ *schema.Deployment, t *schema.Table) { t.TTL = "SK" },
		"Stream is no view":                         func(_ *schema.Deployment, t *schema.Table) { t.Stream = "ALL" },
		"index GSI1 is there twice":                 func(_ *schema.Deployment, t *schema.Table) { t.Indexes = append(t.Indexes, t.Indexes[0]) },
		"index GSI1 has no partition key":           func(_ *schema.Deployment, t *schema.Table) { t.Indexes[0].PK = "" },
		"index GSI1 has one attribute as both keys": func(_ *schema.Deployment, t *schema.Table) { t.Indexes[0].SK = t.Indexes[0].PK },
		"index GSI2 has the key attributes of another": func(_ *schema.Deployment, t *schema.Table) {
			second := t.Indexes[0]
			second.Name = "GSI2"
			t.Indexes = append(t.Indexes, second)
		},
		"index GSI1 projects all attributes":                          func(_ *schema.Deployment, t *schema.Table) { t.Indexes[0].All = true },
		"index GSI1 projects more than 20":                            func(_ *schema.Deployment, t *schema.Table) { t.Indexes[0].Project = manyNames(21) },
		"route Nowhere has no partition key":                          func(_ *schema.Deployment, t *schema.Table) { t.Routes = schema.Routes("", "Nowhere") },
		"RecoveryDays is outside 1 to 35":                             func(d *schema.Deployment, _ *schema.Table) { d.RecoveryDays = 36 },
		"Consistency is neither":                                      func(d *schema.Deployment, _ *schema.Table) { d.Consistency = "WEAK" },
		"HomeRegion is missing":                                       func(d *schema.Deployment, _ *schema.Table) { d.HomeRegion, d.Replicas = "", []string{"eu-central-1"} },
		"Replicas have the home Region":                               func(d *schema.Deployment, _ *schema.Table) { d.Replicas = []string{"eu-west-1"} },
		"Replicas have a Region twice":                                func(d *schema.Deployment, _ *schema.Table) { d.Replicas = []string{"eu-west-2", "eu-west-2"} },
		`"Dublin" is no Region`:                                       func(d *schema.Deployment, _ *schema.Table) { d.HomeRegion = "Dublin" },
		`Tags "aws:x" is no tag`:                                      func(d *schema.Deployment, _ *schema.Table) { d.Tags = map[string]string{"aws:x": ""} },
		`"Trad.es" and "Trades" differ only in signs`:                 twice(func(t *schema.Table) { t.Name = "Trad.es" }),
		"transactions, which multi-Region strong consistency refuses": func(d *schema.Deployment, _ *schema.Table) { d.Consistency = schema.StrongConsistency },
		"multi-Region strong consistency has no TTL": func(d *schema.Deployment, t *schema.Table) {
			d.Consistency, t.Transactions = schema.StrongConsistency, false
		},
		"Replicas are not two": func(d *schema.Deployment, _ *schema.Table) { d.Consistency = schema.StrongConsistency },
	} {
		d := schema.Deployment{Tables: []schema.Table{trades()}, HomeRegion: "eu-west-1"}
		spoil(&d, &d.Tables[:1][0])
		_, err := d.Plan()
		if !errors.Is(err, schema.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q, got %v", says, err)
		}
		for _, emit := range []func() ([]byte, error){d.CloudFormation, d.Terraform, d.Workbench} {
			if text, err := emit(); !errors.Is(err, schema.ErrInvalid) || text != nil {
				t.Errorf("%s: a template came out", says)
			}
		}
		if _, err := d.Create(); !errors.Is(err, schema.ErrInvalid) {
			t.Errorf("%s: requests came out", says)
		}
	}
}

// A table of the caller's own without transactions and TTL may be strongly consistent in three Regions.
func TestStrongConsistencyIsForTablesWithoutTransactions(t *testing.T) {
	t.Parallel()
	plain := schema.Table{Name: "Config", PK: "id"}
	d := schema.Deployment{Tables: []schema.Table{plain}, HomeRegion: "eu-west-1", Replicas: []string{"eu-west-2", "eu-west-3"},
		Consistency: schema.StrongConsistency}
	for _, emit := range []func() ([]byte, error){d.CloudFormation, d.Terraform} {
		text, err := emit()
		if err != nil || !strings.Contains(string(text), `"STRONG"`) {
			t.Errorf("%s, %v", text, err)
		}
	}
}

func TestPoliciesNeedToKnowWhere(t *testing.T) {
	t.Parallel()
	d := newService().deployment()
	for says, c := range map[string]struct {
		scope schema.Scope
		role  string
	}{
		"Scope.Account is not twelve digits":            {schema.Scope{Account: "12"}, "outbox.relay"},
		"Scope.Region is missing":                       {schema.Scope{Account: anAccount, Region: "here"}, "outbox.relay"},
		"Scope.Partition is no partition":               {schema.Scope{Account: anAccount, Partition: "*"}, "outbox.relay"},
		"role outbox.everything does not exist":         {schema.Scope{Account: anAccount}, "outbox.everything"},
		"grants something without saying on which keys": {schema.Scope{Account: anAccount}, "own"},
	} {
		d.Tables = append(newService().deployment().Tables, schema.Table{Name: "Orders", PK: "PK", SK: "SK",
			Roles: []schema.Role{{Name: "own", Grants: []schema.Grant{{Actions: []schema.Action{schema.GetItem}}}}}})
		if _, err := d.Policy(c.scope, c.role); !errors.Is(err, schema.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q, got %v", says, err)
		}
	}
}

// A managed policy takes 6,144 characters, white space not counted.
func TestPoliciesFitIntoIAM(t *testing.T) {
	t.Parallel()
	d := newService().deployment()
	for _, role := range d.Roles() {
		policy, err := d.Policy(schema.Scope{Account: anAccount, Tenant: tenant}, role)
		if err != nil {
			t.Fatal(err)
		}
		text, err := policy.JSON()
		if n := len(strings.Join(strings.Fields(string(text)), "")); err != nil || n > 6144/3 {
			t.Errorf("%s: %d characters, %v", role, n, err)
		}
		compareGolden(t, "policy."+role+".json", text)
	}
}

func TestOnlyTheHomeRegionIsWritten(t *testing.T) {
	t.Parallel()
	db := dynamosim.New(t, dynamosim.Options{Region: "eu-west-1"})
	if err := db.CreateTable("Orders"); err != nil {
		t.Fatal(err)
	}
	home := db.Client(schema.HomeRegion("eu-west-1"))
	in := &dynamodb.GetItemInput{TableName: aws.String("Orders"), Key: orders.Key("a", "b")}
	if _, err := home.GetItem(t.Context(), in); err != nil {
		t.Errorf("at home: %v", err)
	}
	sent := db.Stats().Requests["GetItem"]
	for name, call := range map[string]func() error{
		"a client of another Region": func() error {
			_, err := db.Client(schema.HomeRegion("eu-west-1"), elsewhere).GetItem(t.Context(), in)
			return err
		},
		"a request for another Region": func() error {
			_, err := home.GetItem(context.Background(), in, elsewhere)
			return err
		},
	} {
		err := call()
		var wrong *schema.RegionError
		if !errors.As(err, &wrong) || wrong.Operation != "GetItem" || wrong.Region != "us-east-1" || !errors.Is(err, schema.ErrRegion) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if again := db.Stats().Requests["GetItem"]; again != sent {
		t.Errorf("%d requests went elsewhere", again-sent)
	}
}

func elsewhere(o *dynamodb.Options) { o.Region = "us-east-1" }
