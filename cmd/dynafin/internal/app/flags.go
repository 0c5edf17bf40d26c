package app

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// flags are those of every command.
type flags struct {
	endpoint, region, load string
	config                 string
	tables, tenants        []string
	output                 string
	wide, noColor, scan    bool
	maxRCU                 int
}

// The formats of --output.
const (
	FormatTable = "table"
	FormatJSON  = "json"
	FormatJSONL = "jsonl"
	FormatCSV   = "csv"
)

var formats = []string{FormatTable, FormatJSON, FormatJSONL, FormatCSV}

// defaultMaxRCU is modest: a table on demand starts with 12,000 units a second, and its service needs them.
const defaultMaxRCU = 500

func (f *flags) register(set *pflag.FlagSet) {
	set.StringVar(&f.config, "config", "", "deployment `FILE` that says what is where (default: $DYNAFIN_CONFIG)")
	set.StringArrayVar(&f.tables, "table", nil, "`PART=NAME`: where one part is, for example requests=Orders or outbox:orders=Orders; repeatable")
	set.StringArrayVar(&f.tenants, "tenant", nil, "`TENANT` to look at; repeatable (default: those of the deployment)")
	set.StringVar(&f.endpoint, "endpoint", "", "`URL` of another DynamoDB than that of AWS")
	set.StringVar(&f.region, "region", "", "AWS Region (default: that of the AWS configuration)")
	set.StringVar(&f.load, "load", "", "saved simulator `FILE` to work on, in place of any DynamoDB; changes are saved to it")
	set.StringVarP(&f.output, "output", "o", FormatTable, "output: "+strings.Join(formats, ", "))
	set.BoolVar(&f.wide, "wide", false, "do not shorten IDs in tables")
	set.BoolVar(&f.noColor, "no-color", false, "no colour on a terminal; $NO_COLOR does the same")
	set.BoolVar(&f.scan, "scan", false, "allow a command to read a whole table where nothing else answers it")
	set.IntVar(&f.maxRCU, "max-rcu", defaultMaxRCU, "read units a second, at most")
}

func (f *flags) check() error {
	switch {
	case !slices.Contains(formats, f.output):
		return Usage("--output %q is none of %s", f.output, strings.Join(formats, ", "))
	case f.maxRCU < 1:
		return Usage("--max-rcu %d is below 1", f.maxRCU)
	case f.load != "" && f.endpoint != "":
		return Usage("--load and --endpoint exclude each other")
	}
	return nil
}

// where is [App.Where].
func (f *flags) where(command string) string {
	rest, ok := strings.CutPrefix(command, "dynafin ")
	if !ok || strings.HasSuffix(command, "--help") || strings.HasPrefix(rest, "--") || strings.HasPrefix(rest, "explain ") {
		return command
	}
	var flags []string
	add := func(name string, values ...string) {
		for _, value := range values {
			if value != "" {
				flags = append(flags, "--"+name+" "+Quote(value))
			}
		}
	}
	add("load", f.load)
	add("endpoint", f.endpoint)
	add("region", f.region)
	add("config", f.config)
	add("table", f.tables...)
	if !strings.Contains(rest, "--tenant ") {
		add("tenant", f.tenants...)
	}
	return strings.Join(append(append([]string{"dynafin"}, flags...), rest), " ")
}

// Quote writes an argument as a shell takes it.
func Quote(arg string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:/@%+=,", r)
	}
	if arg != "" && !strings.ContainsFunc(arg, func(r rune) bool { return !plain(r) }) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
