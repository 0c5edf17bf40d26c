package schema

import "github.com/dynafin/dynafin/internal/keys"

// ShardMaps describes the table in which package shardmap stores the maps of lanes, and what programs do with it:
// shardmap.read loads a map, shardmap.operate takes its steps. Without lanes the roles reach all of them.
func ShardMaps(table, pk, sk string, lanes ...string) Table {
	if len(lanes) == 0 {
		lanes = []string{"*"}
	}
	var maps []string
	for _, lane := range lanes {
		maps = append(maps, "SHARDMAP#"+lane)
	}
	return Table{
		Name: table, PK: pk, SK: sk,
		Routes: []Route{{Name: "ShardMap", PK: "SHARDMAP#{lane}", SK: "MAP"}},
		Roles: []Role{
			{Name: "shardmap.read", Grants: []Grant{{Actions: []Action{GetItem}, Keys: maps}}},
			{Name: "shardmap.operate", Grants: []Grant{{Actions: []Action{GetItem, PutItem}, Keys: maps}}},
		},
	}
}

// ScanRuns describes the table in which package export notes how far a Scan is, and gives the role export.scan, which writes
// there and scans the tables that are read. A Scan carries no keys, so the role reads all of them, whatever tenant they are of.
func ScanRuns(table, pk, sk string, read ...Table) []Table {
	const role = "export.scan"
	tables := []Table{{
		Name: table, PK: pk, SK: sk, Routes: Routes("", "ScanRun", "ScanSegment"),
		Roles: []Role{{Name: role, Grants: []Grant{{Actions: []Action{GetItem, PutItem}, Keys: []string{keys.Pattern("ScanRun")}}}}},
	}}
	for _, t := range read {
		tables = append(tables, Table{Name: t.Name, PK: t.PK, SK: t.SK, Roles: []Role{{Name: role, Grants: []Grant{{Actions: []Action{Scan}}}}}})
	}
	return tables
}
