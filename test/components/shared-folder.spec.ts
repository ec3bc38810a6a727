import { appendFileSync, mkdirSync, promises, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import {
  ComponentConflictError,
  ComponentSession,
  JsonFileComponentStore,
  type Versioned,
} from '../../src/components/index.js';
import { runsOr } from '../differential/runs.js';
import { temporaryFolder } from './support/stores.js';

const folder = temporaryFolder();
let count = 0;

/** Another program with the files of a list, as AgentScope reads and writes them. It takes no locks. */
class OtherProgram {
  readonly #file: string;
  #number = 0;

  constructor(root: string) {
    this.#file = join(root, 's', 'memory_messages.jsonl');
    mkdirSync(join(root, 's'), { recursive: true });
  }

  next(): { by: string; n: number } {
    return { by: 'other', n: ++this.#number };
  }

  items(): unknown[] {
    const lines = this.#text().split(/\r\n|\n|\r/);
    return lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as unknown);
  }

  append(...items: unknown[]): void {
    appendFileSync(this.#file, items.map((item) => `${JSON.stringify(item)}\n`).join(''));
  }

  /** Its writer may hand over a line in pieces. */
  appendPiece(piece: string): void {
    appendFileSync(this.#file, piece);
  }

  /** A new file in place of the old one. */
  rewrite(items: readonly unknown[]): void {
    writeFileSync(`${this.#file}.tmp`, items.map((item) => `${JSON.stringify(item)}\n`).join(''));
    renameSync(`${this.#file}.tmp`, this.#file);
  }

  remove(): void {
    rmSync(this.#file, { force: true });
  }

  #text(): string {
    try {
      return readFileSync(this.#file, 'utf8');
    } catch {
      return '';
    }
  }
}

function open(): { components: ComponentSession; other: OtherProgram; again: () => ComponentSession } {
  const root = join(folder, `${++count}`);
  const again = (): ComponentSession =>
    new ComponentSession({ store: new JsonFileComponentStore({ root, isSynced: false }) });
  return { components: again(), other: new OtherProgram(root), again };
}

const list = ['s', 'memory_messages'] as const;

describe('A folder that another program writes as well', () => {
  it('shows lines that were appended after the first read, and keeps them', async () => {
    const { components, other } = open();
    other.append('a', 'b');
    expect(await components.getListVersioned(...list)).toEqual({ value: ['a', 'b'], version: 1 });
    other.append('c', { d: 1 });
    expect(await components.getListVersioned(...list)).toEqual({ value: ['a', 'b', 'c', { d: 1 }], version: 2 });
    expect(other.items()).toEqual(['a', 'b', 'c', { d: 1 }]);
    expect(await components.append(...list, ['e'])).toBe(3);
    other.append('f');
    expect(await components.append(...list, ['g', 'h'])).toBe(5);
    expect(await components.getList(...list)).toEqual(other.items());
    expect(other.items()).toEqual(['a', 'b', 'c', { d: 1 }, 'e', 'f', 'g', 'h']);
  });

  it('takes an appended line for a version, so that nobody overwrites it unseen', async () => {
    const { components, other } = open();
    await components.saveList(...list, ['a']);
    const loaded = await components.getListVersioned<string>(...list);
    other.append('b');
    await expect(components.saveList(...list, ['a', 'c'], { loaded })).rejects.toMatchObject({ currentVersion: 2 });
    await components.saveList(...list, ['a', 'c'], { loaded, onConflict: 'append-merge' });
    expect(other.items()).toEqual(['a', 'b', 'c']);
  });

  it('does not read a line that is not complete, and does not touch it', async () => {
    const { components, other } = open();
    await components.saveList(...list, ['a']);
    other.appendPiece('{"half":');
    expect(await components.getListVersioned(...list)).toEqual({ value: ['a'], version: 1 });
    const appending = components.append(...list, ['c']);
    await turn();
    other.appendPiece('true}\n');
    await appending;
    expect(other.items()).toEqual(['a', { half: true }, 'c']);
    expect(await components.getList(...list)).toEqual(other.items());
  });

  it('shows what was rewritten or removed', async () => {
    const { components, other } = open();
    await components.saveList(...list, ['a', 'b']);
    other.rewrite(['b', 'a']);
    expect(await components.getListVersioned(...list)).toEqual({ value: ['b', 'a'], version: 2 });
    other.remove();
    expect(await components.getListVersioned(...list)).toEqual({ value: [], version: 0 });
    other.append('new');
    await components.append(...list, ['c']);
    expect(await components.getList(...list)).toEqual(['new', 'c']);
  });

  const anyStep = fc.constantFrom(
    'append',
    'append many',
    'merge',
    'read',
    'other process',
    'foreign',
    'rewrite',
    'remove',
  );

  it('loses nothing, in whatever order the two write', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 25 }), async (steps) => {
        const { components, other, again } = open();
        let [ours, writer] = [0, components];
        const expected: unknown[] = [];
        const own = (): { by: string; n: number } => ({ by: 'us', n: ++ours });
        for (const each of steps) {
          const added = each === 'append many' ? [own(), own(), own()] : [own()];
          if (each.startsWith('append')) await writer.append(...list, added);
          if (each.startsWith('append')) expected.push(...added);
          if (each === 'merge') {
            const loaded = await writer.getListVersioned(...list);
            const line = other.next();
            other.append(line);
            const items = [...loaded.value, ...added];
            await writer.saveList(...list, items, { loaded, onConflict: 'append-merge' });
            expected.push(line, ...added);
          }
          if (each === 'other process') writer = again();
          if (each === 'foreign') {
            const lines = [other.next(), other.next()];
            other.append(...lines);
            expected.push(...lines);
          }
          if (each === 'rewrite') expected.shift();
          if (each === 'rewrite') other.rewrite(expected);
          if (each === 'remove') other.remove();
          if (each === 'remove') expected.length = 0;
          if (each === 'read') expect(await writer.getList(...list)).toEqual(expected);
        }
        expect(await writer.getList(...list)).toEqual(expected);
        expect(other.items()).toEqual(expected);
      }),
      { numRuns: runsOr(20) },
    );
  });

  /** What the other program does while this one saves. */
  const meanwhile: Readonly<Record<string, (other: OtherProgram) => unknown>> = {
    'appends a line': (other) => other.append(other.next()),
    'writes a new file': (other) => other.rewrite([...other.items(), other.next()]),
  };
  /** How this one saves `mine`, after it saved `before`. */
  const saves: Readonly<
    Record<string, (components: ComponentSession, loaded: Versioned<readonly unknown[]>) => unknown>
  > = {
    'an append': (components) => components.append(...list, ['mine']),
    'an append of many': (components) => components.append(...list, ['mine', 'mine too']),
    'a list that is written anew': (components, loaded) => components.saveList(...list, ['mine'], { loaded }),
  };
  // Of two that put whole files in place of each other, the last one wins.
  const cases = Object.keys(saves).flatMap((save) =>
    Object.keys(meanwhile)
      .filter((doing) => !(save.endsWith('anew') && doing.startsWith('writes')))
      .flatMap((doing) => [true, false].map((isFirst) => [save, doing, isFirst] as const)),
  );

  it.each(cases)(
    'loses nothing in %s if the other one %s at any step of it (the first one: %s)',
    async (save, doing, isFirst) => {
      for (let step = 1, isReached = true; isReached; step++) {
        const { components, other, again } = open();
        if (!isFirst) await components.saveList(...list, ['before']);
        const loaded = await components.getListVersioned(...list);
        const steps = new FileSteps(step, () => meanwhile[doing]?.(other));
        // Refused, or both are there.
        const isRefused = await steps
          .during(async () => saves[save]?.(components, loaded))
          .then(
            () => false,
            (error: unknown) => error instanceof ComponentConflictError,
          );
        ({ isReached } = steps);
        const found = await again().getList(...list);
        expect(other.items()).toEqual(found);
        const ours = isRefused ? [] : ['mine', ...(save.endsWith('many') ? ['mine too'] : [])];
        const kept = save.endsWith('anew') && !isRefused ? [] : isFirst ? [] : ['before'];
        const theirs = isReached ? [{ by: 'other', n: 1 }] : [];
        expect(found).toHaveLength(ours.length + kept.length + theirs.length);
        expect(found).toEqual(expect.arrayContaining([...kept, ...ours, ...theirs]));
      }
    },
  );
});

/** Does something before one step of work with files, counted from 1. */
class FileSteps {
  isReached = false;
  #count = 0;

  constructor(
    private readonly step: number,
    private readonly act: () => unknown,
  ) {}

  async during(work: () => Promise<unknown>): Promise<void> {
    const handle = await promises.open(folder);
    const prototype = Object.getPrototypeOf(handle) as object;
    await handle.close();
    const restores = [
      ...['open', 'rename', 'link', 'lstat', 'rm'].map((name) => this.#watched(promises, name)),
      ...['stat', 'read', 'write', 'writeFile', 'close'].map((name) => this.#watched(prototype, name)),
    ];
    try {
      await work();
    } finally {
      for (const restore of restores) restore();
    }
  }

  #watched(target: object, name: string): () => void {
    const original = Reflect.get(target, name) as (...given: unknown[]) => unknown;
    const begin = (): void => {
      if (++this.#count !== this.step) return;
      this.isReached = true;
      this.act();
    };
    Reflect.set(target, name, function (this: unknown, ...given: unknown[]) {
      begin();
      return original.apply(this, given);
    });
    return () => Reflect.set(target, name, original);
  }
}
