import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { RESERVED, isReservedAuthor, reservedInId } from '../../src/sessions/domain/values/reserved-words.js';

const SRC = join(__dirname, '../../src');
/** Ids of calls, chunks and messages that are in no log, and what other systems call theirs. */
const NOT_IN_LOGS = new Set(['denied:', 'tag:', 'label:', 'field:', 'id:', 'name:']);

describe('the register of reserved words', () => {
  it('has the beginnings of all ids, labels and fields that the product makes', () => {
    const known = new Set<string>([...Object.values(RESERVED.ids), ...Object.values(RESERVED.metadata)]);
    const made = /\b(?:id|invocationId|newId|[A-Z_]*(?:ID|LABEL|FIELD|EVENT))\b(?::| =|: \(\) =>) ['`]([a-z-]+:)/g;
    const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
    const words = files.flatMap((path) =>
      [...readFileSync(join(SRC, path), 'utf8').matchAll(made)].map(([, word = '']) => ({ path, word })),
    );
    expect(words.filter(({ word }) => !known.has(word) && !NOT_IN_LOGS.has(word))).toEqual([]);
  });

  it('reserves beginnings with a colon, and other words as a whole', () => {
    expect(['answer:a', 'answers', 'session-title', 'session-title-2', 7].map(reservedInId)).toEqual([
      'answer:',
      undefined,
      'session-title',
      undefined,
      undefined,
    ]);
  });

  it('names the authors that no agent can be', () => {
    expect(['user', 'User', 'SYSTEM', 'agent'].map(isReservedAuthor)).toEqual([true, true, true, false]);
  });
});
