import { createHmac, hkdfSync } from 'node:crypto';
import {
  PlainTextRefusedError,
  UnknownEncryptionKeyError,
  UnknownEncryptionVersionError,
  WrongEncryptionKeyError,
} from '../../src/index.js';
import {
  encryptionKey,
  openText,
  sealEqually,
  sealText,
  sealTogether,
} from '../../src/sessions/encryption/sealed-text.js';

const KEY = encryptionKey('k1', Buffer.alloc(32, 'golden'));
const ANN = { appName: 'shop', userId: 'ann' };
const EVENT = { field: 'event', id: 'e-1' };
const TEXT = '{"id":"e-1","author":"jürgen"}';

const keyOf = (id: string) => (id === 'k1' ? KEY : undefined);
const opened = (text: string, owner: object = ANN, place = EVENT): string => openText(keyOf, owner, place, text);

describe('An encrypted text', () => {
  it.each([
    [
      'event',
      ANN,
      EVENT,
      TEXT,
      'e1.k1.AQEBAQEBAQEBAQEBVP6eDNdBKLbqDTw7EWJocEV3t5hvS1XUy2NA4jjYeGrCV7TrN9MHMuUUyBZMDEA',
    ],
    [
      'app state',
      { appName: 'shop' },
      { field: 'app state', id: 'theme' },
      '"dark"',
      'e1.k1.AQEBAQEBAQEBAQEBDbiWGp5ZrA3eoyRTag6sHnqrnzIXrA',
    ],
  ])('of an older version opens as it did then (%s)', (_name, owner, place, text, golden) => {
    expect(opened(golden, owner, place)).toBe(text);
  });

  it('that stores compare has an iv by a key of its own, derived from the data key', () => {
    const place = { field: 'digest of a component', id: 'c' };
    const golden = 'e1.k1.Z90gFCZp37Zs00bKrgYOI0oCaTvoQEuTwWw5QXhF4A';
    expect(sealEqually(KEY, ANN, place, 'abc')).toBe(golden);
    expect(opened(golden, ANN, place)).toBe('abc');
    const bound = '["e1","k1","shop","ann","digest of a component","c"]';
    const byHkdf = hkdfSync('sha256', KEY.key, '', 'nestjs-agent-sessions e1 equal texts', 32);
    const iv = createHmac('sha256', Buffer.from(byHkdf)).update(`${bound}\nabc`).digest().subarray(0, 12);
    expect(Buffer.from(golden.slice('e1.k1.'.length), 'base64url').subarray(0, 12)).toEqual(iv);
  });

  it('of several values opens for the name of each, and for no other', () => {
    const texts = [
      ['step', '1'],
      ['a "b"', '"step"'],
      ['\u2028', '{"ä":"\\n"}'],
      ['line\nbreak', 'of\n"a"\nstore'],
    ] as const;
    const text = sealTogether(KEY, ANN, 'session state', texts);
    for (const [id, value] of texts) expect(opened(text, ANN, { field: 'session state', id })).toBe(value);
    for (const id of ['', '1', '"step"', 'other'])
      expect(() => opened(text, ANN, { field: 'session state', id })).toThrow(WrongEncryptionKeyError);
    expect(() => opened(text, ANN, { field: 'user state', id: 'step' })).toThrow(WrongEncryptionKeyError);
    expect(() => opened(text, { appName: 'shop' }, { field: 'session state', id: 'step' })).toThrow(
      WrongEncryptionKeyError,
    );
    const asOne = text.replace('e2.', 'e1.');
    expect(() => opened(asOne, ANN, { field: 'session state', id: '' })).toThrow(WrongEncryptionKeyError);
    const golden = 'e2.k1.AQEBAQEBAQEBAQEBdIfVG4EeevHrHi81bi9GJl5spN0wSxM1KzNU4jiOWWKyNF_3wk2pOmvUc50LpIQmF-Ll';
    expect(opened(golden, ANN, { field: 'session state', id: 'stage' })).toBe('"sent"');
  });

  it.each(['', '0', '"ä"', JSON.stringify('😀'.repeat(70_000))])('opens as it was (%#)', (text) => {
    expect(opened(sealText(KEY, ANN, EVENT, text))).toBe(text);
    expect(opened(sealEqually(KEY, ANN, EVENT, text))).toBe(text);
  });

  it('is another one each time, unless a store has to compare it', () => {
    const many = Array.from({ length: 1_000 }, () => sealText(KEY, ANN, EVENT, TEXT));
    expect(new Set(many).size).toBe(1_000);
    expect(sealEqually(KEY, ANN, EVENT, TEXT)).toBe(sealEqually(KEY, ANN, EVENT, TEXT));
    expect(sealEqually(KEY, ANN, EVENT, TEXT)).not.toBe(sealEqually(KEY, ANN, { ...EVENT, id: 'e-2' }, TEXT));
  });

  it.each([
    ['another app', { appName: 'shop2', userId: 'ann' }, EVENT],
    ['another user', { appName: 'shop', userId: 'bob' }, EVENT],
    ['the app', { appName: 'shop' }, EVENT],
    ['another event', ANN, { field: 'event', id: 'e-2' }],
    ['another field', ANN, { field: 'partial event', id: 'e-1' }],
  ])('opens nowhere else: %s', (_name, owner, place) => {
    expect(() => opened(sealText(KEY, ANN, EVENT, TEXT), owner, place)).toThrow(WrongEncryptionKeyError);
  });

  it('does not open after any change of it, nor with another key of its id, and says so without what it holds', () => {
    const text = sealText(KEY, ANN, EVENT, TEXT);
    const body = 'e1.k1.'.length;
    for (let at = body; at < text.length; at += 7) {
      const changed = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
      expect(() => opened(changed)).toThrow(WrongEncryptionKeyError);
    }
    for (const cut of [text.slice(0, -4), text.slice(0, body), `${text}AAAA`])
      expect(() => opened(cut)).toThrow(WrongEncryptionKeyError);
    const other = encryptionKey('k1', Buffer.alloc(32, 'other'));
    expect(() => openText(() => other, ANN, EVENT, text)).toThrow(
      expect.objectContaining({
        code: 'ENCRYPTION_KEY_WRONG',
        keyId: 'k1',
        message: expect.not.stringContaining('jürgen'),
      }),
    );
  });

  it('of an unknown key or version, and a text that is not encrypted, are errors of their own', () => {
    const text = sealText(encryptionKey('k2', Buffer.alloc(32)), ANN, EVENT, TEXT);
    expect(() => opened(text)).toThrow(UnknownEncryptionKeyError);
    expect(() => opened(text.replace('e1.', 'e9.'))).toThrow(UnknownEncryptionVersionError);
    expect(() => opened(TEXT)).toThrow(PlainTextRefusedError);
  });
});
