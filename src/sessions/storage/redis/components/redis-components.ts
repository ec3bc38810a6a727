import type {
  ComponentHead,
  ComponentPlace,
  ComponentWrite,
  ComponentWriteOutcome,
  StoredComponent,
} from '../../../domain/component.js';
import type { ComponentContents, ComponentSessionsRequest, ComponentStore } from '../../component-store.js';
import { type RedisKeys, encodeId } from '../redis-keys.js';
import { flag } from '../script/codec.js';
import type { NumberReply, ScriptCall, ScriptRunner } from '../script/script.js';
import { type IndexScope, listComponentSessions, purgeComponents } from './component-index.js';
import { COMPONENT_NAMES, READ_COMPONENT, REMOVE_COMPONENTS, WRITE_COMPONENT } from './component-scripts.js';

const LETTERS = { value: 'v', list: 'l' } as const;
const KINDS = new Map([
  ['v', 'value'],
  ['l', 'list'],
] as const);

/** The state of components in a hash for each session, and a list for each list. A save is one script. */
export class RedisComponents implements ComponentStore {
  readonly #scope: IndexScope;

  constructor(
    private readonly scripts: ScriptRunner,
    private readonly keys: RedisKeys,
    isCluster: boolean,
  ) {
    this.#scope = { scripts, keys, isCluster };
  }

  async read(place: ComponentPlace, part?: 'head'): Promise<StoredComponent | undefined> {
    const { args, ...call } = this.#call(place);
    const reply = await this.scripts.read<readonly [head: string, texts: string[]] | null>(READ_COMPONENT, {
      ...call,
      args: [...args, flag(part === 'head')],
    });
    return reply ? { ...headOf(reply[0]), texts: reply[1] } : undefined;
  }

  async write(write: ComponentWrite): Promise<ComponentWriteOutcome> {
    const { place, expectedVersion = '', keep, keptDigest, digest, ttlMs = '', texts } = write;
    const { args, ...call } = this.#call(place);
    const [isWritten, version] = await this.scripts.write<readonly [NumberReply, string]>(WRITE_COMPONENT, {
      ...call,
      args: [...args, expectedVersion, keep, keptDigest, digest, ttlMs, ...texts],
    });
    return { kind: Number(isWritten) === 1 ? 'written' : 'conflict', version: Number(version) };
  }

  async remove(session: string, name?: string): Promise<void> {
    await this.scripts.write(REMOVE_COMPONENTS, {
      keys: this.keys.ofComponents(session),
      args: [session, flag(name === undefined), name ?? ''],
    });
  }

  async places(session: string): Promise<ComponentContents> {
    const [now, expiry, fields] = await this.scripts.read<readonly [now: string, expiry: string, fields: string[]]>(
      COMPONENT_NAMES,
      { keys: this.keys.ofComponents(session), args: [session] },
    );
    const places = fields.flatMap((field) => {
      const kind = KINDS.get(field.slice(0, 1) as 'v');
      return kind ? [{ session, name: field.slice(2), kind }] : [];
    });
    return { now: Number(now), expiresAt: expiry === '' ? undefined : Number(expiry), places };
  }

  sessions(request: ComponentSessionsRequest): Promise<string[]> {
    return listComponentSessions(this.#scope, request);
  }

  purgeExpired(limit: number): Promise<number> {
    return purgeComponents(this.#scope, limit);
  }

  #call({ session, name, kind }: ComponentPlace): ScriptCall {
    const keys = this.keys.ofComponents(session);
    const [heads, sessions, expiring, items] = keys;
    return {
      keys,
      args: [session, LETTERS[kind], name],
      usedKeys: () => [heads, sessions, expiring, `${items}${encodeId(name)}`],
    };
  }
}

function headOf(text: string): ComponentHead {
  const [version, length, digest = ''] = text.split('\n');
  return { version: Number(version), length: Number(length), digest };
}
