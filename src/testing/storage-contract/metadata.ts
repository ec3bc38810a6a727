import { type MetadataChange, metadataEntries } from '../../sessions/domain/metadata/metadata-entries.js';
import { METADATA_LIMITS } from '../../sessions/domain/metadata/metadata-limits.js';
import type { SessionStorage } from '../../sessions/storage/session-storage.js';
import { topic } from '../contract-runner.js';
import {
  APP,
  KEY,
  type StorageFixture,
  USER,
  createTestCommit,
  creation,
  lives,
  readSession,
  together,
} from './support.js';

const PAGE = { orderBy: 'lastUpdateTime', order: 'desc', limit: 10 } as const;
const START = 'title\n"Refund"\ntag:new\ntrue\n';

const tag = (name: string): MetadataChange => [`tag:${name}`, 'true'];

function numbered(kind: string, count: number): MetadataChange[] {
  return Array.from({ length: count }, (_, index) => [`${kind}:${index}`, 'true'] as const);
}

async function readMetadataEntries(storage: SessionStorage): Promise<Record<string, string>> {
  return Object.fromEntries(metadataEntries((await readSession(storage)).metadata));
}

export const metadata = topic<StorageFixture>('metadata', (test) => {
  test('a session has the metadata of its creation, or none', async ({ storage }) => {
    expect(await storage.create(creation({ metadata: START }))).toMatchObject({ metadata: START });
    expect((await readSession(storage)).metadata).toBe(START);
    const other = { ...KEY, sessionId: 's-2' };
    expect(await storage.create(creation({ key: other }))).toMatchObject({ metadata: '' });
    expect((await readSession(storage, other)).metadata).toBe('');
  });

  test('metadata is read only on request', async ({ storage }) => {
    await storage.create(creation({ metadata: START }));
    expect(await storage.read({ key: KEY, window: {} })).not.toHaveProperty('metadata');
  });

  test('lists have metadata, with and without state', async ({ storage }) => {
    await storage.create(creation({ metadata: START }));
    for (const owner of [USER, APP]) {
      for (const withState of [true, false]) {
        const { sessions } = await storage.list({ ...owner, ...PAGE, withState });
        expect(sessions.map((session) => session.metadata)).toEqual([START]);
      }
    }
  });

  test('a commit sets and removes the entries that it names', async ({ storage }) => {
    await storage.create(creation({ metadata: START }));
    const changes: MetadataChange[] = [
      ['title', '"Order 7"'],
      ['tag:new', null],
      ['field:cart', '{"b":1,"a":[]}'],
    ];
    expect(await storage.append(createTestCommit('e1', { metadata: changes }))).toMatchObject({ kind: 'appended' });
    expect(await readMetadataEntries(storage)).toEqual({ title: '"Order 7"', 'field:cart': '{"b":1,"a":[]}' });
    await storage.append(createTestCommit('e2'));
    expect(await readMetadataEntries(storage)).toEqual({ title: '"Order 7"', 'field:cart': '{"b":1,"a":[]}' });
    await storage.append(
      createTestCommit('e3', {
        metadata: [
          ['title', null],
          ['field:cart', null],
          ['tag:none', null],
        ],
      }),
    );
    expect((await readSession(storage)).metadata).toBe('');
  });

  test('names and values are returned as the same text', async ({ storage }) => {
    const changes: MetadataChange[] = [
      ['tag:a:b', 'true'],
      ['tag:é', 'true'],
      ['tag:e\u0301', 'true'],
      ['tag:😀', 'true'],
      ['label:%d{}*\'"\\', '"\\u0000\\n%s"'],
      ['field:__proto__', '{"__proto__":{"x":1},"1":0,"0":1}'],
      ['field:null', 'null'],
      ['field: ', '"\u2028\\n"'],
    ];
    await storage.create(creation());
    await storage.append(createTestCommit('e1', { metadata: changes }));
    const stored = await readSession(storage);
    expect(new Map(metadataEntries(stored.metadata))).toEqual(new Map(changes));
  });

  test('concurrent commits do not erase entries of each other', async ({ storage }) => {
    await storage.create(creation({ metadata: START }));
    await together(12, async (index) =>
      storage.append(createTestCommit(`e${index}`, { metadata: [tag(`t${index}`)] })),
    );
    const names = Object.keys(await readMetadataEntries(storage)).sort();
    expect(names).toEqual(['tag:new', 'title', ...Array.from({ length: 12 }, (_, index) => `tag:t${index}`)].sort());
  });

  test('a commit that exceeds the limit writes nothing', async ({ storage, raw }) => {
    const { tags, labels, fields, bytes } = METADATA_LIMITS;
    const most = [...numbered('tag', tags), ...numbered('label', labels), ...numbered('field', fields)];
    await storage.create(creation());
    expect(await storage.append(createTestCommit('e1', { metadata: most }))).toMatchObject({ kind: 'appended' });
    const before = await raw();
    const tooMuch: MetadataChange[] = [tag('one more'), ['label:x', '"y"'], ['field:x', '1'], ['title', text(bytes)]];
    for (const [index, change] of tooMuch.entries()) {
      expect(await storage.append(createTestCommit(`over ${index}`, { metadata: [change] }))).toEqual({ kind: 'full' });
    }
    expect(await raw()).toEqual(before);
    const exchange: MetadataChange[] = [['tag:0', null], tag('one more'), ['tag:1', 'true']];
    expect(await storage.append(createTestCommit('e2', { metadata: exchange }))).toMatchObject({ kind: 'appended' });
  });

  test('labels and fields of this package have limits of their own', async ({ storage }) => {
    const { labels, fields, reserved, bytes } = METADATA_LIMITS;
    const most = [...numbered('label', labels), ...numbered('field', fields)];
    await storage.create(creation());
    expect(await storage.append(createTestCommit('e1', { metadata: most }))).toMatchObject({ kind: 'appended' });
    const own: MetadataChange[] = [['label:agents:x', '"y"'], ...numbered('field:agents', reserved - 1)];
    expect(await storage.append(createTestCommit('e2', { metadata: own }))).toMatchObject({ kind: 'appended' });
    for (const [index, name] of ['field:agents:one more', 'label:agents:z', 'field:x'].entries()) {
      expect(await storage.append(createTestCommit(`over ${index}`, { metadata: [[name, '1']] }))).toEqual({
        kind: 'full',
      });
    }
    const handedOver = numbered('field:agents:handedOver', reserved);
    expect(await storage.append(createTestCommit('handed over', { metadata: handedOver }))).toMatchObject({
      kind: 'appended',
    });
    const another: MetadataChange = ['field:agents:handedOver:another', '1'];
    expect(await storage.append(createTestCommit('another', { metadata: [another] }))).toEqual({ kind: 'full' });
    const large: MetadataChange[] = ['field:agents:1', 'field:agents:handedOver:1', 'title'].map((name) => [
      name,
      text(bytes - 2_500),
    ]);
    expect(await storage.append(createTestCommit('e3', { metadata: large }))).toMatchObject({ kind: 'appended' });
    const larger: MetadataChange = ['field:agents:2', text(bytes)];
    expect(await storage.append(createTestCommit('e4', { metadata: [larger] }))).toEqual({ kind: 'full' });
  });

  test('the limit counts UTF-8 bytes, including separators', async ({ storage }) => {
    await storage.create(creation());
    const room = METADATA_LIMITS.bytes - Buffer.byteLength('title\n""\n');
    const exactly: MetadataChange = ['title', `"${'é'.repeat(Math.floor(room / 2))}"`];
    expect(await storage.append(createTestCommit('e1', { metadata: [['title', text(room + 3)]] }))).toEqual({
      kind: 'full',
    });
    expect(await storage.append(createTestCommit('e2', { metadata: [exactly] }))).toMatchObject({ kind: 'appended' });
    expect(await storage.append(createTestCommit('e3', { metadata: [['status', '1']] }))).toEqual({ kind: 'full' });
  });

  test('the limit is the last precondition, and stored events are checked before it', async ({ storage }) => {
    await storage.create(creation());
    const most = numbered('tag', METADATA_LIMITS.tags);
    await storage.append(createTestCommit('e1', { metadata: most }));
    const over = { metadata: [tag('one more')] };
    expect(await storage.append(createTestCommit('e1', over))).toMatchObject({ kind: 'seen' });
    const stale = { ...over, preconditions: { expectedVersion: 0 } };
    expect(await storage.append(createTestCommit('e2', stale))).toMatchObject({ kind: 'stale' });
    const overtaken = { ...over, preconditions: { lastSeq: 0 } };
    expect(await storage.append(createTestCommit('e2', overtaken))).toMatchObject({ kind: 'overtaken' });
    const other = { ...over, preconditions: { incarnation: 'another' } };
    expect(await storage.append(createTestCommit('e2', other))).toMatchObject({ kind: 'missing' });
  });

  test('a commit without changes of metadata leaves it, also if it is long', async ({ storage }) => {
    const long = `title\n"${'x'.repeat(2_000)}"\n`;
    await storage.create(creation({ metadata: long }));
    await storage.append(createTestCommit('e1', { metadata: [] }));
    await storage.append(createTestCommit('e2', { metadata: [] }));
    expect((await readSession(storage)).metadata).toBe(long);
  });

  test('a repeated commit does not change metadata again', async ({ storage }) => {
    await storage.create(creation());
    await storage.append(createTestCommit('e1', { metadata: [tag('a')] }));
    await storage.append(createTestCommit('e2', { metadata: [['tag:a', null]] }));
    expect(await storage.append(createTestCommit('e1', { metadata: [tag('a')] }))).toMatchObject({ kind: 'seen' });
    expect((await readSession(storage)).metadata).toBe('');
  });

  test('a new incarnation has no metadata of the old one', async ({ storage, clock }) => {
    await storage.create(creation({ metadata: START, expiry: lives({ session: 10 }) }));
    clock.advance(11_000);
    await storage.create(creation());
    expect((await readSession(storage)).metadata).toBe('');
    await storage.append(createTestCommit('e1', { metadata: [tag('a')] }));
    await storage.delete(KEY);
    await storage.create(creation());
    expect((await readSession(storage)).metadata).toBe('');
  });
});

/** A JSON text of about so many bytes. */
function text(bytes: number): string {
  return JSON.stringify('x'.repeat(bytes - 2));
}
