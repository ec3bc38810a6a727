import { InvalidInputError } from '../sessions/domain/errors/errors.js';
import { isPlainObject } from '../sessions/domain/values/json-value.js';
import { retryOvertaken } from '../sessions/domain/process/retry-overtaken.js';
import { ComponentConflictError } from './component-errors.js';
import { type ComponentSession, type ComponentSessionKey, identifierOf } from './component-session.js';
import type { ConflictPolicy } from './list-writer.js';

type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object as they were last loaded or saved. */
export interface KnownFields {
  /** What was stored then, also fields that the object does not have. */
  readonly stored: Fields;
  /** 0: nothing. */
  readonly version: number;
  /** What the object had. It does not see what a save has kept of others. */
  readonly seen: Fields;
}

export const NO_FIELDS: KnownFields = { stored: {}, version: 0, seen: {} };

interface FieldSave {
  readonly component: string;
  /** The fields of the object, in JSON. */
  readonly own: Fields;
  readonly known: KnownFields;
  readonly onConflict: ConflictPolicy;
}

/** Saves what the object changed. What it did not change, and fields that it does not have, stay as they are stored. */
export async function saveFields(
  components: ComponentSession,
  session: ComponentSessionKey,
  { component, own, known, onConflict }: FieldSave,
): Promise<KnownFields> {
  if (onConflict === 'overwrite') {
    const stored = { ...known.stored, ...own };
    return { stored, version: await components.save(session, component, stored), seen: own };
  }
  const changed = Object.keys(own).filter((name) => !isSame(own[name], known.seen[name]));
  if (changed.length === 0 && known.version > 0) return known;
  let base: Pick<KnownFields, 'stored' | 'version'> = known;
  return retryOvertaken(
    async (attempt) => {
      if (attempt > 1) base = await storedFields(components, session, component);
      if (isChangedTwice(changed, own, base.stored, known.seen)) {
        throw new ComponentConflictError(identifierOf(session), component, known.version, base.version);
      }
      const stored = base.version === 0 ? own : { ...base.stored, ...picked(own, changed) };
      return {
        stored,
        version: await components.save(session, component, stored, { version: base.version }),
        seen: own,
      };
    },
    (error) =>
      onConflict === 'append-merge' &&
      error instanceof ComponentConflictError &&
      !isChangedTwice(changed, own, base.stored, known.seen),
  );
}

/** What is stored of a component. */
export async function storedFields(
  components: ComponentSession,
  session: ComponentSessionKey,
  component: string,
): Promise<Pick<KnownFields, 'stored' | 'version'>> {
  const { value: stored = {}, version } = await components.getVersioned<unknown>(session, component);
  if (isPlainObject(stored)) return { stored, version };
  throw new InvalidInputError('is stored as something else than an object of fields', component);
}

/** Whether others changed, to something else, what the object changed. */
function isChangedTwice(changed: readonly string[], own: Fields, stored: Fields, seen: Fields): boolean {
  return changed.some((name) => !isSame(stored[name], seen[name]) && !isSame(stored[name], own[name]));
}

function picked(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.map((name) => [name, fields[name]]));
}

/** Whether two values in JSON are the same, also in their order. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
