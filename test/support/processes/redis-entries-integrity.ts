import { NEVER } from '../../../src/sessions/domain/values/expiry.js';
import { PARKED } from '../../../src/storage.js';

type Content = ReadonlyMap<string, string>;
type Contents = ReadonlyMap<string, Content>;

const OF_ENTRIES = /^(\{@entries(?:-\d+)?\}):(entries|expiring|ranks|waiting)(?::([^:]*))?$/;

export function isOfEntries(key: string): boolean {
  return OF_ENTRIES.test(key);
}

/** Inconsistencies between entries and their sorted sets, by the documented keys. */
export function problemsOfStoredEntries(contents: Contents): string[] {
  return [...contents].flatMap(([key, content]) => {
    const [, base = '', kind, space = ''] = OF_ENTRIES.exec(key) ?? [];
    if (kind === 'entries') return [...content].flatMap((entry) => problemsOfEntry(contents, base, content, entry));
    const fields = [...content.keys()].map((member) => (kind === 'expiring' ? member : `${space}:${member}`));
    const hash = contents.get(`${base}:entries`);
    const strays = kind ? fields.filter((field) => !hash?.has(field)) : [];
    return strays.map((field) => `${key} has ${field}, which does not exist`);
  });
}

function problemsOfEntry(contents: Contents, base: string, hash: Content, [field, text]: [string, string]): string[] {
  if (field.startsWith('\n')) return hash.has(field.slice(1)) ? [] : [`a text of ${field} belongs to no entry`];
  const [space, name] = [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1)];
  const [expiry, stamp, rank, since, ...inline] = text.split('\n');
  if (stamp === undefined) return [`${field} is damaged`];
  const expected: readonly (readonly [key: string, member: string, score: string | undefined])[] = [
    [`ranks:${space}`, name, rank],
    [`waiting:${space}`, name, Number(rank) === PARKED ? undefined : since],
    ['expiring', field, Number(expiry) === NEVER ? undefined : expiry],
  ];
  const wrong = expected.filter(([key, member, score]) => {
    const found = contents.get(`${base}:${key}`)?.get(member);
    return found === undefined ? score !== undefined : Number(found) !== Number(score);
  });
  const isWhole = inline.length > 0 !== hash.has(`\n${field}`);
  return [
    ...wrong.map(([key]) => `${field} is not in ${key} as it should`),
    ...(isWhole ? [] : [`${field} lacks its text`]),
  ];
}
