import { type StateWrites, changesNothing } from '../../domain/stored-json.js';
import type { StoredState } from '../session-storage.js';

/** The keys of shared scopes that the events of one session set, with their values. */
export class SharedWrites {
  /** Most sessions write none. */
  #user: Map<string, string> | undefined;
  #app: Map<string, string> | undefined;

  note(user: StateWrites, app: StateWrites): void {
    if (!changesNothing(user)) applyWrites((this.#user ??= new Map()), user);
    if (!changesNothing(app)) applyWrites((this.#app ??= new Map()), app);
  }

  get entries(): Pick<StoredState, 'user' | 'app'> {
    return { user: [...(this.#user ?? [])], app: [...(this.#app ?? [])] };
  }
}

/** Sets and removes keys of one scope. */
export function applyWrites(values: Map<string, string>, { upserts, removals }: StateWrites): void {
  for (const { name, value } of upserts) values.set(name, value);
  for (const { name } of removals) values.delete(name);
}
