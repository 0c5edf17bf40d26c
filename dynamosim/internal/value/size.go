package value

// Size returns the bytes DynamoDB charges for the value, without its attribute name.
func (v Value) Size() int { return 0 }

// Size returns the bytes DynamoDB charges for the item: names and values.
func (it Item) Size() int { return 0 }
