import { AGENTS, STREAM_AGENT } from '../../src/agents/surface/agent-operations.js';
import { SEARCH } from '../../src/search/surface/search-operations.js';
import { EVENT_OPERATIONS, STREAM_EVENTS } from '../../src/sessions/surface/event-operations.js';
import type { Operation, RoutedOperation } from '../../src/sessions/surface/operation.js';
import { SESSION_OPERATIONS } from '../../src/sessions/surface/session-operations.js';
import { fieldsOn } from '../../src/sessions/surface/shape.js';
import { STATE_OPERATIONS } from '../../src/sessions/surface/state-operations.js';
import { TURNS } from '../../src/sessions/surface/turn-operations.js';
import { USAGE } from '../../src/sessions/surface/usage-operations.js';
import { SUMMARIES } from '../../src/summarizer/surface/summary-operations.js';
import { methodComments } from './method-comments.js';

type Row = Omit<Operation<never>, 'run'>;

const OF_SESSIONS: readonly Row[] = [
  ...Object.values(SESSION_OPERATIONS.operations),
  ...Object.values(EVENT_OPERATIONS.operations),
  STREAM_EVENTS,
  ...[STATE_OPERATIONS, TURNS, USAGE].flatMap(({ operations }) => Object.values(operations)),
  ...Object.values(SUMMARIES.operations),
  ...Object.values(SEARCH.operations),
];
const OF_AGENTS: readonly Row[] = [...Object.values(AGENTS.operations), STREAM_AGENT];

/** The tables of the docs that follow from the operations, by page. */
export const SURFACE_TABLES: Readonly<Record<string, readonly { readonly name: string; readonly lines: string[] }[]>> =
  {
    'rest.md': [{ name: 'routes', lines: routesOf(OF_SESSIONS) }],
    'agents-http.md': [{ name: 'routes', lines: routesOf(OF_AGENTS) }],
    'service.md': [{ name: 'methods', lines: methods() }],
  };

function methods(): string[] {
  const described = ['session.service.ts', 'session-reads.ts'].flatMap((file) =>
    methodComments(`src/sessions/${file}`),
  );
  const rows = described.map(([name, text]) => `| ${code(name)} | ${firstSentence(text)} |`);
  return ['| method | what it does |', '|---|---|', ...rows];
}

/** The comment has the rest. */
function firstSentence(text: string): string {
  return text.replace(/(?<=\.) .*/, '');
}

function routesOf(rows: readonly Row[]): string[] {
  return [
    '| route | what it does | takes | access |',
    '|---|---|---|---|',
    ...rows.flatMap((row) => (row.route ? [routeLine({ ...row, route: row.route })] : [])),
  ];
}

function routeLine({
  summary,
  access: [action, target],
  route,
  request = {},
  keepsVersion,
  turn,
}: RoutedOperation): string {
  const names = fieldsOn('rest', request).map(([name, { isOptional = false }]) => name + (isOptional ? '?' : ''));
  const isBody = route.body !== undefined && route.body.is === undefined;
  const taken = isBody ? [code(`{ ${names.join(', ')} }`)] : route.body ? ['the event'] : names.map(code);
  const headers = [
    ...(route.takes ?? []).map(({ name }) => name),
    ...(keepsVersion ? ['If-Match'] : []),
    ...(turn === undefined ? [] : ['Turn-Token']),
    ...(turn === 'in or ending' ? ['Turn-End'] : []),
  ];
  const takes = [...taken, ...headers.map(code)].join(', ');
  const isUsual = target === 'session' && action === (route.at.startsWith('GET') ? 'read' : 'write');
  const question = isUsual ? '' : `${code(action)} ${code(target)}`;
  return `| ${code(shortPath(route.at))} | ${summary} | ${takes} | ${question} |`;
}

/** `…` stands for the sessions of a user. */
function shortPath(at: string): string {
  return at
    .replace(/ apps\/:appName\/users\/:userId\/sessions/, ' …')
    .replace(/ (?=apps)/, ' /')
    .replaceAll(/:(\w+?)(Id|Name)?(?=\/|$)/g, (_, name: string) => `{${name === 'session' ? 'id' : name}}`);
}

function code(text: string): string {
  return `\`${text}\``;
}
