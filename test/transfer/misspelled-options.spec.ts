import { InMemorySessionStorage, InvalidInputError } from '../../src/index.js';
import { eraseUser, exportSessions, importRecords, importSessions, verifySessions } from '../../src/transfer/index.js';
import { filledStore, linesOf } from './support.js';

/** Each would otherwise write, or take data of other apps along, without a word. */
const MISTAKES: Readonly<Record<string, readonly [(lines: readonly string[]) => Promise<unknown>, string]>> = {
  'an import of nothing': [() => importInto(undefined as never, {}), 'input: must be lines or chunks of a file'],
  'a comparison with nothing': [
    () => verifySessions(new InMemorySessionStorage(), {} as never),
    'input: must be lines or chunks of a file',
  ],
  'records that are none': [
    () => importRecords(new InMemorySessionStorage(), undefined as never),
    'records: must be records, such as adkSessions(…)',
  ],
  'a dry run': [(lines) => importInto(lines, { dryrun: true }), 'did you mean dryRun?'],
  'the filter of an import': [(lines) => importInto(lines, { filtr: {} }), 'did you mean filter?'],
  'a field of the filter': [(lines) => importInto(lines, { filter: { appname: 'shop' } }), 'did you mean appName?'],
  'what happens with conflicts': [(lines) => importInto(lines, { onConflict: 'overwrite' }), 'must be one of'],
  'what happens with damage': [(lines) => importInto(lines, { onBad: 'ignore' }), 'must be one of'],
  'whether shared state comes along': [(lines) => importInto(lines, { shared: 'no' }), 'must be true or false'],
  'where components go': [(lines) => importInto(lines, { components: 5 }), 'must be a store of components'],
  'the filter of an export': [() => exported({ filtr: { appName: 'shop' } }), 'did you mean filter?'],
  'a field of the filter of an export': [() => exported({ filter: { app: 'shop' } }), 'is no field'],
  'the stores of an export': [() => exported({ components: [5] }), 'must be a store of components'],
  'a list of stores': [() => exported({ components: {} }), 'must be a list of stores'],
  'the filter of a comparison': [
    (lines) => verifySessions(new InMemorySessionStorage(), lines, { filters: {} } as never),
    'did you mean filter?',
  ],
  'the stores of an erasure': [
    () => eraseUser(new InMemorySessionStorage(), { appName: 'shop', userId: 'ann' }, { component: [] } as never),
    'did you mean components?',
  ],
};

const importInto = (lines: readonly string[], options: object): Promise<unknown> =>
  importSessions(new InMemorySessionStorage(), lines, options);

async function exported(options: object): Promise<unknown> {
  const { storage } = await filledStore();
  const lines: string[] = [];
  for await (const line of exportSessions(storage, options)) lines.push(line);
  return lines;
}

it.each(Object.entries(MISTAKES))('%s is refused if it is misspelled or wrong', async (_name, [work, message]) => {
  const { storage } = await filledStore();
  const error: unknown = await work(await linesOf(storage)).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(InvalidInputError);
  expect(String(error)).toContain(message);
});
