// Package keys writes and reads every key of the library. Two different tuples of components never give one key,
// within a route and across routes, and reading a key gives back exactly the components it was written from.
//
//	k, err := keys.OutboxReady("orders", 7, due, "evt-1")
//	// k.PK = SERVICE#orders#READY#0007
//	// k.SK = DUE#2026-11-29T14:18:00.000000000Z#evt-1
//
// # Grammar
//
// A key is a partition key and a sort key, each a list of segments joined by #. A word in braces stands for a
// component; everything else is literal.
//
//	index  function           partition key                                             sort key
//	IDX01  Order              TEN#{tenant}#ORDER#{order}                                META
//	IDX02  AccountOrder       TEN#{tenant}#ACCT#{account}                               ORD#{at}#{order}
//	IDX03  StatusOrder        TEN#{tenant}#ACCT#{account}#STATUS#{status}               ORD#{at}#{order}
//	IDX04  OrderTrade         TEN#{tenant}#ORDER#{order}                                TRADE#{at}#{trade}
//	IDX05  AccountTrade       TEN#{tenant}#ACCT#{account}                               TRADE#{at}#{trade}
//	IDX06  SymbolTrade        TEN#{tenant}#SYM#{symbol}                                 TRADE#{at}#{trade}
//	IDX07  Position           TEN#{tenant}#ACCT#{account}                               POS#{symbol}
//	IDX08  Request            TEN#{tenant}#REQ#{key}                                    REQUEST
//	IDX09  Inbox              CONSUMER#{consumer}#V#{version}#SHARD#{shard}             EVENT#{event}
//	IDX10  Posting            TEN#{tenant}#ACCT#{account}#MONTH#{month}#BKT#{bucket}    POST#{at}#{transaction}#{line}
//	IDX11  CashAuthority      TEN#{tenant}#ACCT#{account}                               AUTH#CASH#{currency}
//	IDX11  SecurityAuthority  TEN#{tenant}#ACCT#{account}                               AUTH#SEC#{symbol}
//	IDX12  Checkpoint         PROJ#{projection}#V#{version}#SHARD#{shard}               SOURCE#{source}
//	IDX13  Batch              TEN#{tenant}#RECON#{date}                                 BATCH#{batch}
//	IDX14  Break              TEN#{tenant}#RECON#{batch}                                BREAK#{break}
//	IDX15  BreakDue           TEN#{tenant}#BREAK#{status}#{shard}                       DUE#{due}#{batch}#{break}
//	IDX16  Outbox             OUTBOX#{event}                                            EVENT
//	IDX17  OutboxReady        SERVICE#{service}#READY#{shard}                           DUE#{due}#{event}
//	IDX18  Name               TEN#{tenant}#{kind}#{name}                                UNIQUE
//	IDX19  RepairDue          TEN#{tenant}#REPAIR#{shard}                               DUE#{due}#{key}
//
// and, beyond the chapter's routes, the ledger's:
//
//	LED01  Account            TEN#{tenant}#ACCT#{account}                               ACCOUNT
//	LED02  Transaction        TEN#{tenant}#TXN#{transaction}                            HEADER
//	LED03  Links              TEN#{tenant}#TXN#{transaction}                            LINKS
//	LED04  Reservation        TEN#{tenant}#RESERVATION#{reservation}                    RESERVATION
//	LED05  ReservationDue     TEN#{tenant}#EXPIRY#{shard}                               DUE#{due}#{reservation}
//	LED06  AccountReservation TEN#{tenant}#ACCT#{account}#RESERVED                      DUE#{due}#{reservation}
//	LED07  Seal               TEN#{tenant}#ACCT#{account}                               SEAL#{class}#{asset}#{month}
//	LED08  StripeAuthority    TEN#{tenant}#ACCT#{account}#STRIPE#{stripe}               AUTH#{class}#{asset}
//	LED09  StripePosting      TEN#{tenant}#ACCT#{account}#STRIPE#{stripe}#LANE#{lane}#MONTH#{month}#BKT#{bucket} POST#{at}#{transaction}#{line}
//	LED10  StripeSeal         TEN#{tenant}#ACCT#{account}#STRIPE#{stripe}               SEAL#{class}#{asset}#{month}
//
// and the outbox's:
//
//	OUT01  OutboxParked       SERVICE#{service}#PARKED#{shard}                          AT#{at}#{event}
//	OUT02  OutboxClaims       SERVICE#{service}#CLAIMS                                  LEASE#{lease}#{claim}
//	OUT03  OutboxAudit        OUTBOX#{event}                                            AUDIT#{revision}
//	OUT04  OutboxSwitch       SERVICE#{service}#SWITCH                                  RELAYS
//
// and an inbox's:
//
//	INB01  InboxForgotten     CONSUMER#{consumer}#V#{version}#SHARD#{shard}             FORGOTTEN#{at}#{event}
//
// and those of the repair of requests:
//
//	REQ01  RepairEscalated    TEN#{tenant}#ESCALATED#{shard}                            AT#{at}#{key}
//	REQ02  RequestAudit       TEN#{tenant}#REQ#{key}                                    AUDIT#{revision}
//
// and a projection's:
//
//	PRJ01  Gap                PROJ#{projection}#V#{version}#SHARD#{shard}               GAP#{source}
//	PRJ02  Parked             PROJ#{projection}#V#{version}#SHARD#{shard}               PARKED#{source}#{position}
//	PRJ03  Forced             PROJ#{projection}#V#{version}#SHARD#{shard}               FORCED#{source}#{position}
//	PRJ04  Alias              PROJ#{projection}                                         ALIAS
//	PRJ05  Build              PROJ#{projection}                                         BUILD#{namespace}
//	PRJ06  Runbook            PROJ#{projection}                                         RUNBOOK#{namespace}
//
// and those of a Scan:
//
//	EXP01  ScanRun            SCAN#{run}                                                RUN
//	EXP02  ScanSegment        SCAN#{run}                                                SEGMENT#{segment}
//
// ClientOrder is Name with the kind CLIENTORDER. A route of up to four components takes and returns them one by one; a
// longer one has a struct. The functions that end in Partition give the partition key alone, for a Query.
//
// # Components
//
//	text             any non-empty UTF-8; # is written %23 and % is written %25, nothing else is touched
//	kind, class      a word: A-Z first, then A-Z, 0-9 and _
//	at, due, lease   UTC, always 30 bytes with nanoseconds, years 0001 to 9999
//	month, date      2026-11 and 2026-11-29, as the business calendar says them, never converted from a time zone
//	bucket           two digits, 00 to 99
//	version, shard,  four digits, 0000 to 9999
//	line, stripe,
//	lane, namespace,
//	segment
//	revision         nine digits
//	position         eighteen digits
//
// A number past its width is an error, because a wider one would sort between its neighbours. Times and numbers sort
// as text in the order of their values. Text does not promise any order: escaping moves # and %. Nothing is
// normalised: two spellings of one character are two names, and the caller decides which it means.
//
// # Limits
//
// A partition key holds at most 2048 bytes and a sort key 1024, both counted after escaping. Every failure is an
// [*Error] that names the component. Reading is as strict as writing: a key that this package would not have written
// is an error, and the other results beside an error mean nothing.
package keys
