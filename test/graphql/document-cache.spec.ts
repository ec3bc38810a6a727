import { parse } from 'graphql';
import { DocumentCache } from '../../src/sessions/graphql/limits/document-cache.js';

const document = (length: number) => parse(`{ a }${'#'.repeat(length - 5)}`);

describe('the cache of documents', () => {
  it('keeps the last used documents, up to a total length', async () => {
    const cache = new DocumentCache();
    for (let number = 0; number < 10; number++) {
      await cache.set(`d${number}`, document(60_000));
      if (number === 8) await cache.get('d6');
    }
    expect(cache.textLength).toBe(4 * 60_000);
    const kept = await Promise.all(Array.from({ length: 10 }, (_, number) => cache.get(`d${number}`)));
    expect(kept.flatMap((found, number) => (found ? [number] : []))).toEqual([6, 7, 8, 9]);
  });

  it('counts a replaced document once, and does not count a deleted one', async () => {
    const cache = new DocumentCache();
    await cache.set('d', document(100));
    await cache.set('d', document(200));
    expect(cache.textLength).toBe(200);
    expect(await cache.delete('d')).toBe(true);
    expect(await cache.delete('d')).toBe(false);
    expect(cache.textLength).toBe(0);
    expect(await cache.get('d')).toBeUndefined();
  });

  it('does not keep documents that exceed the limit or have no text', async () => {
    const cache = new DocumentCache();
    await cache.set('long', document(300_000));
    await cache.set('unknown', parse('{ a }', { noLocation: true }));
    expect([await cache.get('long'), await cache.get('unknown')]).toEqual([undefined, undefined]);
    expect(cache.textLength).toBe(0);
  });
});
