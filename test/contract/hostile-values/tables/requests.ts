import { SessionService } from '../../../../src/index.js';
import type { Field } from '../../../../src/sessions/surface/shape.js';
import type { SessionClient } from '../../../../src/testing/index.js';
import { OPERATIONS } from '../../../transports/operations.js';
import { ROWS, ROW_NAMES } from '../../../transports/rows.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };

type Row = readonly [name: string, path: string, request: (sessions: SessionClient) => Promise<unknown>];

const NO_COUNTS: readonly (readonly [name: string, value: unknown])[] = [
  ['a negative number', -1],
  ['half a number', 1.5],
  ['NaN', NaN],
  ['infinity', Infinity],
  ['text', '1'],
  ['a BigInt', 1n],
  ['an object', {}],
  ['beyond whole numbers', 2 ** 53],
];

type AnySessions = Readonly<Record<string, (request: object) => Promise<unknown>>>;

/** A value in each field that is meant, of the operations whose requests the service gets as they are. */
function rowsWith(name: string, value: unknown, isMeant: (field: string, of: Field) => boolean): readonly Row[] {
  return ROW_NAMES.flatMap((operation) => {
    const { calls: method, good } = OPERATIONS[operation];
    if (typeof method !== 'string' || !(method in SessionService.prototype) || method === 'withTurn') return [];
    const fields = Object.entries(ROWS[operation].request ?? {}).filter(([field, of]) => isMeant(field, of));
    return fields.map(([field]): Row => [
      `${name} for ${field} of ${operation}`,
      field,
      async (sessions) => (sessions as unknown as AnySessions)[method]?.({ ...KEY, ...good, [field]: value }),
    ]);
  });
}

/** Every place that takes a count, with everything that is none. */
const WRONG_COUNTS: readonly Row[] = NO_COUNTS.flatMap(([name, value]): Row[] => {
  const count = value as number;
  return [
    ...rowsWith(name, value, (_, { kind }) => kind === 'integer'),
    ...(['numRecentEvents', 'afterSeq'] as const).map((field): Row => [
      `${name} for config.${field}`,
      `config.${field}`,
      async (sessions) => sessions.getSession({ ...KEY, config: { [field]: count } }),
    ]),
    ...(['limit', 'page', 'offset'] as const).map((field): Row => [
      `${name} for ${field} of listSessions`,
      field,
      async (sessions) => sessions.listSessions({ ...KEY, [field]: count }),
    ]),
    [
      `${name} for expectedVersion`,
      'expectedVersion',
      async (sessions) => sessions.appendEvent({ session: SESSION, event: { author: 'a' }, expectedVersion: count }),
    ],
    [`${name} for batchSize`, 'batchSize', async (sessions) => sessions.purgeExpired({ batchSize: count })],
  ];
});

const NO_CURSORS: readonly unknown[] = [
  '',
  'x',
  'canary',
  5,
  {},
  '../../etc/passwd',
  encoded('{}'),
  encoded('null'),
  encoded('[]'),
  encoded('[1,2,3]'),
  encoded('["lastUpdateTime","desc","0","ann","s-1"]'),
  encoded('["lastUpdateTime; DROP TABLE sessions","desc",0,"ann","s-1"]'),
  encoded('["lastUpdateTime","desc",0,"\\u0000","s-1"]'),
  encoded('["lastUpdateTime","desc",0,"ann","\\ud800"]'),
  encoded('["a","1","asc"]'),
  encoded('["a",1,"asc",1]'),
];

function encoded(text: string): string {
  return Buffer.from(text).toString('base64url');
}

const WRONG_CURSORS: readonly Row[] = NO_CURSORS.flatMap((value): Row[] => {
  const cursor = value as string;
  const name = JSON.stringify(value);
  return [
    [`${name} for cursor of listSessions`, 'cursor', async (sessions) => sessions.listSessions({ ...KEY, cursor })],
    ...rowsWith(name, value, (field) => field === 'cursor'),
  ];
});

/** Requests that break a rule, with the path that is refused. */
export const ILLEGAL_REQUESTS: readonly Row[] = [
  ...WRONG_COUNTS,
  ...WRONG_CURSORS,
  ['a page 0', 'page', async (sessions) => sessions.listSessions({ ...KEY, page: 0 })],
  ['too many sessions a page', 'limit', async (sessions) => sessions.listSessions({ ...KEY, limit: 1001 })],
  ['too many events a page', 'limit', async (sessions) => sessions.listEvents({ ...KEY, limit: 1e9 })],
  ['an unknown order', 'order', async (sessions) => sessions.listSessions({ ...KEY, order: 'ASC' as never })],
  [
    'an invocation without a name',
    'invocationId',
    async (sessions) => sessions.listEvents({ ...KEY, invocationId: '' }),
  ],
  [
    'an invocation that is a number',
    'invocationId',
    async (sessions) => sessions.listEvents({ ...KEY, invocationId: 7 as never }),
  ],
  ['an order with SQL', 'order', async (sessions) => sessions.listEvents({ ...KEY, order: 'asc; --' as never })],
  ['an unknown column', 'orderBy', async (sessions) => sessions.listSessions({ ...KEY, orderBy: 'id' as never })],
  ['a named method', 'orderBy', async (sessions) => sessions.listSessions({ ...KEY, orderBy: 'toString' as never })],
  ['a config that is text', 'config', async (sessions) => sessions.getSession({ ...KEY, config: 'all' as never })],
  ['a config that is a list', 'config', async (sessions) => sessions.getSession({ ...KEY, config: [] as never })],
  ...([-1, NaN, Infinity, '2026-01-01', new Date(), 8.64e15 + 1] as unknown[]).map((time): Row => [
    `${String(time)} for config.afterTimestamp`,
    'config.afterTimestamp',
    async (sessions) => sessions.getSession({ ...KEY, config: { afterTimestamp: time as number } }),
  ]),
  ['no session', 'session', async (sessions) => sessions.appendEvent({ session: undefined as never, event: {} })],
  ['null for session', 'session', async (sessions) => sessions.appendEvent({ session: null as never, event: {} })],
  ['text for session', 'session', async (sessions) => sessions.appendEvent({ session: 's-1' as never, event: {} })],
  [
    'an empty session',
    'session.appName',
    async (sessions) => sessions.appendEvent({ session: {} as never, event: {} }),
  ],
  ['saving what is no session', 'session', async (sessions) => sessions.updateSession(SESSION as never)],
  [
    'state that is a list',
    '$.state',
    async (sessions) => sessions.createSession({ ...KEY, sessionId: 's-2', state: [] as never }),
  ],
  [
    'state that is a Map',
    '$.state',
    async (sessions) => sessions.createSession({ ...KEY, sessionId: 's-2', state: new Map() as never }),
  ],
  [
    'a delta that is text',
    '$.stateDelta',
    async (sessions) => sessions.updateAppState({ ...KEY, stateDelta: 'k' as never }),
  ],
  [
    'removals that are text',
    '$.stateRemovals',
    async (sessions) => sessions.updateUserState({ ...KEY, stateRemovals: 'k' as never }),
  ],
];
