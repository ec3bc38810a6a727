import type { Lifetime } from '../../../domain/expiry.js';
import { type StateWrites, changesNothing } from '../../../domain/scope-writes.js';
import { storedJson } from '../../../domain/stored-json.js';
import { type FlatHash, type ScriptArguments, lifetimeArguments, pairsOf, writeArguments } from '../script/codec.js';

/** The field of a pending hash that requests the registration of the user. All other fields are event numbers. */
const REGISTER = 'register';

interface AppWrites {
  readonly writes: StateWrites;
  readonly lifetime: Lifetime;
}

/** The pending writes of a session, in the order of its log. */
export interface PendingWrites {
  readonly writes: readonly (AppWrites & { readonly seq: number })[];
  readonly registration: { readonly due: number; readonly until: number } | undefined;
}

/** Encodes writes to app state for the pending hash; '' if there are none. */
export function encodePending(writes: StateWrites, lifetime: Lifetime | undefined): string {
  if (!lifetime || changesNothing(writes)) return '';
  return JSON.stringify({ writes, lifetime } satisfies AppWrites);
}

export function decodePending(pending: FlatHash): PendingWrites {
  const fields = pairsOf(pending);
  const writes = fields
    .filter(([field]) => field !== REGISTER)
    .map(([seq, text]) => ({ seq: Number(seq), ...(storedJson(text, 'pending state') as AppWrites) }));
  const registration = fields.find(([field]) => field === REGISTER)?.[1];
  const [due, until] = registration?.split(' ').map(Number) ?? [];
  return {
    writes: writes.toSorted((a, b) => a.seq - b.seq),
    registration: due === undefined || until === undefined ? undefined : { due, until },
  };
}

/** ARGV of APPLY_APP_WRITES. */
export function pendingArguments({ writes }: PendingWrites): ScriptArguments {
  return [
    writes.length,
    ...writes.flatMap(({ seq, lifetime, writes: ofEvent }) => [
      seq,
      ...lifetimeArguments(lifetime),
      ...writeArguments(ofEvent),
    ]),
  ];
}
