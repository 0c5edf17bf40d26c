package mend

// Examples are those of the commands that change data, by noun and verb.
var Examples = map[string]string{
	"audit ls":           "  dynafin audit ls --month 2026-11",
	"inbox forget":       `  dynafin inbox forget 01J9K2Q4 --consumer portfolio --reason "its fill was reversed by hand, INC-7" --dry-run`,
	"ledger reverse":     `  dynafin ledger reverse --tenant acme pay-2 --reason "charged twice, INC-881" --dry-run`,
	"outbox discard":     `  dynafin outbox discard --id 01J9K2Q4 --reason "sent by hand" --dry-run`,
	"outbox park":        `  dynafin outbox park --id 01J9K2Q4 --reason "wrong price, INC-881"`,
	"outbox pause":       `  dynafin outbox pause --service orders --reason "the bus is being moved"`,
	"outbox resume":      `  dynafin outbox resume --service orders --reason "the bus has moved"`,
	"outbox retry":       "  dynafin outbox retry --group 5ca1ab1e --dry-run\n" + `  dynafin outbox retry --group 5ca1ab1e --reason "bus restored, INC-881" --max-wcu 50`,
	"projection rebuild": `  dynafin projection rebuild --projection positions --cutover 2 --reason "proved" --dry-run`,
	"projection resume":  `  dynafin projection resume --projection positions --source acme/Position/ACME --reason "never published" --dry-run`,
	"recon accept":       `  dynafin recon accept cash-1/5f0c2d --reference journal-17 --reason "fee of the bank"`,
	"recon match":        `  dynafin recon match cash-1/5f0c2d --reference line-17 --reason "the other side came late"`,
	"recon reopen":       `  dynafin recon reopen cash-1/5f0c2d --reason "accepted by mistake"`,
	"recon run":          `  dynafin recon run --batch cash-2 --left books.csv --right statement.csv --owner finance-ops --tolerance "0.01 USD" --dry-run`,
	"recon unmatch":      `  dynafin recon unmatch cash-1/5f0c2d --reason "another payment"`,
	"requests complete":  `  dynafin requests complete --tenant acme key-7f3a --code 201 --effect ledger:pay-1 --reason "the entry is there"`,
	"requests release":   `  dynafin requests release --tenant acme key-7f3a --effect ledger:pay-1 --reason "the provider has no charge"`,
	"sentinel repair":    `  dynafin sentinel repair --tenant acme CLIENTORDER/C-77 --owner order-1 --reason "moved by hand before" --dry-run`,
}
