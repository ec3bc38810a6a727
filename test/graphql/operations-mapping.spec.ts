import { ERROR_SAMPLES } from '../transports/error-samples.js';
import { type Case, asJson, casesOf } from '../transports/made-cases.js';
import type { Values } from '../transports/made-requests.js';
import { callsFor, methodOf } from '../transports/operations.js';
import { RecordingService, linesOf, linesOfCalls } from '../transports/recording-service.js';
import { AGENT_ROWS, ROWS, ROW_NAMES, type RowName } from '../transports/rows.js';
import { frameworks } from '../rest/rest-app.js';
import { answerOf } from './answers.js';
import { GraphqlApp } from './graphql-app.js';
import { RemoteError } from './remote-error.js';
import { documentOf, fieldsOf, rootField } from './schema-documents.js';
import { variablesOf } from './variables.js';

const names = ROW_NAMES.filter((name) => ROWS[name].graphql && !AGENT_ROWS.includes(name));
const fieldOf = (name: RowName): string => ROWS[name].graphql?.name ?? name;

describe.each(frameworks)('the operations between GraphQL and the service on %s', (framework) => {
  const service = new RecordingService();
  let app: GraphqlApp;

  beforeAll(async () => {
    app = await GraphqlApp.start({ services: service, framework });
  });
  afterAll(() => app.close());

  const send = async (name: RowName, request: Values): Promise<unknown> => {
    const { data, errors } = await app.ask(documentOf(app.schema, fieldOf(name)), variablesOf(name, request));
    const [error] = errors;
    if (error) throw new RemoteError(error);
    return data[fieldOf(name)];
  };

  it('are all that the schema has', () => {
    // Those that are no rows: the view of a session, and streams.
    const known = ['session', 'eventAppended', ...names.map(fieldOf)];
    expect(Object.keys(fieldsOf(app.schema)).toSorted()).toEqual(known.toSorted());
  });

  it.each(names)('pass on the requests and the results of %s', async (name) => {
    const { type } = rootField(app.schema, fieldOf(name));
    const isDone = String(type) === 'Boolean!';
    for (const { request, reply } of casesOf(name, 'graphql')) {
      service.reply({ [methodOf(name)]: reply });
      const answer = await send(name, request);
      expect(linesOfCalls(service.calls)).toEqual(linesOfCalls(callsFor(name, withDefaults(name, request))));
      expect(linesOf(answer)).toEqual(linesOf(isDone ? true : answerOf(type, asJson(reply))));
    }
  });

  it.each(['getTurn', 'getSummary', 'createSummary'] as const)('answer null if %s finds nothing', async (name) => {
    const [{ request }] = casesOf(name, 'graphql') as [Case];
    service.reply({ [methodOf(name)]: undefined });
    expect(await send(name, request)).toBeNull();
  });

  it.each(names)('pass on the errors of %s', async (name) => {
    const [{ request }] = casesOf(name, 'graphql') as [Case];
    for (const [index, { error, code, status, message, details }] of ERROR_SAMPLES.entries()) {
      if ((index + names.indexOf(name)) % 5 > 0) continue;
      service.reply({ [methodOf(name)]: error });
      const refused = await send(name, request).catch((refusal: unknown) => refusal);
      expect(refused).toBeInstanceOf(RemoteError);
      expect({ ...(refused as object), message: (refused as Error).message }).toEqual({
        message,
        code,
        status,
        ...details,
      });
    }
  });
});

/** What the schema says for what is left out. */
function withDefaults(name: RowName, request: Values): Values {
  return 'limit' in (ROWS[name].request ?? {}) ? { limit: 100, ...request } : request;
}
