import { hash } from 'node:crypto';
import type { RunnableConfig } from '@langchain/core/runnables';
import { assertId, RESERVED, sessionNameOf } from '../../adapter.js';
import { InvalidInputError, type Session, type SessionKey } from '../../index.js';
import type { ThreadHead } from './thread-records.js';

/** A namespace of a thread, and the session that holds the thread. */
export interface ThreadAddress {
  readonly key: SessionKey;
  readonly ns: string;
}

/** The user whose sessions are the threads: an id, or what finds it in the config of a run. */
export type ThreadUser = string | ((config: RunnableConfig) => string);

/** The field of `configurable` with the turn of a run. LangGraph copies none that begins so into metadata. */
export const TURN_FIELD = '__agent_sessions_turn';

const HEAD_PREFIX = RESERVED.state.graphHead;
const LONGEST_NS = 400;

/** Where the config points. `undefined` if it names no thread. */
export function findThreadAddress(
  appName: string,
  user: ThreadUser,
  config: RunnableConfig,
): ThreadAddress | undefined {
  const threadId: unknown = config.configurable?.thread_id;
  if (threadId === undefined || threadId === null) return undefined;
  return { key: threadKey(appName, resolveThreadUser(user, config), threadId), ns: namespaceOf(config) ?? '' };
}

/** The session of a thread. */
export function threadKey(appName: string, userId: string, threadId: unknown): SessionKey {
  assertId(appName, 'appName');
  assertId(userId, 'userId');
  assertId(threadId, 'configurable.thread_id');
  return { appName, userId, sessionId: threadId };
}

export function resolveThreadUser(user: ThreadUser, config: RunnableConfig): string {
  return typeof user === 'string' ? user : user(config);
}

export function namespaceOf(config: RunnableConfig): string | undefined {
  return readConfigText(config, 'checkpoint_ns');
}

export function checkpointIdOf(config: RunnableConfig): string | undefined {
  return readConfigText(config, 'checkpoint_id') || undefined;
}

export function readConfigTurn(config: RunnableConfig): string | undefined {
  return readConfigText(config, TURN_FIELD);
}

function readConfigText(config: RunnableConfig, field: string): string | undefined {
  const value: unknown = config.configurable?.[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new InvalidInputError('must be a string', `configurable.${field}`);
  return value;
}

/** The config that points to a checkpoint. */
export function createCheckpointConfig({ key, ns }: ThreadAddress, checkpointId: string): RunnableConfig {
  return { configurable: { thread_id: key.sessionId, checkpoint_ns: ns, checkpoint_id: checkpointId } };
}

/** One text for a namespace of a thread, or for a place in it. */
export function formatThreadPlace({ key, ns }: ThreadAddress, place = ''): string {
  return JSON.stringify([sessionNameOf(key), ns, place]);
}

/** Whether a text can be in a key of the state. */
export function isStateName(text: string, maxBytes: number): boolean {
  return text !== '' && text.isWellFormed() && !text.includes('\u0000') && Buffer.byteLength(text) <= maxBytes;
}

/** The state key that holds the head of a namespace. It goes back with a rewind of the session. */
export function headKey(ns: string): string {
  const isKey = ns === '' || isStateName(ns, LONGEST_NS);
  return `${HEAD_PREFIX}${isKey ? ns : hash('sha256', ns, 'base64url')}`;
}

export function findThreadHead(session: Session, ns: string): ThreadHead | undefined {
  const head = session.state.get<ThreadHead>(headKey(ns));
  return head?.thread === session.id ? head : undefined;
}

/** The heads of all namespaces but that of the root graph, by state key. */
export function headsOfSubgraphs(session: Session): Map<string, ThreadHead> {
  const heads = Object.entries(session.state.toRecord()).filter(([key]) => isHeadKey(key) && key !== HEAD_PREFIX);
  return new Map(heads as [string, ThreadHead][]);
}

/** Whether the session is a thread. */
export function isThread(session: Session): boolean {
  return Object.keys(session.state.toRecord()).some(isHeadKey);
}

function isHeadKey(key: string): boolean {
  return key.startsWith(HEAD_PREFIX);
}
