import { RecentTexts } from '../../src/sessions/encryption/recent-texts.js';
import { encryptionKey, openText, sealText } from '../../src/sessions/encryption/sealed-text.js';

const KEY = encryptionKey('k1', Buffer.alloc(32, 'one'));
const ANN = { appName: 'shop', userId: 'ann' };
const place = (id: string) => ({ field: 'event', id });

describe('Texts that this process opened last', () => {
  it('are found with their key, for their place and by the whole text', () => {
    const texts = new RecentTexts();
    const sealed = sealText(KEY, ANN, place('e-1'), 'hello');
    texts.add(KEY, place('e-1'), sealed, 'hello');
    expect(texts.find(KEY, place('e-1'), sealed)).toBe('hello');
    expect(texts.find(encryptionKey('k1', Buffer.alloc(32, 'one')), place('e-1'), sealed)).toBeUndefined();
    expect(texts.find(KEY, place('e-2'), sealed)).toBeUndefined();
    expect(texts.find(KEY, { field: 'digest', id: 'e-1' }, sealed)).toBeUndefined();
    expect(texts.find(KEY, place('e-1'), `x${sealed.slice(1)}`)).toBeUndefined();
  });

  it('are not opened again', () => {
    const texts = new RecentTexts();
    const sealed = sealText(KEY, ANN, place('e-1'), 'hello');
    const open = (text: string) => openText(() => KEY, ANN, place('e-1'), text, texts);
    expect(open(sealed)).toBe('hello');
    expect(texts.find(KEY, place('e-1'), sealed)).toBe('hello');
    expect(open(sealed)).toBe('hello');
    expect(() => open(`${sealed.slice(0, -1)}${sealed.endsWith('A') ? 'Q' : 'A'}`)).toThrow();
    expect(() => openText(() => undefined, ANN, place('e-1'), sealed, texts)).toThrow('key');
  });

  it('take a bounded part of the memory, however many or long they are', () => {
    const texts = new RecentTexts();
    const long = 'x'.repeat(60_000);
    const many = Array.from({ length: 200 }, (_, index) => `${'y'.repeat(60_000)}${String(index).padStart(22, '0')}`);
    for (const sealed of many) texts.add(KEY, place('e'), sealed, long);
    const left = many.filter((sealed) => texts.find(KEY, place('e'), sealed) !== undefined);
    expect(left.length).toBeGreaterThan(20);
    expect(left.length).toBeLessThan(80);
    expect(left).toEqual(many.slice(-left.length));
    texts.add(KEY, place('f'), 'z'.repeat(100_000), long);
    expect(texts.find(KEY, place('f'), 'z'.repeat(100_000))).toBeUndefined();
  });
});
