import { buildSchema, getIntrospectionQuery, parse, specifiedRules, validate, visit } from 'graphql';
import { DocumentCost } from '../../src/sessions/graphql/limits/document-cost.js';
import { DEFAULT_GRAPHQL_LIMITS, type GraphqlLimits, sessionsLimitRules } from '../../src/sessions/graphql/index.js';

const schema = buildSchema(`
  type Query { page(first: Int = 100): Page!, view(numRecentEvents: Int): [Item!]!, self: Query, id: Int
    explained(numRecentEvents: Int, first: Int = 100): Page! }
  type Page { nodes: [Item!]!, about: Item! }
  type Item { id: Int, name: String, tags: [Item!] }
`);

function problems(text: string, limits: Partial<GraphqlLimits> = {}): string[] {
  return validate(schema, parse(text), sessionsLimitRules(limits)).map(({ message, extensions }) => {
    expect(extensions).toEqual({ code: 'LIMIT_EXCEEDED', status: 413 });
    return message;
  });
}

const many = (count: number, each: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => each(i)).join(' ');
const chain = (count: number, link: (next: string) => string): string =>
  `{ ...f0 } ${many(count, (i) => `fragment f${i} on Query { ${i + 1 < count ? link(`...f${i + 1}`) : 'id'} }`)}`;

describe('the limits of documents', () => {
  it('allow introspection', () => {
    const text = getIntrospectionQuery({ specifiedByUrl: true, schemaDescription: true, inputValueDeprecation: true });
    const document = parse(text, { maxTokens: DEFAULT_GRAPHQL_LIMITS.maxTokens });
    expect(validate(schema, document, [...specifiedRules, ...sessionsLimitRules()])).toEqual([]);
  });

  it('apply to the depth of fields and fragments', () => {
    expect(problems('{ self { self { id } } }', { maxDepth: 3 })).toEqual([]);
    const tooDeep = ['The document is nested deeper than 3 levels.'];
    expect(problems('{ self { self { self { id } } } }', { maxDepth: 3 })).toEqual(tooDeep);
    expect(problems('{ self { ...F } } fragment F on Query { self { id } }', { maxDepth: 3 })).toEqual(tooDeep);
    expect(problems('{ ...F self { ...F } } fragment F on Query { self { id } }', { maxDepth: 3 })).toEqual(tooDeep);
    expect(problems('{ ... { ... { ... { id } } } }', { maxDepth: 3 })).toEqual(tooDeep);
  });

  it('apply to aliases', () => {
    expect(problems(`{ ${many(3, (i) => `a${i}: id`)} }`, { maxAliases: 3 })).toEqual([]);
    expect(problems(`{ ${many(4, (i) => `a${i}: id`)} }`, { maxAliases: 3 })).toEqual([
      'The document has more than 3 aliases.',
    ]);
  });

  it.each([
    ['{ page(first: 7) { nodes { id name } } }', 2 + 7 * 2],
    ['{ page { nodes { id name } } }', 2 + 100 * 2],
    ['{ page(first: null) { nodes { id name } } }', 2 + 100 * 2],
    ['query ($n: Int) { page(first: $n) { nodes { id name } } }', 2 + 1_000 * 2],
    ['{ view(numRecentEvents: 5) { id } a: view { id } }', 1 + 5 + 1 + 1_000],
    ['{ explained(numRecentEvents: 1, first: 9) { nodes { id name } } }', 2 + 9 * 2],
    ['{ explained(numRecentEvents: 1) { nodes { id name } } }', 2 + 100 * 2],
    [
      '{ ...P b: page(first: 2) { ... { nodes { id } } } } fragment P on Query { page(first: 3) { nodes { id } } }',
      2 + 3 + 2 + 2,
    ],
    ['{ page(first: 7) { about { id name } nodes { id } } }', 2 + 2 + 1 + 7],
    [
      '{ page(first: 7) { ...P } } fragment P on Page { about { tags { id } } nodes { tags { id } } }',
      3 + 7 + 1 + 7 * 2,
    ],
    ['query A { id } query B { a: id b: id }', 2],
  ])('apply to the fields of the response: %s', (text, fields) => {
    expect(problems(text, { maxComplexity: fields })).toEqual([]);
    expect(problems(text, { maxComplexity: fields - 1 })).toEqual([
      `The document asks for more than ${fields - 1} fields; ask for smaller pages.`,
    ]);
  });

  it.each([
    ['{ page(first: 7) { nodes { id name } } a: page { nodes { id } } }', 7 + 100],
    ['{ view { id } a: view(numRecentEvents: 5) { id } }', 1_000 + 5],
    ['{ self { ...V } } fragment V on Query { view(numRecentEvents: 3) { id name } }', 3],
    ['query A { page { nodes { id } } } query B { view { id } }', 1_000],
  ])('apply to the entries of lists: %s', (text, items) => {
    expect(problems(text, { maxItems: items })).toEqual([]);
    expect(problems(text, { maxItems: items - 1 })).toEqual([
      `The document asks for more than ${items - 1} events and sessions; ask for smaller pages.`,
    ]);
  });

  it.each([
    ['fields', `{ ${many(10_000, () => 'id')} }`],
    ['fields with fields', `{ ${many(10_000, () => 'self { id }')} }`],
    ['aliases', `{ ${many(10_000, (i) => `a${i}: id`)} }`],
    ['levels', `{ ${'self { '.repeat(1_000)} id ${'}'.repeat(1_000)} }`],
    ['spreads of one fragment', `{ ${many(10_000, () => '...F')} } fragment F on Query { self { id } }`],
    ['fragments in a row', chain(10_000, (next) => next)],
    ['fragments that double each other', chain(18, (next) => `a: self { id } ${next} ${next}`)],
    ['fragments in a circle', `{ ...f0 } ${many(1_000, (i) => `fragment f${i} on Query { ...f${(i + 1) % 1_000} }`)}`],
    ['a fragment in itself', '{ ...F } fragment F on Query { self { ...F } ...F }'],
  ])('visit each part of a document once: %s', (_what, text) => {
    const looks = new Map<object, number>();
    const document = visit(parse(text), {
      SelectionSet: (node) => {
        const { selections } = node;
        const watched = { ...node };
        Object.defineProperty(watched, 'selections', {
          enumerable: true,
          get: () => {
            looks.set(watched, (looks.get(watched) ?? 0) + 1);
            return selections;
          },
        });
        return watched;
      },
    });
    looks.clear();
    validate(schema, document, []);
    const byOthers = new Map(looks);
    looks.clear();
    validate(schema, document, sessionsLimitRules());
    for (const [node, count] of looks) expect(count - (byOthers.get(node) ?? 0)).toBeLessThanOrEqual(1);
  });

  it('measure a document once for validation and execution', () => {
    const document = parse('{ self { id } }');
    expect(DocumentCost.of(schema, document, 5)).toBe(DocumentCost.of(schema, document, 5));
    expect(DocumentCost.of(schema, document, 1).isTooDeep).toBe(true);
    expect(DocumentCost.of(schema, document, 5).isTooDeep).toBe(false);
  });
});
