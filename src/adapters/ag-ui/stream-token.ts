import { checkedPosition, isPlainObject } from '../../adapter.js';
import { InvalidInputError } from '../../index.js';
import { textIn, toCountOrZero, toJsonRecord } from '../shared/given-json.js';

const PATH = 'Last-Event-ID';

/** A message that a reader has begun to get: how many characters of it, and whether the last ones were thoughts. */
export interface OpenMessage {
  readonly sent: number;
  /** Whether the text has begun. */
  readonly hasText: boolean;
  /** The number of the thought that is open; 0 for none. */
  readonly thought: number;
  /** How many thoughts there were. */
  readonly thoughts: number;
}

/** What a reader of a stream has got: its place in the log, the run that goes on, and the messages that are not complete. */
export interface StreamState {
  readonly position: string;
  readonly run: string | undefined;
  readonly open: Readonly<Record<string, OpenMessage>>;
}

/** The id of an event in the stream. A reader that sends it back continues there. */
export function formatStreamToken({ position, run, open }: StreamState): string {
  const isPlain = run === undefined && Object.keys(open).length === 0;
  return isPlain ? position : `${position};${Buffer.from(JSON.stringify({ run, open })).toString('base64url')}`;
}

/** Reads a token. What it says decides only what its own reader gets. */
export function parseStreamToken(token: string): StreamState {
  const [position = '', rest] = token.split(';', 2);
  checkedPosition(position, PATH);
  if (rest === undefined) return { position, run: undefined, open: {} };
  try {
    const read: unknown = JSON.parse(Buffer.from(rest, 'base64url').toString());
    if (!isPlainObject(read)) throw new Error('It is no object');
    const { run } = read;
    const messages = Object.entries(toJsonRecord(read.open));
    return {
      position,
      run: textIn(run),
      open: Object.fromEntries(messages.map(([id, message]) => [id, openMessageOf(message)])),
    };
  } catch {
    throw new InvalidInputError('is none that a stream sent', PATH);
  }
}

function openMessageOf(message: unknown): OpenMessage {
  const { sent, hasText, thought, thoughts } = toJsonRecord(message);
  return {
    sent: toCountOrZero(sent),
    hasText: hasText === true,
    thought: toCountOrZero(thought),
    thoughts: toCountOrZero(thoughts),
  };
}
