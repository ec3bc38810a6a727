import { ForbiddenException } from '@nestjs/common';
import { type RuleFilter, beginsWithEntries, keepsEntries } from '../domain/metadata/rule-filter.js';
import { type SessionKey, checkedSessionKey } from '../domain/values/ids.js';
import { hasEntries } from '../domain/metadata/metadata-entries.js';
import type { SessionFilter } from '../domain/metadata/session-filter.js';
import type { SessionEnvironment } from '../session-environment.js';
import { type AccessQuestion, refusedWrite } from './access-refusals.js';
import { AccessRuleError } from './rule-answer.js';

/** How a check takes a filter of the rule. */
export interface FilterUse {
  /** Whether the caller lists only what the filter matches. Otherwise a list is refused. */
  readonly isFiltered?: boolean;
  /** Whether a session that does not exist is allowed, since it is created then. */
  readonly mayBeMissing?: boolean;
  /** The session whose metadata a new one gets. */
  readonly source?: SessionKey;
}

const NO_STORE = 'The access rule returned a filter, and the app has no SessionService whose sessions could be asked.';
const MOVES = 'You may not write this. It would take the session out of what you may see.';
const BEGINS_OUTSIDE =
  'You may not create this. A new session needs the status, tags and labels of those that you may see.';

/** For the log, where a filter was returned for what has no filter. */
export function unusableFilter({ action, target }: AccessQuestion): string {
  const cure =
    target === 'sessions' ? 'give a handler of your own @AccessFilter(), or return' : 'no filter matches state: return';
  return `A request was refused because the access rule returned a filter when it was asked to ${action} ${target}; ${cure} true or false.`;
}

/** Access to what the filter of a rule matches. */
export class FilteredAccess {
  constructor(
    private readonly rule: RuleFilter,
    private readonly asked: AccessQuestion,
    private readonly services: readonly Pick<SessionEnvironment, 'storage'>[],
    private readonly use: FilterUse,
  ) {}

  get filter(): SessionFilter {
    return this.rule.filter;
  }

  /** Whether a filter says anything about what is asked: sums of usage and shared state belong to no session. */
  get isUsable(): boolean {
    const { target, action } = this.asked;
    const isRead = action === 'list' || action === 'read';
    if (target === 'sessions') return action === 'create' || (isRead && this.use.isFiltered === true);
    return target === 'session';
  }

  /** Whether the session matches. Lists are filtered, and what is created is looked at as a write. */
  async isMatch(): Promise<boolean> {
    if (this.asked.target !== 'session') return this.isUsable;
    const { appName, userId = '', sessionId = '' } = this.asked;
    return this.#matches({ appName, userId, sessionId });
  }

  /** A write must not move a session to others, nor create one that the rule would not show. */
  async assertStays(): Promise<void> {
    const { write, action } = this.asked;
    const { entries } = this.rule;
    // What is not described could be anything.
    if (!write) throw refusedWrite(undefined);
    if (action !== 'create') {
      if (keepsEntries(write.metadata, entries)) return;
      throw new ForbiddenException(MOVES);
    }
    const { source } = this.use;
    const begins = source ? await this.#matches(source) : beginsWithEntries(write.metadata, entries);
    if (!begins) throw new ForbiddenException(BEGINS_OUTSIDE);
  }

  /** Reads the metadata in each store of the app, so that nothing depends on which of them a route serves. */
  async #matches(named: SessionKey): Promise<boolean> {
    const key = checkedSessionKey(named);
    const storages = new Set(this.services.map(({ storage }) => storage));
    if (storages.size === 0) throw new AccessRuleError(NO_STORE);
    const reads = [...storages].map((storage) => storage.read({ key, withMetadata: true }));
    const found = (await Promise.all(reads)).filter((stored) => stored !== undefined);
    if (found.length === 0) return this.use.mayBeMissing === true;
    return found.every(({ metadata = '' }) => hasEntries(metadata, this.rule.entries));
  }
}
