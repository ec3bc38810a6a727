import { hash } from 'node:crypto';
import type { Content } from './content.js';
import { InvalidInputError, LimitExceededError } from '../errors/errors.js';
import { isGiven, isPlainObject, jsonCopyOf } from '../values/json-value.js';
import type { SeqRange } from '../values/seq-ranges.js';

/** The first and the last of some events of the log that follow each other. */
export type SeqPair = readonly [from: number, to: number];

/** What a model was given for its answer. It is a field of the event that is the answer. */
export interface ModelRequest {
  /** The events that the model was given, in the order in which it got them: a summary before what it does not cover. */
  given: readonly SeqPair[];
  /** `false` if `given` says only about which events they were. Missing: these, and no others. */
  isExact?: boolean;
  /** The instructions, such as a system prompt. Only as input: they are kept beside the log, which has their hash. */
  instructions?: string | Content;
  /** The tools that the model was offered, in the format of its vendor. Only as input, like the instructions. */
  tools?: readonly unknown[];
  /** Of the instructions. Equal texts have equal hashes. */
  promptHash?: string;
  /** Of the list of tools. */
  toolsHash?: string;
  /** How long the model took. */
  durationMs?: number;
}

/** A text that the log names by its hash. */
export interface HashedText {
  readonly hash: string;
  /** JSON. */
  readonly text: string;
}

/** A checked fact, and the texts that belong to it. */
export interface SubmittedRequest {
  readonly request: ModelRequest;
  readonly texts: readonly HashedText[];
}

/** With more, the fact would be longer than most answers. */
export const MOST_RANGES = 1_000;
/** The length of a SHA-256 in base64url. */
const HASH = /^[\w-]{43}$/;
const FIELDS = new Set(['given', 'isExact', 'promptHash', 'toolsHash', 'durationMs', 'instructions', 'tools']);

interface Limits {
  readonly maxDepth: number;
  readonly maxEventBytes: number;
}

/** Checks a fact, and replaces its texts by their hashes. `undefined`: the event has none. */
export function submittedRequest(value: unknown, path: string, limits: Limits): SubmittedRequest | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isPlainObject(value)) throw new InvalidInputError('must be an object, such as { given: [[1, 4]] }', path);
  for (const name of Object.keys(value)) {
    if (!FIELDS.has(name))
      throw new InvalidInputError(`is no field; there are ${[...FIELDS].join(', ')}`, `${path}.${name}`);
  }
  const { durationMs, isExact } = value;
  const request: ModelRequest = { given: checkedGiven(value.given, `${path}.given`) };
  if (isGiven(isExact) && typeof isExact !== 'boolean')
    throw new InvalidInputError('must be true or false', `${path}.isExact`);
  if (isExact === false) request.isExact = false;
  const instructions = hashed(value.instructions, isPrompt, 'a text or a content', `${path}.instructions`, limits);
  const promptHash = checkedHash(value.promptHash, instructions, `${path}.promptHash`);
  if (promptHash !== undefined) request.promptHash = promptHash;
  const tools = hashed(value.tools, Array.isArray, 'an array', `${path}.tools`, limits);
  const toolsHash = checkedHash(value.toolsHash, tools, `${path}.toolsHash`);
  if (toolsHash !== undefined) request.toolsHash = toolsHash;
  if (isGiven(durationMs)) request.durationMs = checkedDuration(durationMs, `${path}.durationMs`);
  return { request, texts: [instructions, tools].filter((each) => each !== undefined) };
}

/**
 * The hash of a text of a request. It is one of the JSON text as it is, not of the values alone: a model that gets the keys in another
 * order gets another text, and its vendor's cache does not know it.
 *
 * @example const hash = requestHash('Be brief.');
 */
export function requestHash(value: unknown): string {
  return textHash(JSON.stringify(value));
}

/** The hash of a JSON text. */
export function textHash(text: string): string {
  return hash('sha256', text, 'base64url');
}

/** The last event that the model was given; 0 if it got none. */
export function lastGiven({ given }: Pick<ModelRequest, 'given'>): number {
  return given.reduce((last, [, to]) => Math.max(last, to), 0);
}

/** Of the texts that the fact names. */
export function hashesIn(request: ModelRequest | undefined | null): readonly string[] {
  return [request?.promptHash, request?.toolsHash].filter((each) => each !== undefined);
}

/**
 * Which events these are, in this order, for `given`. Of more ranges than a fact may have, only the first and the last event are
 * known.
 *
 * @example const modelRequest = { ...givenRanges(session.events), instructions, tools };
 */
export function givenRanges(events: readonly { readonly seq: number }[]): Pick<ModelRequest, 'given' | 'isExact'> {
  return bounded(toSeqPairs(events));
}

/** Events as pairs of the first and the last one of each range, in their order. */
export function toSeqPairs(events: readonly { readonly seq: number }[]): readonly SeqPair[] {
  return joined(events.map(({ seq }): SeqPair => [seq, seq]));
}

function bounded(given: readonly SeqPair[]): Pick<ModelRequest, 'given' | 'isExact'> {
  if (given.length <= MOST_RANGES) return { given };
  const from = given.reduce((least, [first]) => Math.min(least, first), Infinity);
  return { given: [[from, lastGiven({ given })]], isExact: false };
}

/**
 * The fact in a log where the events have other numbers.
 *
 * @param stretches of the other log, ascending, and how much is added to the numbers in them
 */
export function renumberedRequest(
  { given, isExact, ...rest }: ModelRequest,
  stretches: readonly (SeqRange & { readonly shift: number })[],
): ModelRequest {
  const moved = given.flatMap(([first, last]) =>
    stretches.flatMap(({ from, to, shift }): SeqPair[] => {
      const [begin, end] = [Math.max(first, from), Math.min(last, to)];
      return begin <= end ? [[begin + shift, end + shift]] : [];
    }),
  );
  const isWhole = isExact !== false && countGiven(moved) === countGiven(given);
  return { ...bounded(joined(moved)), ...(!isWhole && { isExact: false }), ...rest };
}

function countGiven(given: readonly SeqPair[]): number {
  return given.reduce((sum, [from, to]) => sum + to - from + 1, 0);
}

function checkedGiven(given: unknown, path: string): SeqPair[] {
  if (!Array.isArray(given)) throw new InvalidInputError('must be an array of pairs, such as [[1, 4]]', path);
  if (given.length > MOST_RANGES) {
    throw new LimitExceededError(`has ${given.length} ranges; at most ${MOST_RANGES} are allowed`, path);
  }
  const pairs = Array.from(given as readonly unknown[], (pair, index) => checkedPair(pair, `${path}[${index}]`));
  const ascending = pairs.toSorted(([a], [b]) => a - b);
  for (const [index, [from]] of ascending.entries()) {
    if (from <= (ascending[index - 1]?.[1] ?? 0)) throw new InvalidInputError('must not have an event twice', path);
  }
  return joined(pairs);
}

function checkedPair(pair: unknown, path: string): SeqPair {
  const [from, to] = Array.isArray(pair) && pair.length === 2 ? (pair as unknown[]) : [];
  if (isSeq(from) && isSeq(to) && from <= to) return [from, to];
  throw new InvalidInputError('must be two numbers of events, the first and the last', path);
}

function isSeq(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}

/** Ranges that go on where the one before ends are one. */
function joined(pairs: readonly SeqPair[]): SeqPair[] {
  const all: [from: number, to: number][] = [];
  for (const [from, to] of pairs) {
    const last = all.at(-1);
    if (last?.[1] === from - 1) last[1] = to;
    else all.push([from, to]);
  }
  return all;
}

function hashed(
  value: unknown,
  fits: (value: unknown) => boolean,
  expected: string,
  path: string,
  { maxDepth, maxEventBytes: maxBytes }: Limits,
): HashedText | undefined {
  if (!isGiven(value)) return undefined;
  if (!fits(value)) throw new InvalidInputError(`must be ${expected}`, path);
  const text = JSON.stringify(jsonCopyOf(value, path, { maxDepth, maxBytes }));
  return { hash: textHash(text), text };
}

function isPrompt(value: unknown): boolean {
  return typeof value === 'string' || isPlainObject(value);
}

function checkedHash(value: unknown, text: HashedText | undefined, path: string): string | undefined {
  if (!isGiven(value)) return text?.hash;
  if (typeof value !== 'string' || !HASH.test(value))
    throw new InvalidInputError('must be a SHA-256 in base64url', path);
  if (text && text.hash !== value) throw new InvalidInputError('is not the hash of the text that is given', path);
  return value;
}

function checkedDuration(value: unknown, path: string): number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value + 0;
  throw new InvalidInputError('must be a number of milliseconds', path);
}
