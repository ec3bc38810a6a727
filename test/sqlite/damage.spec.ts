import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { ConfigurationError, StoreUnavailableError } from '../../src/index.js';
import { randomNumbers, seed } from '../support/random.js';
import { allTextOf } from '../support/error-text.js';
import { SqliteFile } from '../support/sqlite-file.js';

const USER = { appName: 'shop', userId: 'ann' };
const PAGE_BYTES = 4_096;
const SESSIONS = 3;
const EVENTS = 20;
const SECRET = 'canary-5d2e';
/** Large enough that some events fill intact pages. */
const textOf = (number: number) => `${SECRET} ${'x'.repeat(number % 5 ? 300 : 9_000)}`;

describe(`a damaged SQLite file (SEED=${seed})`, () => {
  let file: SqliteFile;
  let intact: Buffer;
  let expected: string;

  beforeEach(async () => {
    file = new SqliteFile();
    const sessions = await file.sessions();
    for (let index = 0; index < SESSIONS; index++) {
      const session = await sessions.createSession({ ...USER, sessionId: `s-${index}`, state: { 'user:k': 1 } });
      for (let number = 1; number <= EVENTS; number++) {
        const content = { role: 'user', parts: [{ text: textOf(number) }] };
        const actions = { stateDelta: { [`k${number}`]: number } };
        await sessions.appendEvent({
          session,
          event: { id: `e-${number}`, author: 'user', timestamp: 1e12, content, actions },
        });
      }
    }
    await sessions.close();
    expected = await everything();
    intact = readFileSync(file.path);
  });

  afterEach(() => file.remove());

  it('at any place, fails, reports it or returns what was stored', async () => {
    const random = randomNumbers(seed);
    const pages = intact.length / PAGE_BYTES;
    let errors = 0;
    for (let page = 0; page < pages; page++) {
      const damaged = Buffer.from(intact);
      for (let byte = 0; byte < PAGE_BYTES; byte++) damaged[page * PAGE_BYTES + byte] = Math.floor(random() * 128);
      writeFileSync(file.path, damaged);
      errors += await expectAllOrError();
    }
    // Damage in unused parts, such as indexes, may stay unnoticed.
    expect(errors).toBeGreaterThan(pages / 2);
  });

  it('without its end, fails or returns what was stored', async () => {
    for (const share of [0.9, 0.5, 0.1]) {
      writeFileSync(file.path, intact);
      truncateSync(file.path, Math.floor(intact.length * share));
      expect(await expectAllOrError()).toBe(1);
    }
  });

  it('that is not a database is not changed', async () => {
    writeFileSync(file.path, `${SECRET} `.repeat(1_000));
    await expect(file.storage()).rejects.toBeInstanceOf(ConfigurationError);
    expect(readFileSync(file.path, 'utf8')).toBe(`${SECRET} `.repeat(1_000));
  });

  /** Returns the number of errors. */
  async function expectAllOrError(): Promise<0 | 1> {
    try {
      expect(await everything()).toBe(expected);
      return 0;
    } catch (error) {
      const isTyped = error instanceof StoreUnavailableError || error instanceof ConfigurationError;
      expect(isTyped ? '' : error).toBe('');
      expect(allTextOf(error)).not.toContain(SECRET);
      return 1;
    }
  }

  /** Throws what is reported of damaged events, which are read around. */
  async function everything(): Promise<string> {
    const reports: unknown[] = [];
    const sessions = await file.sessions({ service: { onBackgroundError: (error) => reports.push(error) } });
    try {
      const found = [];
      for (let index = 0; index < SESSIONS; index++) {
        const key = { ...USER, sessionId: `s-${index}` };
        const session = await sessions.getSession(key);
        found.push(
          session?.version,
          session?.state.toRecord(),
          session?.events,
          (await sessions.listEvents(key)).events,
        );
      }
      if (reports.length > 0) throw reports[0];
      return JSON.stringify(found, (_name, value: unknown) => sorted(value));
    } finally {
      await sessions.close();
    }
  }
});

/** State keys have no order. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
