import { InvalidInputError } from '../sessions/domain/errors/errors.js';
import { ComponentNotFoundError } from './component-errors.js';
import {
  type ComponentSession,
  type ComponentSessionKey,
  type Versioned,
  componentCopy,
  identifierOf,
  policyIn,
} from './component-session.js';
import type { ConflictPolicy } from './list-writer.js';
import { type KnownFields, NO_FIELDS, isSame, saveFields, storedFields } from './saved-fields.js';

/** How components are saved. */
export interface SaveStateOptions {
  /**
   * What to do if somebody else saved since this object loaded: `overwrite` (default), `fail`, or `append-merge`, which keeps what
   * others appended to lists and what they set in fields that this object did not change. It fails if both changed the same field.
   */
  readonly onConflict?: ConflictPolicy | undefined;
}

/** An object that saves and loads itself. */
export interface StateModule {
  saveTo(components: ComponentSession, session: ComponentSessionKey, options?: SaveStateOptions): Promise<void>;
  /** Throws a {@link ComponentNotFoundError} if nothing is saved. */
  loadFrom(components: ComponentSession, session: ComponentSessionKey): Promise<void>;
  /** Returns `false`, and changes nothing, if nothing is saved. */
  loadIfExists(components: ComponentSession, session: ComponentSessionKey): Promise<boolean>;
}

/** How a list is saved. */
export interface SavedListOptions {
  /** The name of the list, if another program chose it. Default: `{component}.{field}`. */
  readonly name?: string | undefined;
}

type Field = { readonly kind: 'value' } | { readonly kind: 'list'; readonly name?: string | undefined };
type Fields = Map<string, Field>;

/** The saved fields of each class, by its prototype. */
const savedFields = new WeakMap<object, Fields>();

/**
 * Saves this field with its object. A list that grows at its end is appended to, not rewritten: see {@link SavedList}.
 *
 * @example
 * class SupportAgent extends StateModuleOf('support') {
 *   @Saved() mood = 'calm';
 *   @SavedList() messages: Message[] = [];
 * }
 * await agent.saveTo(components, 'chat-1');
 */
export function Saved(): PropertyDecorator {
  return createFieldDecorator({ kind: 'value' });
}

/**
 * Saves this array as a list of its own, so that only new items are written.
 *
 * @example class Memory extends StateModuleOf('memory') { @SavedList() facts: string[] = []; }
 *
 * @example class Memory extends StateModuleOf('memory') { @SavedList({ name: 'memory_messages' }) messages: Message[] = []; }
 */
export function SavedList({ name }: SavedListOptions = {}): PropertyDecorator {
  return createFieldDecorator({ kind: 'list', name });
}

function createFieldDecorator(field: Field): PropertyDecorator {
  return (prototype, name) => {
    const fields = savedFields.get(prototype) ?? new Map<string, Field>();
    fields.set(String(name), field);
    savedFields.set(prototype, fields);
  };
}

/** A list as it was loaded or saved. */
interface LoadedList {
  readonly name: string;
  readonly list: Versioned<readonly unknown[]>;
}

/** What an object last loaded or saved, by session. */
type Loaded = Map<string, { fields: KnownFields; readonly lists: Map<string, LoadedList> }>;

/** The names of objects of {@link StateModuleOf}. */
const componentNames = new WeakMap<object, string>();

/** The name under which an object is saved, if it is of a class of `StateModuleOf`. */
export function componentNameOf(module: StateModule): string | undefined {
  return componentNames.get(module);
}

/**
 * A base class whose objects save and load the fields with {@link Saved} and {@link SavedList}, under this name.
 *
 * @example class SupportAgent extends StateModuleOf('support') { @Saved() mood = 'calm'; }
 */
export function StateModuleOf(component: string): new () => StateModule {
  return class implements StateModule {
    readonly #loaded: Loaded = new Map();

    constructor() {
      componentNames.set(this, component);
    }

    async saveTo(
      components: ComponentSession,
      session: ComponentSessionKey,
      options: SaveStateOptions = {},
    ): Promise<void> {
      const onConflict = policyIn(options) ?? 'overwrite';
      const savedAs = findSavedFields(this, component);
      // All that is wrong is refused before the first write.
      const { own, lists } = collectSavedContents(this, savedAs);
      const before = this.#loaded.get(identifierOf(session));
      // Each part is noted once it is saved, so that a save that is repeated repeats no part.
      const after = { fields: before?.fields ?? NO_FIELDS, lists: new Map(before?.lists) };
      this.#loaded.set(identifierOf(session), after);
      for (const [field, { name, items }] of lists) {
        const known = after.lists.get(field) ?? { name, list: NOTHING };
        after.lists.set(field, await savedList(components, session, { known, items, onConflict }));
      }
      after.fields = await saveFields(components, session, { component, own, known: after.fields, onConflict });
    }

    async loadFrom(components: ComponentSession, session: ComponentSessionKey): Promise<void> {
      if (await this.loadIfExists(components, session)) return;
      throw new ComponentNotFoundError(identifierOf(session), component);
    }

    async loadIfExists(components: ComponentSession, session: ComponentSessionKey): Promise<boolean> {
      const savedAs = findSavedFields(this, component);
      const { stored: value, version } = await storedFields(components, session, component);
      const lists = new Map<string, LoadedList>();
      const loaded = new Map<string, unknown>();
      for (const [field, saved] of savedAs) {
        const stored = Object.hasOwn(value, field) ? value[field] : undefined;
        if (saved.kind === 'value') {
          if (stored !== undefined) loaded.set(field, stored);
          continue;
        }
        const found = await readFirstList(components, session, saved.names);
        lists.set(field, found);
        // It may have been a part of the value before.
        const isInValue = found.list.version === 0 && Array.isArray(stored);
        loaded.set(field, isInValue ? stored : structuredClone(found.list.value));
      }
      if (version === 0 && ![...lists.values()].some(({ list }) => list.version > 0)) return false;
      // Only when all is loaded, so that a failure changes nothing.
      for (const [field, content] of loaded) Reflect.set(this, field, content);
      const stored = Object.fromEntries(Object.entries(value).filter(([name]) => !lists.has(name)));
      this.#loaded.set(identifierOf(session), { fields: { stored, version, seen: stored }, lists });
      return true;
    }
  };
}

const NOTHING: Versioned<readonly unknown[]> = { value: [], version: 0 };

/** What is to be saved of an object, in JSON. */
function collectSavedContents(
  target: object,
  savedAs: ReadonlyMap<string, SavedAs>,
): { readonly own: Readonly<Record<string, unknown>>; readonly lists: ReadonlyMap<string, ListContent> } {
  const own: Record<string, unknown> = {};
  const lists = new Map<string, ListContent>();
  for (const [field, saved] of savedAs) {
    const current: unknown = Reflect.get(target, field);
    if (saved.kind === 'value') own[field] = current;
    else lists.set(field, { name: saved.names[0], items: componentCopy(current ?? [], `$.${field}`) as unknown[] });
  }
  return { own: componentCopy(own, '$') as Readonly<Record<string, unknown>>, lists };
}

interface ListContent {
  readonly name: string;
  readonly items: readonly unknown[];
}

interface ListSave {
  readonly known: LoadedList;
  readonly items: readonly unknown[];
  readonly onConflict: ConflictPolicy;
}

/** The list as the object knows it from now on. */
async function savedList(
  components: ComponentSession,
  session: ComponentSessionKey,
  { known, items, onConflict }: ListSave,
): Promise<LoadedList> {
  const { name, list } = known;
  // Nothing is added to what others may have saved.
  if (onConflict === 'append-merge' && list.version === 0 && items.length === 0) return known;
  const options = onConflict === 'overwrite' ? {} : { loaded: list, onConflict };
  const version = await components.saveList(session, name, items, options);
  // The list has items of others, which the object does not. With the version of the list it would replace them the next time.
  const isMerged = onConflict === 'append-merge' && version > list.version + (isSame(items, list.value) ? 0 : 1);
  return { name, list: { value: items, version: isMerged ? list.version : version } };
}

/** The first of these lists that is there. */
async function readFirstList(
  components: ComponentSession,
  session: ComponentSessionKey,
  names: readonly [string, ...string[]],
): Promise<LoadedList> {
  for (const name of names) {
    const list = await components.getListVersioned(session, name);
    if (list.version > 0) return { name, list };
  }
  return { name: names[0], list: NOTHING };
}

type SavedAs = { readonly kind: 'value' } | { readonly kind: 'list'; readonly names: readonly [string, ...string[]] };

/** The fields of an object, and where they may be. A list without a name is also found where AgentScope has it. */
function findSavedFields(target: object, component: string): ReadonlyMap<string, SavedAs> {
  const fields = declaredFields(target);
  if (fields.size === 0) {
    throw new InvalidInputError(
      `has nothing to save: put @Saved() or @SavedList() before the fields of the state module ${JSON.stringify(component)}`,
      target.constructor.name || 'class',
    );
  }
  const entries = [...fields].map(([name, field]): [string, SavedAs] => {
    if (field.kind === 'value') return [name, field];
    const names =
      field.name === undefined ? ([`${component}.${name}`, `${component}_${name}`] as const) : ([field.name] as const);
    return [name, { kind: 'list', names }];
  });
  return new Map(entries);
}

/** The fields of the class and of those it extends. */
function declaredFields(target: object): Fields {
  const prototype = Object.getPrototypeOf(target) as object | null;
  if (!prototype) return new Map();
  return new Map([...declaredFields(prototype), ...(savedFields.get(prototype) ?? [])]);
}
