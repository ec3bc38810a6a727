import { randomUUID } from 'node:crypto';
import { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import type { PushNotificationStore, ServerCallContext, StoredPushNotificationConfig } from '@a2a-js/sdk/server';
import { checkOptions, retryOvertaken } from '../../adapter.js';
import { ComponentConflictError, type ComponentSession } from '../../components/index.js';
import type { SessionKey } from '../../index.js';
import { type Json, toJsonRecord } from '../shared/given-json.js';
import { isPublicUrl } from './public-urls.js';
import { shownToClients } from './shown-to-clients.js';
import { SCOPE, TaskScope, type TaskScopeOptions } from './task-scope.js';

/** What a {@link SessionPushNotificationStore} needs. */
export interface SessionPushNotificationStoreOptions extends TaskScopeOptions {
  readonly components: ComponentSession;
  /** Whether the server may send to the URL of a client. Default: {@link isPublicUrl}. */
  readonly allowUrl?: ((url: URL, context: ServerCallContext) => boolean | Promise<boolean>) | undefined;
}

interface StoredConfig {
  readonly config: Json;
  readonly wireVersion: string;
}

const NAME = 'a2a-push-notifications';
const REFUSED =
  'The server does not send notifications to this URL. It takes https URLs of public hosts, or what it was told to allow.';
const MOST_OF_A_TASK = 20;
const LONGEST_URL = 2_048;
const LONGEST = 16_384;
/** The protocol version of calls that name none. */
const OLDEST_VERSION = '0.3';

/**
 * Keeps where a client wants to be told about its tasks. The addresses and their secrets are kept beside the session, so
 * that no reader of the conversation sees them.
 *
 * @example
 * const push = new SessionPushNotificationStore({ components, appName: 'shop' });
 * const handler = new SessionRequestHandler(agentCard, tasks, executor, undefined, push, new DefaultPushNotificationSender(push));
 */
export class SessionPushNotificationStore implements PushNotificationStore {
  readonly #components: ComponentSession;
  readonly #scope: TaskScope;
  readonly #allowUrl: NonNullable<SessionPushNotificationStoreOptions['allowUrl']>;

  constructor(options: SessionPushNotificationStoreOptions) {
    checkOptions('SessionPushNotificationStore', options, { ...SCOPE, components: 'object', allowUrl: 'function?' });
    const { components, allowUrl = isPublicUrl, ...scope } = options;
    this.#components = components;
    this.#scope = new TaskScope(scope);
    this.#allowUrl = allowUrl;
  }

  /** Replaces the one with the same id. Gives one without id an id. Refuses a URL that is not allowed, and more than 20 of a task. */
  async save(taskId: string, context: ServerCallContext, config: TaskPushNotificationConfig): Promise<void> {
    if (config.url.length > LONGEST_URL) refuse(`A URL has at most ${LONGEST_URL} characters.`);
    if (!URL.canParse(config.url) || !(await this.#allowUrl(new URL(config.url), context))) {
      refuse(REFUSED);
    }
    config.id ||= randomUUID();
    const { id } = config;
    const entry = { config: toJsonRecord(TaskPushNotificationConfig.toJSON(config)), wireVersion: versionOf(context) };
    if (JSON.stringify(entry.config).length > LONGEST) refuse(`A configuration has at most ${LONGEST} characters.`);
    await this.#change(this.#scope.keyOf(taskId, context), (stored) => {
      const others = stored.filter(isOther(id));
      if (others.length >= MOST_OF_A_TASK) refuse(`A task has at most ${MOST_OF_A_TASK} configurations.`);
      return [...others, entry];
    });
  }

  async load(taskId: string, context: ServerCallContext): Promise<TaskPushNotificationConfig[]> {
    return (await this.loadWithMetadata(taskId, context)).map(({ config }) => config);
  }

  /** Also tells the protocol version of the call that saved each. */
  async loadWithMetadata(taskId: string, context: ServerCallContext): Promise<StoredPushNotificationConfig[]> {
    const key = this.#scope.findKey(taskId, context);
    const stored = key && (await shownToClients(() => this.#components.get<readonly StoredConfig[]>(key, NAME)));
    return (stored ?? []).map(({ config, wireVersion }) => ({
      config: TaskPushNotificationConfig.fromJSON(config),
      wireVersion,
    }));
  }

  /** @param configId default: the id of the task */
  async delete(taskId: string, context: ServerCallContext, configId: string = taskId): Promise<void> {
    const key = this.#scope.findKey(taskId, context);
    if (key) await this.#change(key, (stored) => stored.filter(isOther(configId)));
  }

  /** Repeats the change on what is stored then, if another one came first. */
  async #change(key: SessionKey, change: (stored: readonly StoredConfig[]) => readonly StoredConfig[]): Promise<void> {
    const changeOnce = async (): Promise<void> => {
      const { value = [], version } = await this.#components.getVersioned<readonly StoredConfig[]>(key, NAME);
      const changed = change(value);
      if (changed.length > 0 || value.length > 0) await this.#components.save(key, NAME, changed, { version });
    };
    await shownToClients(() => retryOvertaken(changeOnce, isOvertaken));
  }
}

function refuse(reason: string): never {
  throw new RequestMalformedError(reason);
}

function isOvertaken(error: unknown): boolean {
  return error instanceof ComponentConflictError;
}

function isOther(id: string): (stored: StoredConfig) => boolean {
  return ({ config }) => config.id !== id;
}

function versionOf({ requestedVersion }: ServerCallContext): string {
  return requestedVersion || OLDEST_VERSION;
}
