/** What a conversation has that a reader may see or lose. The name is that of the agent. */
export const FACTS = [
  'text',
  'images',
  'documents',
  'links to files',
  'names of files',
  'thoughts',
  'calls',
  'results',
  'error flag',
  'name',
  'model',
  'tokens',
] as const;

export type Fact = (typeof FACTS)[number];

export const QUESTION = 'Where is the order on this picture?';
export const ANSWER = 'It was sent.';
export const PNG = 'iVBORw0KGgoAAAANSUhEUg==';
export const PDF = 'JVBERi0xLjcKJeLjz9M=';
export const LINK = 'https://example.com/receipt.png';
export const FILE_NAME = 'bill.pdf';
export const THOUGHT = 'They want to know its place.';
export const SIGNATURE = 'c2lnbmVk';
export const AGENT = 'support';
export const MODEL = 'scripted-1';
/** Tokens of the prompt. */
export const TOKENS = 4_711;
export const OK = { id: 'call-1', name: 'find', args: { order: 7 }, response: { status: 'under way' } };
export const FAILED = { id: 'call-2', name: 'refund', args: { order: 8 }, error: 'BOOM: no money' };

/** Facts that show in any form that a reader gives them. */
export function factsIn(read: unknown): Fact[] {
  const text = JSON.stringify(read) ?? '';
  const has = (...words: readonly string[]): boolean => words.every((word) => text.includes(word));
  const found: Partial<Record<Fact, boolean>> = {
    text: has(QUESTION, ANSWER),
    images: has(PNG),
    documents: has(PDF),
    'links to files': has(LINK),
    'names of files': has(FILE_NAME),
    thoughts: has(THOUGHT),
    calls: has(OK.id, OK.name, FAILED.id, FAILED.name),
    results: has(OK.response.status),
  };
  return FACTS.filter((fact) => found[fact] === true);
}

/** What a reader sees of what a writer wrote, as the docs say it. */
export function cellOf(had: readonly Fact[], seen: readonly Fact[]): string {
  const lost = had.filter((fact) => !seen.includes(fact));
  if (seen.length === 0) return 'nothing';
  if (lost.length === 0) return 'all';
  return `– ${lost.join(', ')}`;
}
