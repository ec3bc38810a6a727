import { ComponentNotFoundError } from './component-errors.js';
import { type ComponentSession, type ComponentSessionKey, type Versioned, identifierOf } from './component-session.js';
import type { ConflictPolicy } from './list-writer.js';

/** How components are saved. */
export interface SaveStateOptions {
  /**
   * What to do if somebody else saved since this object loaded: `overwrite` (default), `fail`, or `append-merge`, which keeps what
   * others appended to lists, and fails if they changed other fields.
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

type FieldKind = 'value' | 'list';
type Fields = Map<string, FieldKind>;

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
  return fieldOf('value');
}

/**
 * Saves this array as a list of its own, so that only new items are written.
 *
 * @example class Memory extends StateModuleOf('memory') { @SavedList() facts: string[] = []; }
 */
export function SavedList(): PropertyDecorator {
  return fieldOf('list');
}

function fieldOf(kind: FieldKind): PropertyDecorator {
  return (prototype, name) => {
    const fields = savedFields.get(prototype) ?? new Map<string, FieldKind>();
    fields.set(String(name), kind);
    savedFields.set(prototype, fields);
  };
}

/** What an object last loaded or saved, by session. */
type Loaded = Map<
  string,
  { readonly fields: Versioned<string>; readonly lists: Map<string, Versioned<readonly unknown[]>> }
>;

/**
 * A base class whose objects save and load the fields with {@link Saved} and {@link SavedList}, under this name.
 *
 * @example class SupportAgent extends StateModuleOf('support') {}
 */
export function StateModuleOf(component: string): new () => StateModule {
  return class implements StateModule {
    readonly #loaded: Loaded = new Map();

    async saveTo(
      components: ComponentSession,
      session: ComponentSessionKey,
      { onConflict = 'overwrite' }: SaveStateOptions = {},
    ): Promise<void> {
      const before = this.#loaded.get(identifierOf(session));
      const isStrict = onConflict !== 'overwrite';
      const lists = new Map<string, Versioned<readonly unknown[]>>();
      const value: Record<string, unknown> = {};
      for (const [name, kind] of fieldsOf(this)) {
        const current: unknown = Reflect.get(this, name);
        if (kind === 'value') {
          value[name] = current;
          continue;
        }
        const items = (current ?? []) as readonly unknown[];
        const loaded = before?.lists.get(name) ?? { value: [], version: 0 };
        const options = isStrict ? { loaded, onConflict } : {};
        const version = await components.saveList(session, listName(component, name), items, options);
        lists.set(name, { value: structuredClone(items), version });
      }
      const { value: loaded, version = 0 } = before?.fields ?? {};
      const text = JSON.stringify(value);
      // What this object did not change stays as others saved it.
      const isUnchanged = isStrict && text === loaded;
      const saved = isUnchanged
        ? version
        : await components.save(session, component, value, isStrict ? { version } : {});
      this.#loaded.set(identifierOf(session), { fields: { value: text, version: saved }, lists });
    }

    async loadFrom(components: ComponentSession, session: ComponentSessionKey): Promise<void> {
      if (await this.loadIfExists(components, session)) return;
      throw new ComponentNotFoundError(identifierOf(session), component);
    }

    async loadIfExists(components: ComponentSession, session: ComponentSessionKey): Promise<boolean> {
      const { value, version } = await components.getVersioned<Record<string, unknown>>(session, component);
      if (value === undefined) return false;
      const lists = new Map<string, Versioned<readonly unknown[]>>();
      const loaded = new Map<string, unknown>();
      const fields = { value: JSON.stringify(value), version };
      for (const [name, kind] of fieldsOf(this)) {
        if (kind === 'value') {
          if (Object.hasOwn(value, name)) loaded.set(name, value[name]);
          continue;
        }
        const list = await components.getListVersioned(session, listName(component, name));
        lists.set(name, list);
        loaded.set(name, structuredClone(list.value));
      }
      // Only when all is loaded, so that a failure changes nothing.
      for (const [name, field] of loaded) Reflect.set(this, name, field);
      this.#loaded.set(identifierOf(session), { fields, lists });
      return true;
    }
  };
}

function listName(component: string, field: string): string {
  return `${component}.${field}`;
}

/** The fields of the class and of those it extends. */
function fieldsOf(target: object): Fields {
  const prototype = Object.getPrototypeOf(target) as object | null;
  if (!prototype) return new Map();
  return new Map([...fieldsOf(prototype), ...(savedFields.get(prototype) ?? [])]);
}
