import type { Lifetime } from '../../domain/expiry.js';
import { type StateWrites, changesNothing } from '../../domain/scope-writes.js';
import { storedJson } from '../../domain/stored-json.js';
import { type ScriptArguments, lifetimeArguments, writeArguments } from './script-arguments.js';
import { type FlatHash, pairsOf } from './session-replies.js';

/** The field of a pending hash by which a session asks for its user to be made known. */
const REGISTER = 'register';

interface PendingWrites {
  readonly writes: StateWrites;
  readonly lifetime: Lifetime;
}

/** What is pending of a session, in the order of its log. */
export interface PendingWork {
  readonly writes: readonly (PendingWrites & { readonly seq: number })[];
  readonly registration: { readonly due: number; readonly until: number } | undefined;
}

/** Writes to the state of the app as they wait for somebody to apply them; '' where there are none. */
export function pendingText(writes: StateWrites, lifetime: Lifetime | undefined): string {
  if (!lifetime || changesNothing(writes)) return '';
  return JSON.stringify({ writes, lifetime } satisfies PendingWrites);
}

export function pendingWork(pending: FlatHash): PendingWork {
  const fields = pairsOf(pending);
  const writes = fields
    .filter(([field]) => field !== REGISTER)
    .map(([seq, text]) => ({ seq: Number(seq), ...(storedJson(text, 'pending state') as PendingWrites) }));
  const registration = fields.find(([field]) => field === REGISTER)?.[1];
  const [due, until] = registration?.split(' ').map(Number) ?? [];
  return {
    writes: writes.toSorted((a, b) => a.seq - b.seq),
    registration: due === undefined || until === undefined ? undefined : { due, until },
  };
}

export function pendingArguments({ writes }: PendingWork): ScriptArguments {
  return [
    writes.length,
    ...writes.flatMap(({ seq, lifetime, writes: ofEvent }) => [
      seq,
      ...lifetimeArguments(lifetime),
      ...writeArguments(ofEvent),
    ]),
  ];
}
