import fc from 'fast-check';
import { InMemorySessionService, State, renderInstruction } from '../../src/index.js';

const STATE = {
  name: 'Ann',
  _1: 'private',
  empty: '',
  zero: 0,
  ratio: -1.5,
  yes: true,
  no: false,
  nothing: null,
  unset: undefined,
  list: [1, 'two', null],
  order: { id: 7, open: true },
  hostile: '{user:theme} {order} {missing} $& $1',
  'user:theme': 'dark',
  'app:motto': 'Be brief',
  'temp:hint': 'now',
  'odd-key': 'odd',
  'other:key': 'other',
};

const ARTIFACTS: Readonly<Record<string, string | { text?: string; mimeType?: string }>> = {
  'report.txt': 'Sales rose {name}',
  'user:cv.md': { text: 'Ten years' },
  image: { mimeType: 'image/png' },
  blank: '',
};

const artifacts = (name: string): (typeof ARTIFACTS)[string] | undefined => ARTIFACTS[name];

describe('An instruction', () => {
  it.each([
    // Names
    ['inserts a key', 'Hi {name}!', 'Hi Ann!'],
    ['inserts a key of the user', '{user:theme}', 'dark'],
    ['inserts a key of the app', '{app:motto}', 'Be brief'],
    ['inserts a key of the invocation', '{temp:hint}', 'now'],
    ['inserts a key with underscore and digit', '{_1}', 'private'],
    ['inserts every occurrence', '{name} and {name}', 'Ann and Ann'],
    ['inserts neighbours', '{name}{zero}', 'Ann0'],
    ['ignores white space inside braces', '{ name }{\n\tuser:theme }', 'Anndark'],
    ['takes several braces for one pair', '{{name}} {{{zero}}} {name}}}', 'Ann 0 Ann'],
    // Text that stays
    ['leaves text without braces', 'Hi', 'Hi'],
    ['leaves an empty text', '', ''],
    ['leaves empty braces', '{} {{}} { }', '{} {{}} { }'],
    ['leaves a name with a hyphen', '{odd-key} {not-there}', '{odd-key} {not-there}'],
    ['leaves a name with a space', '{first name}', '{first name}'],
    ['leaves a name with a digit first', '{1st}', '{1st}'],
    ['leaves a name with other letters', '{größe}', '{größe}'],
    ['leaves a name with a path', '{order.id} {list[0]}', '{order.id} {list[0]}'],
    ['leaves an unknown prefix', '{other:key}', '{other:key}'],
    ['leaves two prefixes', '{app:user:name}', '{app:user:name}'],
    ['leaves a prefix alone', '{user:} {app:?}', '{user:} {app:?}'],
    ['leaves a prefix in other case', '{User:theme}', '{User:theme}'],
    ['leaves JSON', '{"name": 1}', '{"name": 1}'],
    ['leaves code, but inserts in it', '{ a: { name } }', '{ a: Ann }'],
    ['leaves braces that nothing closes', 'a { name', 'a { name'],
    ['leaves braces that nothing opens', 'name } b', 'name } b'],
    ['inserts after a brace that nothing closes', '{ {name}', '{ Ann'],
    // Optional
    ['inserts an optional value that is set', '{name?}', 'Ann'],
    ['inserts nothing for an optional value that is missing', '<{missing?}>', '<>'],
    ['inserts nothing for a missing value of the user', '<{user:missing?}>', '<>'],
    ['leaves a name with two question marks', '{name??}', '{name??}'],
    ['leaves a question mark after a space', '{name ?}', '{name ?}'],
    ['takes undefined for missing', '<{unset?}>', '<>'],
    // Values
    ['writes an empty text', '<{empty}>', '<>'],
    ['writes numbers', '{zero} {ratio}', '0 -1.5'],
    ['writes booleans', '{yes} {no}', 'true false'],
    ['writes null', '{nothing} {nothing?}', 'null null'],
    ['writes objects as JSON', '{order}', '{"id":7,"open":true}'],
    ['writes lists as JSON', '{list}', '[1,"two",null]'],
    ['never expands a value', '{hostile}', '{user:theme} {order} {missing} $& $1'],
    // Artifacts
    ['inserts the text of an artifact', '{artifact.report.txt}', 'Sales rose {name}'],
    ['inserts the text of a part', '{artifact.user:cv.md}', 'Ten years'],
    ['writes an artifact without text as JSON', '{artifact.image}', '{"mimeType":"image/png"}'],
    ['inserts an empty artifact', '<{artifact.blank}>', '<>'],
    ['inserts nothing for an optional artifact that is missing', '<{artifact.none?}>', '<>'],
  ])('%s: %j', async (_title, template, expected) => {
    expect(await renderInstruction(template, STATE, { artifacts })).toBe(expected);
  });

  it('reads a session, its state and a plain object', async () => {
    const sessions = new InMemorySessionService();
    const session = await sessions.createSession({
      appName: 'shop',
      userId: 'ann',
      state: { get: 1, 'user:theme': 'dark' },
    });
    session.state.step = 2;
    for (const state of [session, session.state, new State(session.state.getAll())]) {
      expect(await renderInstruction('{user:theme} {step} {get} {state?}', state)).toBe('dark 2 1 ');
    }
    expect(await renderInstruction('{state}', { state: { step: 3 } })).toBe('{"step":3}');
  });

  it('does not take what it reads for a change of the state', async () => {
    const state = new State({ order: { id: 7 } });
    await renderInstruction('{order}', state);
    expect(state.hasDelta()).toBe(false);
  });

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('finds no inherited %s', async (key) => {
    await expect(renderInstruction(`{${key}}`, {})).rejects.toMatchObject({ key });
    expect(await renderInstruction(`{${key}}`, JSON.parse(`{"${key}":"own"}`) as Record<string, unknown>)).toBe('own');
    expect(await renderInstruction(`<{${key}?}>`, new State())).toBe('<>');
  });

  it('loads each artifact once, and all at the same time', async () => {
    const asked: string[] = [];
    let release: (() => void) | undefined;
    const bothAsked = new Promise<void>((resolve) => (release = resolve));
    const text = renderInstruction(
      '{artifact.a} {artifact.b} {artifact.a?}',
      {},
      {
        artifacts: async (name) => {
          if (asked.push(name) === 2) release?.();
          await bothAsked;
          return name.toUpperCase();
        },
      },
    );
    expect(await text).toBe('A B A');
    expect(asked).toEqual(['a', 'b']);
  });

  it('writes each value once, however often it is inserted', async () => {
    let written = 0;
    const order = { toJSON: () => ++written };
    expect(await renderInstruction('{order} {order}', { order })).toBe('1 1');
  });
});

describe('An instruction without the values that it needs', () => {
  it.each([
    ['{user:name}', 'user:name'],
    ['{name} {unset}', 'unset'],
    ['{missing?} {missing}', 'missing'],
    ['{artifact.none}', 'artifact.none'],
    ['{artifact.none?} {artifact.none}', 'artifact.none'],
  ])('is refused: %s', async (template, key) => {
    await expect(renderInstruction(template, STATE, { artifacts })).rejects.toMatchObject({
      code: 'INSTRUCTION_VALUE_MISSING',
      status: 409,
      key,
      message: `The instruction needs "${key}", which has no value. Set it before, or write {${key}?} if it may be missing.`,
    });
  });

  it('loads no artifact if a state value is missing', async () => {
    const load = jest.fn(artifacts);
    await expect(renderInstruction('{artifact.blank} {missing}', STATE, { artifacts: load })).rejects.toThrow(
      '"missing"',
    );
    expect(load).not.toHaveBeenCalled();
  });

  it.each(['{artifact.a}', '{artifact.a?}'])('needs a function that loads artifacts: %s', async (template) => {
    await expect(renderInstruction(template, {})).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      path: 'options.artifacts',
    });
  });

  it('passes on the error of that function', async () => {
    const away = new Error('away');
    await expect(renderInstruction('{artifact.a}', {}, { artifacts: () => Promise.reject(away) })).rejects.toBe(away);
  });

  it('names the value that JSON cannot represent', async () => {
    const ring: Record<string, unknown> = {};
    ring.self = ring;
    await expect(renderInstruction('{ring}', { ring })).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'ring' });
  });

  it.each([undefined, null, 7, ['a']])('refuses %j as a template', async (template) => {
    await expect(renderInstruction(template as unknown as string, {})).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      path: 'template',
    });
  });

  it.each([undefined, null, 'state'])('refuses %j as a state', async (state) => {
    await expect(renderInstruction('', state as unknown as State)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      path: 'state',
    });
  });

  it('shortens a long name in the message', async () => {
    const key = 'k'.repeat(1_000_000);
    const error = await renderInstruction(`{${key}}`, {}).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ key });
    expect((error as Error).message.length).toBeLessThan(300);
  });
});

/** A state in which every key has a value that names it. */
const anyKey = new Proxy<Record<string, unknown>>(
  {},
  {
    get: (_target, key) => (key === 'state' ? undefined : `<${String(key)}>`),
    getOwnPropertyDescriptor: (_target, key) => ({ value: `<${String(key)}>`, configurable: true }),
  },
);

describe('The parser of instructions', () => {
  // What ADK matches with; quadratic for braces that nothing closes.
  const ofAdk = /\{+[^{}]*}+/g;
  const pieces = fc.constantFrom(
    '{',
    '}',
    '{{',
    '}}',
    '?',
    ' ',
    'name',
    'user:',
    'theme',
    '-',
    'zero',
    '"',
    'missing?',
  );

  it('finds the placeholders that the expression of ADK finds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { maxLength: 30 }), async (parts) => {
        const template = parts.join('');
        const expected = template.replaceAll(ofAdk, (match) => {
          const inner = match.replace(/^\{+/, '').replace(/\}+$/, '').trim();
          const key = inner.endsWith('?') ? inner.slice(0, -1) : inner;
          return /^((user|app|temp):)?[a-zA-Z_]\w*$/.test(key) ? `<${key}>` : match;
        });
        expect(await renderInstruction(template, anyKey)).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['opening braces', '{'.repeat(1_000_000)],
    ['closing braces', '}'.repeat(1_000_000)],
    ['pairs', '{}'.repeat(500_000)],
    ['names that nothing closes', '{a '.repeat(333_333)],
    ['a name that nothing closes', `{${'a'.repeat(1_000_000)}`],
    ['white space', `{${' '.repeat(1_000_000)}-}`],
    ['question marks', `{${'?'.repeat(1_000_000)}}`],
  ])('reads each character a bounded number of times: 1 MB of %s', async (_title, template) => {
    expect(await renderInstruction(template, {})).toBe(template);
  });

  it('inserts 100,000 values', async () => {
    expect(await renderInstruction('{a}'.repeat(100_000), { a: 'b' })).toBe('b'.repeat(100_000));
  });
});
