import { isRecord } from '../../config/setting.js';
import { InvalidInputError, LimitExceededError } from '../../sessions/domain/errors/errors.js';
import { ComponentConflictError } from '../component-errors.js';
import { type ComponentSession, type ComponentSessionKey, identifierOf } from '../component-session.js';

/** What an import from AgentScope has in common, wherever it reads. */
export interface AgentScopeImportOptions {
  /** Where to save. */
  readonly into: ComponentSession;
  /** The session for an id of AgentScope. Default: the same id. See {@link decodeAgentScopeId}. */
  readonly sessionOf?: ((id: string) => ComponentSessionKey) | undefined;
  /** Whether to replace what is there already. Default `false`: it stays, so that an import can be repeated at any time. */
  readonly overwrite?: boolean | undefined;
  /** Called after each session. */
  readonly onProgress?: ((report: AgentScopeReport) => void) | undefined;
  /** Called for what cannot be read, and is left out. Default: the import ends with this error. */
  readonly onProblem?: ((problem: InvalidInputError | LimitExceededError) => void) | undefined;
}

/** What an import did. */
export interface AgentScopeReport {
  /** Sessions that were read. */
  readonly sessions: number;
  /** Values and lists that were saved, and the items of these lists. */
  readonly values: number;
  readonly lists: number;
  readonly items: number;
  /** Values and lists that were there already. */
  readonly kept: number;
}

/** Saves what the readers find: each value and each list at once, so that an interrupted import leaves nothing in part. */
export class AgentScopeImport {
  readonly #report = { sessions: 0, values: 0, lists: 0, items: 0, kept: 0 };

  constructor(private readonly options: AgentScopeImportOptions) {}

  get report(): AgentScopeReport {
    return { ...this.#report };
  }

  endSession(): void {
    this.#report.sessions += 1;
    this.options.onProgress?.(this.report);
  }

  /**
   * A session of the layouts of 2025, which have all of it in one JSON text: an object with the state of each component. Each becomes a
   * value.
   *
   * @param text JSON, or the object, as some drivers return it
   */
  async saveSession(id: string, text: unknown): Promise<void> {
    await this.attempt(async () => {
      const components = typeof text === 'string' ? parsed(text, id, '$') : text;
      if (!isRecord(components) || !Object.values(components).every(isRecord))
        throw new InvalidInputError('is no session of AgentScope: an object with the state of each component', id);
      for (const [name, state] of Object.entries(components)) await this.saveValue(id, name, JSON.stringify(state));
    });
    this.endSession();
  }

  /** @param text JSON */
  async saveValue(id: string, name: string, text: string): Promise<void> {
    await this.#saved(id, async (session) => {
      const { into, overwrite = false } = this.options;
      await into.save(session, name, parsed(text, id, name), overwrite ? {} : { version: 0 });
      this.#report.values += 1;
    });
  }

  /** @param texts JSON of each item */
  async saveList(id: string, name: string, texts: readonly string[]): Promise<void> {
    await this.#saved(id, async (session) => {
      const { into, overwrite = false } = this.options;
      const items = texts.map((text, index) => parsed(text, id, `${name}[${index}]`));
      const nothing = { loaded: { value: [], version: 0 } };
      await into.saveList(session, name, items, overwrite ? {} : nothing);
      this.#report.lists += 1;
      this.#report.items += items.length;
    });
  }

  /** Does work whose input may be wrong. */
  async attempt(work: () => Promise<void>): Promise<void> {
    const { onProblem } = this.options;
    try {
      await work();
    } catch (error) {
      if (!onProblem || !(error instanceof InvalidInputError || error instanceof LimitExceededError)) throw error;
      onProblem(error);
    }
  }

  async #saved(id: string, save: (session: string) => Promise<void>): Promise<void> {
    const { sessionOf = (same: string) => same, overwrite = false } = this.options;
    await this.attempt(async () => {
      try {
        await save(identifierOf(sessionOf(id)));
      } catch (error) {
        if (overwrite || !(error instanceof ComponentConflictError)) throw error;
        this.#report.kept += 1;
      }
    });
  }
}

/** JSON of AgentScope. */
function parsed(text: string, id: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidInputError('is no JSON; mend it, or leave it out with onProblem', `${id}/${name}`);
  }
}

const SAFE_NAME = /^[\w.-]+$/;

/**
 * The id behind a folder name of AgentScope, which writes ids with characters other than letters, digits, `_`, `-` and `.` as
 * base64url. A name that is no such id stays. Short plain ids can look like one: `bill` would be `n)e`. So an import uses it only
 * if you say so.
 *
 * @example await importAgentScopeFiles({ root, into: components, sessionOf: decodeAgentScopeId });
 */
export function decodeAgentScopeId(name: string): string {
  const bytes = Buffer.from(name, 'base64url');
  const id = bytes.toString();
  const isEncoded = bytes.toString('base64url') === name && Buffer.from(id).equals(bytes);
  return isEncoded && !SAFE_NAME.test(id) && !/\p{Cc}/u.test(id) ? id : name;
}
