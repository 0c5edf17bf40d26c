package schema

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
