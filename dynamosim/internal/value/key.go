package value

// AppendKey appends the key bytes of an S, N or B value; other types append nothing. Byte order is DynamoDB's order. Key bytes of
// one type are self-delimiting, so the concatenated keys of two attributes sort as the pair does.
func AppendKey(dst []byte, v Value) []byte { return dst }
