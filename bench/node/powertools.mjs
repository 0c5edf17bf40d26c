// Runs commands under AWS Lambda Powertools idempotency, one after the other, and prints what they took.
//
//   node powertools.mjs ENDPOINT PREFIX FIRST COUNT
//
// A command adds one to a balance; its key is PREFIX and a number from FIRST on. It prints one JSON object: the
// nanoseconds of all of them, and how many ended in an error. The first half warms the machine up, so the second half
// is what is measured, and stands for both.
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';

const [endpoint, prefix, first, count] = process.argv.slice(2);
process.env.POWERTOOLS_SERVICE_NAME = 'bench';

const client = new DynamoDBClient({
  endpoint, region: 'us-east-1', credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
});

const pay = makeIdempotent(
  async ({ key }) => {
    await client.send(new UpdateItemCommand({
      TableName: 'Accounts',
      Key: { PK: { S: 'account-1' }, SK: { S: 'BALANCE' } },
      UpdateExpression: 'ADD balance :one',
      ExpressionAttributeValues: { ':one': { N: '1' } },
    }));
    return { status: 201, payment: key };
  },
  {
    persistenceStore: new DynamoDBPersistenceLayer({ tableName: 'Powertools', awsSdkV3Client: client }),
    config: new IdempotencyConfig({ eventKeyJmesPath: 'key', expiresAfterSeconds: 3600 }),
  },
);

let failed = 0;
let started;
const half = Math.floor(Number(count) / 2);
for (let i = Number(first); i < Number(first) + Number(count); i++) {
  if (i === Number(first) + half) started = process.hrtime.bigint();
  try {
    await pay({ key: `${prefix}${i}`, amount: '1.00' });
  } catch (error) {
    failed++;
    if (failed === 1) console.error(error);
  }
}
const took = Number(process.hrtime.bigint() - started);
console.log(JSON.stringify({ nanoseconds: Math.round((took * Number(count)) / (Number(count) - half)), failed }));
