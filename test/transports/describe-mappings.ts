import { type SessionKey, SessionService } from '../../src/index.js';
import * as sessionErrors from '../../src/sessions/domain/errors.js';
import { SummarizerSessionManager } from '../../src/summarizer/index.js';
import * as summaryErrors from '../../src/summarizer/summary-errors.js';
import { ERROR_SAMPLES, type ErrorSample } from './error-samples.js';
import { NOT_REMOTE, type OperationName, type RequestOf, type ResultOf } from './operation-types.js';
import { OPERATIONS } from './operations.js';
import { type Call, type RecordingService, linesOf, linesOfCalls } from './recording-service.js';
import { ODD_IDS } from './samples.js';

/** How a transport carries one operation. */
export interface Mapping<Name extends OperationName> {
  /** Sends the request as a client does, and returns what the client receives. */
  send(request: RequestOf<Name>): Promise<unknown>;
  /** What the client has to receive. */
  received(result: ResultOf<Name>, request: RequestOf<Name>): unknown;
  /** The calls that the service has to receive, if they differ from those of the operation. */
  calls?(request: RequestOf<Name>): readonly Call[];
  /** What the service returns or throws, by method. Default: the operation's own method returns the result. */
  replies?(result: ResultOf<Name> | Error): Readonly<Record<string, unknown>>;
  /** What the client receives of an error; `undefined` for what every client of the transport receives. */
  refused?(sample: ErrorSample): { readonly received: unknown } | 'not passed on' | undefined;
}

export type Mappings = { readonly [Name in OperationName]: Mapping<Name> };

/** Those that differ from the usual one of the transport. */
export type SpecialMappings = Partial<Mappings>;

export interface Transport {
  readonly service: RecordingService;
  readonly mappings: Mappings;
  close(): Promise<void>;
}

interface TransportOptions {
  readonly name: string;
  /** Which fields the transport does not have. */
  readonly without: 'notOverClient' | 'notOverGraphql';
  start(): Promise<Transport>;
  /** One of so many errors is passed on by each operation: each error by several operations. Default: all errors by all. */
  readonly oneErrorOf?: number | undefined;
  /** The error that a client has to receive, as {@link TransportOptions.shown} shows it. */
  expected(sample: ErrorSample, request: object): unknown;
  /** The fields of an error that was received. */
  shown(error: unknown): unknown;
}

/** The parts of an operation that do not depend on its name. */
interface AnyOperation {
  readonly fields: Readonly<Record<string, object | string>>;
  readonly cases: readonly { readonly title: string; readonly request: object; readonly result: unknown }[];
  readonly calls?: (request: object) => readonly Call[];
}
export interface AnyMapping {
  send(request: object): Promise<unknown>;
  received(result: unknown, request: object): unknown;
  calls?(request: object): readonly Call[];
  replies?(result: unknown): Readonly<Record<string, unknown>>;
  refused?(sample: ErrorSample): ReturnType<NonNullable<Mapping<'watch'>['refused']>>;
}

const names = Object.keys(OPERATIONS) as OperationName[];

/** A mapping of every operation: a special one, or the usual one of the transport. */
export function allMappings(special: SpecialMappings, usual: (name: OperationName) => AnyMapping): Mappings {
  return Object.fromEntries(names.map((name) => [name, special[name] ?? usual(name)])) as unknown as Mappings;
}

/** Proves that a transport passes on every field of every operation, in both directions, and every error. */
export function describeMappings({ name, without, start, oneErrorOf = 1, expected, shown }: TransportOptions): void {
  describe(`${name}, between a client and the service`, () => {
    let transport: Transport;
    beforeAll(async () => {
      transport = await start();
    });
    afterAll(() => transport.close());

    describe.each(names)('%s', (operation) => {
      const { cases, fields, calls: usual } = OPERATIONS[operation] as unknown as AnyOperation;
      const [first = { title: '', request: {}, result: undefined }] = cases;
      const mapping = (): AnyMapping => transport.mappings[operation];
      const reply = (result: unknown): void =>
        transport.service.reply(mapping().replies?.(result) ?? repliesOf(operation, usual, result));
      const callsOf = (request: object): readonly Call[] =>
        mapping().calls?.(request) ?? usual?.(request) ?? [{ method: operation, request }];
      const sent = (request: object): object =>
        Object.fromEntries(Object.entries(request).filter(([field]) => reaches(fields[field], without)));

      it.each(cases)('passes on: $title', async ({ request, result }) => {
        reply(result);
        const received = await mapping().send(sent(request));
        expect(linesOfCalls(transport.service.calls)).toEqual(linesOfCalls(callsOf(sent(request))));
        expect(linesOf(received)).toEqual(linesOf(mapping().received(result, request)));
      });

      it('passes on odd ids', async () => {
        // Three in each request. The next operation has each of them in another place.
        for (let index = names.indexOf(operation); index < ODD_IDS.length + names.indexOf(operation); index += 3) {
          const [appName, userId, sessionId] = [oddId(index), oddId(index + 1), oddId(index + 2)];
          const request = withIds(sent(first.request), { appName, userId, sessionId });
          reply(first.result);
          await mapping().send(request);
          expect(linesOfCalls(transport.service.calls)).toEqual(linesOfCalls(callsOf(request)));
        }
      });

      const place = names.indexOf(operation);
      const errors = ERROR_SAMPLES.filter(
        ({ code }, index) => code === 'STALE_SESSION' || (index + place) % oneErrorOf === 0,
      );
      it(oneErrorOf === 1 ? 'passes on every error' : 'passes on errors', async () => {
        for (const sample of errors) {
          const special = mapping().refused?.(sample);
          if (special === 'not passed on') continue;
          // A condition changes how a request is refused that does not meet it.
          for (const { request } of sample.code === 'STALE_SESSION' ? cases : [first]) {
            reply(sample.error);
            const outcome = await outcomeOf(mapping().send(sent(request)), shown);
            const wanted = special ?? { error: expected(sample, sent(request)) };
            expect([sample.code, outcome]).toEqual([sample.code, wanted]);
          }
        }
      });
    });
  });
}

/** Proves that the list of operations holds all that the services can do, and all errors that they throw. */
export function describeOperations(): void {
  describe('the list of operations', () => {
    it('has every method of the services, or says why no client reaches it', () => {
      const methods = [SessionService, SummarizerSessionManager]
        .flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype))
        .filter((method) => method !== 'constructor');
      const listed = [...names, ...Object.keys(NOT_REMOTE)].filter(
        (each) => !['getState', 'updateState'].includes(each),
      );
      expect([...new Set(methods)].toSorted()).toEqual(listed.toSorted());
    });

    it.each(names)('has a request with each field of %s', (operation) => {
      const { cases, fields } = OPERATIONS[operation] as unknown as AnyOperation;
      const used = new Set(cases.flatMap(({ request }) => Object.keys(request)));
      const wanted = Object.entries(fields).filter(([field, reach]) => field !== 'signal' && isReachable(reach));
      expect(wanted.map(([field]) => field).filter((field) => !used.has(field))).toEqual([]);
    });

    it('has a sample of every error of the services', () => {
      const classes = Object.values({ ...sessionErrors, ...summaryErrors }).filter(
        (each) => each !== sessionErrors.SessionsError && each.prototype instanceof sessionErrors.SessionsError,
      );
      const sampled = new Set(ERROR_SAMPLES.map(({ error }) => error.constructor));
      expect(classes.filter((each) => !sampled.has(each))).toEqual([]);
      expect(classes.length).toBeGreaterThan(10);
    });
  });
}

function reaches(reach: object | string | undefined, without: string): boolean {
  return typeof reach !== 'object' || !(without in reach);
}

function isReachable(reach: object | string): boolean {
  return reaches(reach, 'notOverClient') || reaches(reach, 'notOverGraphql');
}

function oddId(index: number): string {
  return ODD_IDS[index % ODD_IDS.length] ?? '';
}

/** The request with these ids in place of its own, also in the session that it refers to. */
function withIds(request: object, { appName, userId, sessionId }: SessionKey): object {
  const ids: Readonly<Record<string, unknown>> = {
    appName,
    userId,
    sessionId,
    newSessionId: sessionId,
    invocationId: sessionId,
    session: {
      id: sessionId,
      appName,
      userId,
    },
  };
  return Object.fromEntries(Object.entries(request).map(([name, value]) => [name, name in ids ? ids[name] : value]));
}

function repliesOf(
  operation: string,
  calls: AnyOperation['calls'],
  result: unknown,
): Readonly<Record<string, unknown>> {
  const [call] = calls?.({}) ?? [];
  return { [call?.method ?? operation]: result };
}

type Outcome = { readonly received: unknown } | { readonly error: unknown };

async function outcomeOf(sending: Promise<unknown>, shown: (error: unknown) => unknown): Promise<Outcome> {
  try {
    return { received: await sending };
  } catch (error) {
    return { error: shown(error) };
  }
}
