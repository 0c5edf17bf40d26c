package fault

// Codes of package lambda.
var (
	LambdaInvalid = Code{"DFN-2701", "lambda.ErrInvalid",
		"The configuration of a handler breaks a rule, or a message came without the identifier by which it could be delivered again.",
		"Fix the field that the error names; no message was handled.", RetryNever}
	LambdaPermanent = Code{"DFN-2702", "lambda.ErrPermanent",
		"A handler said that no repeat can help this message.",
		"Look at the dead letter and its reason; send the message again when the reason is gone.", RetryNever}
	LambdaPanic = Code{"DFN-2703", "lambda.ErrPanic",
		"The code that handles a message panicked; the message counts as failed and the others go on.",
		"Look at the stack in the error and fix the code.", RetrySafe}
	LambdaDeadLetter = Code{"DFN-2704", "lambda.ErrDeadLetter",
		"A message cannot be processed, and its dead letter was not stored either; the message is delivered again.",
		"Look at the error of the dead-letter sink inside; until the sink works, the message blocks its group or shard.", RetrySafe}
	LambdaTemporary = Code{"DFN-2705", "lambda.ErrTemporary",
		"A handler said that its failure tells nothing about the message; the message is delivered again, however often.",
		"Look at the reason inside; the message is not a dead letter.", RetrySafe}
)

// Lambda lists the codes of package lambda.
var Lambda = []Code{LambdaInvalid, LambdaPermanent, LambdaPanic, LambdaDeadLetter, LambdaTemporary}
